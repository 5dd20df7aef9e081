"""The process that reads for the server: it may end; the server says so and goes on (ADR 0037)."""

import os
import signal
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.support.agent import Agent, agent
from tests.support.cli import syn
from tests.support.workspaces import Place, make_workspace

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks into /proc")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_workspace(tmp_path)


def _worker(asked: Agent) -> int:
    """The process id of the server's only child."""
    tasks = Path(f"/proc/{asked.pid}/task").iterdir()
    found = [word for task in tasks for word in (task / "children").read_text().split()]
    assert len(found) == 1
    return int(found[0])


def _wait_for_end(process: int) -> None:
    end = monotonic() + 60
    while Path(f"/proc/{process}").exists():
        assert monotonic() < end, "the worker stays"
        sleep(0.02)


def test_a_killed_worker_is_told_and_replaced(place: Place, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with agent(place, log=log) as asked:
        assert asked.read("search", words="checkout")["total"] == 1
        killed = _worker(asked)
        os.kill(killed, signal.SIGSTOP)
        under_way = asked.start("tools/call", {"name": "show", "arguments": {"id": "owner-2"}})
        sleep(0.2)
        os.kill(killed, signal.SIGKILL)
        result = asked.receive(under_way)["result"]
        assert result["isError"]
        assert result["structuredContent"]["error"] == {
            "code": "internal",
            "message": f"the process that reads the memory ended with status {-signal.SIGKILL}",
            "remedy": "ask again: another one is started",
        }
        assert asked.read("show", id="owner-2")["value"] == "checkout"
        assert asked.read("propose", title="Region")["class"] == "clear"
        assert _worker(asked) != killed
        assert asked.leave() == 0
    assert log.read_text() == ""


def test_the_worker_leaves_with_a_killed_server(place: Place) -> None:
    with agent(place, "--record", "cut") as asked:
        asked.read("show", id="owner-2")
        left = _worker(asked)
        os.kill(asked.pid, signal.SIGKILL)
        _wait_for_end(left)
    checked = syn(place, "image", "verify", "images/cut", "--facts")
    assert checked.status == 0, checked.err


def test_an_interrupted_server_lets_its_worker_finish(place: Place) -> None:
    with agent(place, "--record", "interrupted") as asked:
        asked.read("show", id="owner-2")
        left = _worker(asked)
        for process in (left, asked.pid):
            os.kill(process, signal.SIGINT)
        asked.leave()
        _wait_for_end(left)
    assert (place.root / "images" / "interrupted").is_dir()


def test_what_prints_before_the_worker_has_its_pipes_goes_to_the_log(
    place: Place, tmp_path: Path
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(
        "import sys\nif 'syn.mcp.worker' in sys.orig_argv:\n    print('a banner', flush=True)\n"
    )
    log = tmp_path / "log"
    with agent(place, env={"PYTHONPATH": str(tmp_path / "site")}, log=log) as asked:
        assert asked.read("show", id="owner-2")["value"] == "checkout"
    assert log.read_text() == "a banner\n"


def test_a_worker_that_cannot_start_is_an_error_of_every_call(place: Place, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(
        "import os, sys\nif 'syn.mcp.worker' in sys.orig_argv:\n    os._exit(7)\n"
    )
    said = "the process that reads the memory ended with status 7"
    with agent(place, env={"PYTHONPATH": str(tmp_path / "site")}, log=tmp_path / "log") as asked:
        for method, params in (
            ("tools/list", {}),
            ("resources/read", {"uri": "synapse://capabilities"}),
            ("resources/read", {"uri": "synapse://fact/limit"}),
        ):
            error = asked.ask(method, params)["error"]
            assert error["code"] in (-32603, -32602)
            assert error["message"].startswith(said)
        result = asked.call("search", words="checkout")
        assert result["isError"]
        assert result["structuredContent"]["error"]["message"] == said
        assert asked.ask("ping")["result"] == {}
        assert asked.leave() == 0
    assert (tmp_path / "log").read_text() == ""
