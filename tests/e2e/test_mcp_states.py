"""The server starts and says so: whatever is wrong with the workspace, stdout is JSON-RPC (M01)."""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.agent import agent
from tests.support.cli import syn
from tests.support.workspaces import Place, adopt_all, make_place, make_workspace


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_workspace(tmp_path)


def _git(place: Place, *words: str) -> None:
    env = {**place.env, "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org"}
    subprocess.run(["git", *words], cwd=place.root, env=env, check=True, capture_output=True)


def _index(place: Place) -> Path:
    return place.root / ".synapse" / "index.db"


def _foreign(place: Place) -> None:
    _index(place).unlink(missing_ok=True)
    with sqlite3.connect(_index(place)) as connection:
        connection.execute("CREATE TABLE mine (a)")
    connection.close()


def _damaged(place: Place) -> None:
    syn(place, "reindex")
    data = bytearray(_index(place).read_bytes())
    data[4096:8192] = b"\xff" * 4096
    _index(place).write_bytes(data)


def _stale(place: Place) -> None:
    syn(place, "reindex")
    (place.root / "facts" / "new.md").write_text("---\nid: new\ntitle: New\n---\nBrandnew.\n")
    adopt_all(place)


def _bad_fact(place: Place) -> None:
    (place.root / "facts" / "limit.md").write_text("---\nid: limit\nid: twice\n---\n")


def _broken_toml(place: Place) -> None:
    (place.root / "synapse.toml").write_text("format = 1\nnonsense = 2\n")


BREAK: dict[str, Callable[[Place], None]] = {
    "index missing": lambda place: _index(place).unlink(missing_ok=True),
    "index foreign": _foreign,
    "index damaged": _damaged,
    "index no database": lambda place: _write(_index(place), b"hello"),
    "index stale": _stale,
    "one bad fact": _bad_fact,
    "a stale git lock": lambda place: _write(place.root / ".git" / "index.lock", b""),
}


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


@pytest.mark.parametrize("broken", BREAK)
def test_reads_go_on(place: Place, broken: str) -> None:
    BREAK[broken](place)
    with agent(place) as asked:
        assert asked.read("show", id="owner-2")["value"] == "checkout"
        assert asked.read("search", words="checkout")["items"][0]["id"] == "owner-2"
        codes = {item["code"] for item in asked.read("health")["items"]}
        assert ("facts-unreadable" in codes) == (broken == "one bad fact")
        if broken == "one bad fact":
            result = asked.call("show", id="limit")["structuredContent"]
            assert result.get("withheld") == "erasure" or "error" in result
        assert asked.leave() == 0


def test_a_shallow_clone_says_so(place: Place, tmp_path: Path) -> None:
    for number in range(3):
        _git(place, "commit", "-q", "--allow-empty", "-m", f"more {number}")
    clone = Place(tmp_path / "clone", place.env)
    _git(place, "clone", "-q", "--depth", "1", f"file://{place.root}", str(clone.root))
    with agent(clone) as asked:
        assert asked.read("show", id="owner-2")["value"] == "checkout"
        found = asked.read("health")["items"]
        assert [item["remedy"] for item in found if item["code"] == "repository-shallow"] == [
            "git fetch --unshallow"
        ]


def _no_folder(place: Place) -> None:
    shutil.rmtree(place.root)


def _no_repository(place: Place) -> None:
    shutil.rmtree(place.root / ".git")


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (_no_folder, "not-a-repository"),
        (_no_repository, "not-a-repository"),
        (lambda place: (place.root / "synapse.toml").unlink(), "no-workspace"),
        (_broken_toml, "config"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_a_remedy(
    place: Place, broken: Callable[[Place], None], code: str
) -> None:
    broken(place)
    with agent(place) as asked:
        assert asked.ask("tools/list")["result"]["tools"]
        for tool, arguments in (("search", {"words": "x"}), ("verify", {}), ("propose", {})):
            result = asked.call(tool, **arguments)
            assert result["isError"]
            error = result["structuredContent"]["error"]
            assert error["code"] == code, error
        assert asked.leave() == 0


def test_behind_a_corrupt_head_only_verify_answers_and_says_so(place: Place) -> None:
    _write(place.root / ".git" / "HEAD", b"\0\0")
    with agent(place) as asked:
        for tool, arguments in (("search", {"words": "x"}), ("propose", {})):
            result = asked.call(tool, **arguments)
            assert result["isError"]
            assert result["structuredContent"]["error"]["code"] == "corrupt-head"
        report = asked.call("verify")["structuredContent"]
        assert report["predicate"]["verdict"] in ("incomplete", "fail")
        assert asked.leave() == 0


def test_a_workspace_that_appears_later_is_found(tmp_path: Path) -> None:
    place = make_place(tmp_path)
    with agent(place) as asked:
        assert asked.call("counts")["isError"]
        syn(place, "init", "--name", "late")
        syn(place, "add", "--title", "First", "--body", "Here.")
        assert asked.read("search", words="first")["total"] == 1


@pytest.mark.parametrize("locale", ["C", "POSIX", "tr_TR.ISO-8859-9"])
def test_utf8_whatever_the_locale(tmp_path: Path, locale: str) -> None:
    text = "---\nid: größe\ntitle: Größe und 重さ 🌍 İı\n---\nÀ peine.\n"
    place = make_workspace(tmp_path, {"facts/größe.md": text})
    env = {"LC_ALL": locale, "LANG": locale, "PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"}
    with agent(place, env=env) as asked:
        found = asked.read("show", id="größe")
        assert (found["title"], found["body"]) == ("Größe und 重さ 🌍 İı", "À peine.\n")
        assert asked.read("search", words="größe")["total"] == 1
        assert b"Gr\xc3\xb6" in asked.lines[-1]


def test_library_talk_goes_to_the_log(place: Place, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(
        "import atexit, os, warnings\n"
        "warnings.warn('a library warns')\n"
        "atexit.register(lambda: print('a banner at the end'))\n"
        "import builtins\n"
        "real = builtins.__import__\n"
        "def noisy(name, *rest, **more):\n"
        "    if name == 'sqlite3':\n"
        "        print('a banner on import'); os.write(1, b'and a raw one\\n')\n"
        "    return real(name, *rest, **more)\n"
        "builtins.__import__ = noisy\n"
    )
    log = tmp_path / "log"
    with agent(place, env={"PYTHONPATH": str(tmp_path / "site")}, log=log) as asked:
        asked.read("search", words="checkout")
        assert asked.leave() == 0
    said = log.read_text()
    assert "a library warns" in said
    assert "a banner on import" in said
    assert "and a raw one" in said


def test_a_dropped_client_leaves_nothing_half_done(place: Place) -> None:
    pending = place.root / ".git" / "synapse" / "pending"
    with agent(place) as asked:
        asked.start("tools/call", {"name": "propose", "arguments": {"title": "Dropped"}})
        asked.start("tools/call", {"name": "reindex", "arguments": {"full": True}})
        asked.leave()
    assert syn(place, "verify", "-q").status == 0
    assert syn(place, "pending", "list", "--json").json["total"] <= 1
    assert all(name.suffix == ".json" for name in pending.iterdir())


def test_a_cancelled_call_is_not_answered_and_the_next_one_is(place: Place) -> None:
    with agent(place) as asked:
        first = asked.start("tools/call", {"name": "verify", "arguments": {"deep": True}})
        second = asked.start("tools/call", {"name": "verify", "arguments": {"deep": True}})
        for identity in (second, first):
            params = {"requestId": identity, "reason": "changed my mind"}
            asked.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        assert asked.read("show", id="owner-2")["id"] == "owner-2"
        assert asked.read("verify")["predicate"]["verdict"] == "pass"
        answered = [line for line in asked.lines if f'"id":{second},'.encode() in line]
        assert not answered
        assert asked.leave() == 0


def test_answers_under_way_reach_a_client_that_stops_writing(place: Place) -> None:
    with agent(place) as asked:
        ids = [
            asked.start("tools/call", {"name": "show", "arguments": {"id": "owner-2"}})
            for _ in range(5)
        ]
        asked.leave()
        assert all("result" in asked.receive(identity) for identity in ids)


def test_a_client_that_stops_reading_ends_the_server(place: Place) -> None:
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [*_python(), str(place.root)],
        env=place.env,
        stdin=subprocess.PIPE,
        stdout=writing,
        stderr=subprocess.PIPE,
    )
    os.close(writing)
    os.close(reading)
    _, said = process.communicate(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n' * 3, timeout=90)
    assert process.returncode == 0
    assert said == b""


def test_sessions_are_recorded(place: Place) -> None:
    with agent(place, "--record", "first") as asked:
        asked.read("search", words="payments")
        asked.read("show", id="limit")
        asked.call("show", id="nowhere")
        asked.leave()
    checked = syn(place, "image", "verify", "images/first", "--facts", "--json")
    assert checked.status == 0, checked.out
    shown = syn(place, "image", "show", "images/first", "--json").json
    assert [page["role"] for page in shown["items"]] == ["search", "search", "show"]
    again = subprocess.run(
        [*_python(), str(place.root), "--record", "first"],
        env=place.env,
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert again.returncode == 3
    assert again.stdout == b""
    assert b"images/first" in again.stderr


def _python() -> list[str]:
    import sys

    return [sys.executable, "-m", "syn.mcp"]


def test_a_person_is_told_when_the_library_is_missing(place: Place, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "sitecustomize.py").write_text(
        "import importlib.util as u\nreal = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'mcp' else real(name, *rest)\n"
    )
    ran = syn(place, "mcp", env={"PYTHONPATH": str(tmp_path / "none")})
    assert ran.status == 3
    assert ran.out == ""
    assert "pip install 'synapse-memory[mcp]'" in ran.err


@pytest.mark.skipif(os.name == "nt", reason="a plain exec")
def test_syn_mcp_is_the_server(place: Place) -> None:
    hello = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    done = subprocess.run(
        [_python()[0], "-m", "syn", "mcp"],
        cwd=place.root,
        env=place.env,
        input=hello,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b'"id":1' in done.stdout
