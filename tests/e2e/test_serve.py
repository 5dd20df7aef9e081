"""The local page over HTTP and in a browser: only for us, only reading, text as text (ADR 0027)."""

import contextlib
import http.client
import json
import random  # noqa: TID251 - seeded
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import pytest

from syn.services.doors import localserver
from syn.services.doors.localserver import LocalServer
from syn.services.doors.session import Session
from syn.services.doors.site import Site
from syn.services.workspace import find_workspace, surroundings
from tests.support.cli import syn
from tests.support.inside import done, inside
from tests.support.workspaces import FACTS, Place, git, make_workspace

EVIL = (
    '---\nid: "evil\\"><script>alert(1)</script>"\n'
    'title: "<script>document.title=1</script><img src=x onerror=alert(1)>"\n'
    'type: "\\" onmouseover=\\"alert(1)"\ntags: ["<b>", "\' x"]\nurl: "javascript:alert(1)"\n'
    'nested: {a: [1, two, {b: null}], "k<": "v"}\nsource: {kind: web, url: "javascript:alert(1)"}\n'
    "---\n<script>document.body.remove()</script>\n[x](javascript:alert(1)) \u202e\x1b[2J\n"
    "</pre><base href=//evil.example>\n"
)


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    text: str


@dataclass(frozen=True, slots=True)
class Served:
    place: Place
    server: LocalServer

    def ask(
        self,
        path: str,
        method: str = "GET",
        headers: dict[str, str] | None = None,
        raw: bool = False,
    ) -> Answer:
        """One request; `path` is below the token unless it is `raw`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120)
        try:
            target = path if raw else f"/{self.server.token}/{path}"
            connection.request(method, target, headers=headers or {})
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read().decode())
        finally:
            connection.close()


def _serve(place: Place) -> Iterator[Served]:
    session = Session(
        lambda around: find_workspace(place.root, around),
        lambda: surroundings(place.env),
        "person",
        lambda _: None,
    )
    with LocalServer(Site(session, "test").get, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield Served(place, server)
        finally:
            server.shutdown()
            thread.join()
            session.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place = make_workspace(tmp_path_factory.mktemp("serve"), {**FACTS, "facts/evil.md": EVIL})
    done(place, "quarantine", "facts/plain", "-m", "doubtful")
    yield from _serve(place)


PAGES = ("", "list", "search?q=payments", "fact?id=owner-2", "timeline", "log", "report")


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_locked_down(served: Served, path: str) -> None:
    answer = served.ask(path)
    assert answer.status == 200
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]
    assert answer.headers["Server"].strip() == "syn"
    assert "<script" not in answer.text
    assert served.server.token not in answer.text


def test_what_the_pages_show(served: Served) -> None:
    assert "<b>5</b> facts" in served.ask("").text
    assert "Checkout owns payments" in served.ask("search?q=checkout").text
    fact = served.ask("fact?id=owner-2").text
    for text in ("payments</bdi> / <bdi>owner", ">recorded<", "owner-1", "History", "sha256:"):
        assert text in fact
    line = served.ask("timeline").text
    assert line.index("ledger") < line.index("&rarr;") < line.index("checkout")
    assert "quarantined" in served.ask("fact?id=facts/plain").text
    assert "INV-2" in served.ask("report").text
    assert "tag money" in served.ask("list?tag=money").text


def test_head_sends_no_body_and_other_methods_are_refused(served: Served) -> None:
    head = served.ask("list", "HEAD")
    assert (head.status, head.text) == (200, "")
    assert int(head.headers["Content-Length"]) > 1000
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"):
        answer = served.ask("list", method)
        assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", "", "[::]:80"]
)
def test_another_name_is_refused_whatever_the_token(served: Served, host: str) -> None:
    answer = served.ask("", headers={"Host": host})
    assert answer.status == 421
    assert answer.text == "Misdirected Request\n"


def test_our_own_names_are_taken(served: Served) -> None:
    for name in ("localhost", "127.0.0.1", "[::1]", "LOCALHOST"):
        assert served.ask("log", headers={"Host": f"{name}:{served.server.port}"}).status == 200


def test_two_host_headers_are_refused(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.server.port)) as client:
        own = f"Host: 127.0.0.1:{served.server.port}\r\n"
        request = f"GET /{served.server.token}/ HTTP/1.1\r\n{own}Host: evil.example\r\n\r\n"
        client.sendall(request.encode())
        assert b" 421 " in client.recv(100)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/list",
        "/x/list",
        "//list",
        "/{token}",
        "/{token}x/list",
        "/{upper}/",
    ],
)
def test_without_the_token_there_is_nothing(served: Served, path: str) -> None:
    token = served.server.token
    answer = served.ask(path.format(token=token, upper=token.swapcase()), raw=True)
    assert (answer.status, answer.text) == (404, "Not Found\n")


def test_an_absolute_target_is_no_way_around(served: Served) -> None:
    own = {"Host": f"127.0.0.1:{served.server.port}"}
    answer = served.ask(f"http://x/{served.server.token}/", headers=own, raw=True)
    assert answer.status == 404


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("nothing", 404, "not-found"),
        ("../etc/passwd", 404, "not-found"),
        ("fact?id=owner-9", 404, "unknown-fact"),
        ("fact?id=../../etc/passwd", 404, "unknown-fact"),
        ("fact?id=limit&start=x", 400, "bad-start"),
        ("list?cursor=bad", 400, "bad-cursor"),
        ("list?as_of=yesterday", 400, "invalid-date"),
        ("timeline?cursor=bad", 400, "bad-cursor"),
        ("fact?" + "&".join(f"a{n}=1" for n in range(50)), 400, "Bad Request"),
        ("fact?id=%ff", 400, "Bad Request"),
        ("fact?id=" + "a" * 10_000, 400, "Bad Request"),
    ],
)
def test_what_cannot_be_shown_says_so(served: Served, path: str, status: int, code: str) -> None:
    answer = served.ask(path)
    assert (answer.status, code in answer.text) == (status, True)
    assert "Traceback" not in answer.text


class _Tags(HTMLParser):
    """Collects every tag and attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.names: set[str] = set()

    def handle_starttag(  # type: ignore[explicit-override]
        self, tag: str, attrs: list[tuple[str, str | None]]
    ) -> None:
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "action")]


@pytest.mark.parametrize(
    "path",
    ["", "list", "log", "search?q=alert", "fact?id=facts/evil.md", "search?q=%22%3E%3Cscript%3E"],
)
def test_text_of_facts_never_becomes_markup(served: Served, path: str) -> None:
    answer = served.ask(path)
    found = _Tags()
    found.feed(answer.text)
    assert not found.tags & {"script", "img", "base", "iframe", "object", "link"}
    assert not {name for name in found.names if name.startswith("on")}
    assert all(
        re.match(r"(\./|list|timeline|log|report|search|fact)(\?|\Z)", link) or link == "./"
        for link in found.links
    ), found.links
    assert "\x1b" not in answer.text
    assert "\u202e" not in answer.text


def test_a_fact_that_does_not_check_is_withheld(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    (place.root / "facts/limit.md").write_bytes(b"\xff\xfe")
    for served in _serve(place):
        answer = served.ask("fact?id=limit")
        assert (answer.status, "withheld" in answer.text) == (409, True)
        assert served.ask("").status == 200
        git(place, "checkout", "-q", "facts/limit.md")
        assert served.ask("fact?id=limit").status == 200
        done(place, "edit", "limit", "--title", "Newer title")
        assert "Newer title" in served.ask("fact?id=limit").text
        report = served.ask("report").text
        assert "of what is here now" in report
        done(place, "edit", "limit", "--title", "Newest title")
        assert "changed since" in served.ask("report").text
        assert "of what is here now" in served.ask("report?again=1").text


def test_a_report_that_was_kept_is_shown_until_another_is_made(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    done(place, "key", "init", "--no-policy")
    then = {"SYNAPSE_NOW": "2026-11-29T12:00:00Z"}
    assert syn(place, "verify", "--incremental", "-q", env=then).status == 0
    path = place.root / ".git/synapse/baseline/report.json"
    made = json.loads(path.read_bytes())["predicate"]["ts"]
    for served in _serve(place):
        first = served.ask("report").text
        assert f"Made {made}, of what is here now" in first
        done(place, "edit", "limit", "--title", "Newer title")
        assert f"Made {made}; what is here changed since" in served.ask("report").text
        again = served.ask("report?again=1").text
        assert made not in again
        assert "of what is here now" in again
    # One that does not hold is no report: what is here is verified.
    path.write_bytes(path.read_bytes().replace(b'"pass"', b'"fail"', 1))
    for served in _serve(place):
        assert made not in served.ask("report").text


def test_many_at_once_all_get_their_page(served: Served) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(served.ask, PAGES * 4))
    assert {answer.status for answer in answers} == {200}


def test_a_client_that_says_nothing_is_let_go(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(localserver._Handler, "timeout", 0.2)
    with socket.create_connection(("127.0.0.1", served.server.port), timeout=60) as client:
        client.sendall(b"GET /")
        assert client.recv(100) == b""
    with socket.create_connection(("127.0.0.1", served.server.port), timeout=60) as client:
        client.sendall(b"\x16\x03\x01 rubbish\r\n\r\n")
        assert b"rubbish" not in client.recv(1000)
    assert served.ask("log").status == 200


def test_rubbish_does_not_end_it(served: Served) -> None:
    chance = random.Random(7)
    start = f"GET /{served.server.token}/".encode()
    for number in range(120):
        noise = chance.randbytes(chance.randrange(1, 400))
        data = noise if number % 2 else start + noise.replace(b"\n", b"") + b" HTTP/1.1\r\n\r\n"
        with socket.create_connection(("127.0.0.1", served.server.port), timeout=60) as client:
            client.sendall(data + b"\r\n\r\n")
            client.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionError):
                answer = client.recv(4096)
                assert b"Traceback" not in answer
                assert b" 200 " not in answer.partition(b"\r\n")[0]
    assert served.ask("log").status == 200


def test_only_this_machine(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        ran = inside(place, "serve", "--host", host, "--json")
        assert (ran.status, ran.json["error"]["code"]) == (2, "not-loopback")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ran = inside(place, "serve", "--port", str(taken.getsockname()[1]), "--json")
    assert (ran.status, ran.json["error"]["code"]) == (3, "cannot-listen")
    (place.root / "synapse.toml").write_text("x = [")
    assert syn(place, "serve").status == 3


def test_the_command_prints_its_address_and_ends_on_ctrl_c(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    command = [sys.executable, "-m", "syn", "serve"]
    with subprocess.Popen(
        command, cwd=place.root, env=place.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().decode().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([A-Za-z0-9_-]{43})/", url)
        assert found
        connection = http.client.HTTPConnection("127.0.0.1", int(found[1]))
        connection.request("GET", f"/{found[2]}/fact?id=limit")
        assert connection.getresponse().status == 200
        connection.close()
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = process.stderr.read().decode()
        assert process.wait(90) == 130
    assert "Traceback" not in said


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium or chrome on PATH")


def _dom(served: Served, path: str, folder: Path) -> tuple[str, str]:
    """The page as a browser has it, and what it complained of."""
    done = subprocess.run(
        [
            *(str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
            *("--enable-logging=stderr", f"--user-data-dir={folder}", "--timeout=60000"),
            f"http://127.0.0.1:{served.server.port}/{served.server.token}/{path}",
        ],
        capture_output=True,
        check=True,
        timeout=240,
    )
    return done.stdout.decode(), done.stderr.decode()


@needs_browser
def test_a_browser_shows_hostile_text_as_text(served: Served, tmp_path: Path) -> None:
    dom, said = _dom(served, f"fact?id={quote('facts/evil.md')}", tmp_path)
    assert "CONSOLE" not in said, said
    assert re.search(r"<title>&lt;script&gt;document.title=1", dom)
    assert "&lt;script&gt;document.body.remove()" in dom
    found = _Tags()
    found.feed(dom)
    assert not found.tags & {"script", "img", "base"}
    assert "History" in dom


@needs_browser
def test_a_browser_applies_the_style_and_follows_a_search(served: Served, tmp_path: Path) -> None:
    dom, said = _dom(served, "search?q=payments", tmp_path)
    assert "Content Security Policy" not in said
    assert "Checkout owns payments" in dom
    assert json.dumps("payments") in dom  # noqa: TID251 - the search box keeps the words
