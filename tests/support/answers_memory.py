"""Right answers to the public cases: ledger, time, links, MCP."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import World, answers

NOTE = "---\nid: {id}\ntype: note\ntitle: {id}\n---\nBody of {id}\n"


def with_ledger(world: World, facts: int = 4) -> Path:
    """Record some facts; the one segment of the ledger."""
    for number in range(facts):
        file = world.root / "facts" / f"f{number}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text(NOTE.format(id=f"f-{number}"))
    world.recorded()
    world.box.git("add", "-A")
    world.box.git("commit", "-qm", "record")
    return next((world.root / ".synapse/ledger").glob("*/*.jsonl"))


def committed(world: World) -> str:
    """Commit everything; the commit's id."""
    world.box.git("add", "-A")
    world.box.git("commit", "-qm", "more")
    return world.box.git("rev-parse", "HEAD")


@answers("A01")
def cut_tail(world: World) -> None:
    segment = with_ledger(world)
    world.passes()
    pin = world.box.git("rev-parse", "HEAD")
    whole = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join(whole[:-1]))
    assert world.verdict()[1] == "fail"
    # With the fact it named gone too, and all of it committed, HEAD's own parents still say so.
    (world.root / "facts/f3.md").unlink()
    assert world.verdict()[1] == "fail"
    committed(world)
    assert world.verdict()[1] == "fail"
    assert world.verdict("--since", pin)[1] == "fail"
    segment.unlink()
    assert world.verdict("--since", pin)[1] == "fail"
    predicate = world.run("verify", "--json").json["predicate"]
    assert predicate["witness_status"] == "none"


@answers("A02")
def forked_chain(world: World) -> None:
    segment = with_ledger(world)
    base = segment.read_bytes()
    world.box.git("checkout", "-q", "-b", "side")
    (world.root / "facts/f0.md").write_text(NOTE.format(id="f-0") + "Side\n")
    world.ok("adopt", "--yes")
    committed(world)
    world.box.git("checkout", "-q", "main")
    world.ok("reindex")
    (world.root / "facts/f1.md").write_text(NOTE.format(id="f-1") + "Main\n")
    world.ok("adopt", "--yes")
    committed(world)
    world.box.git("merge", "-q", "--no-edit", "side")
    # Two branches of one clone merge without a conflict: each has a writer of its own.
    assert len(list((world.root / ".synapse/ledger").glob("*/*.jsonl"))) == 2
    world.passes()
    # A fork by one writer, which needs intent, is equivocation, not only a broken link.
    entry = json.loads(base.splitlines()[-1])
    entry["actor"] = "Mallory <m@example.org>"
    line = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)  # noqa: TID251
    with segment.open("ab") as file:
        file.write(line.encode() + b"\n")
    assert any(f.startswith("equivocation") for f in world.verdict()[2]), world.verdict()


@answers("A04")
def torn_tail(world: World) -> None:
    segment = with_ledger(world)
    whole = segment.read_bytes()
    segment.write_bytes(whole + b'{"action":"create","act')
    status, verdict, _ = world.verdict()
    assert (status, verdict) == (3, "incomplete")
    out = world.run("verify").out
    assert str(segment.relative_to(world.root)) in out
    ran = world.run("add", "--title", "After", "--body", "x")
    entries = [p.read_bytes() for p in (world.root / ".synapse/ledger").glob("*/*.jsonl")]
    assert ran.status == 0 or "torn" in ran.err
    assert entries[0].startswith(whole) or any(data.startswith(whole) for data in entries)
    segment.write_bytes(b"")
    assert world.verdict()[1] == "fail"
    world.run("add", "--title", "Genesis", "--body", "x")
    assert world.verdict()[1] == "fail"  # never falls back to a fresh start


@answers("A05")
def rehashed_forward(world: World) -> None:
    with_ledger(world)
    pin = world.box.git("rev-parse", "HEAD")
    # A whole new history, consistent in itself: the same facts but one, recorded from nothing.
    other = world.root.with_name("other")
    other.mkdir()
    box = world.box.at(other)
    box.git("init", "-q", "-b", "main", ".")
    (other / "facts").mkdir()
    for number in range(4):
        text = NOTE.format(id=f"f-{number}") + ("Changed\n" if number == 2 else "")
        (other / "facts" / f"f{number}.md").write_text(text)
    (other / "synapse.toml").write_bytes((world.root / "synapse.toml").read_bytes())
    forged = world.at(other)
    forged.recorded()
    committed(forged)
    assert forged.verdict()[1] == "pass"
    report = forged.run("verify", "--json").json["predicate"]
    assert report["trust_root"] == "local-only"
    assert any("witness" in text for text in report["limits"])
    status, verdict, _ = forged.verdict("--since", pin)
    assert (status, verdict) in ((1, "fail"), (3, "incomplete"))


@answers("A07")
def canonical_order(world: World) -> None:
    world.recorded()
    assert ("facts/u.md", 8, "similar-keys") in world.problems()
    world.passes()
    world.rebuilds_alike()


@answers("A08")
def reformatted(world: World) -> None:
    (world.root / "facts/k2.md").unlink()
    world.box.git("rm", "-q", "--cached", "facts/k2.md")
    world.recorded()
    before = world.show("k-1")
    (world.root / "facts/k1.md").write_bytes(dict(world.case.files)["facts/k2.md"])
    after = world.show("k-1")
    assert before["payload_digest"] == after["payload_digest"]
    assert before["source_digest"] != after["source_digest"]
    assert world.verdict()[1] == "pass"
    assert "reformatted" in world.run("verify").out


@answers("T01")
def shared_boundary(world: World) -> None:
    world.recorded()
    assert world.found("model", "--as-of", "2026-04-15") == ["m-2"]
    assert world.found("model", "--as-of", "2026-04-14") == ["m-1"]
    assert world.found("model", "--as-of", "2026-04-14T23:59:59.999999Z") == ["m-1"]


@answers("T02")
def date_only_end(world: World) -> None:
    # A date is that day's midnight in UTC, and an end is not included: both rules are documented.
    world.recorded()
    assert world.found("note", "--as-of", "2026-01-31T15:00:00Z") == ["e-1"]
    assert world.found("note", "--as-of", "2026-01-30T15:00:00Z") == ["d-1"]
    assert world.found("note", "--as-of", "2026-01-31T00:30:00+02:00") == ["d-1"]


@answers("T04")
def inverted_interval(world: World) -> None:
    world.recorded()
    findings = world.verdict("--deep")[2]
    assert {f.split(" ")[1].split(":")[0] for f in findings} == {"facts/i1.md", "facts/i2.md"}
    assert world.found("note", "--as-of", "2026-03-01") == []


@answers("T05")
def one_sided_supersession(world: World) -> None:
    world.recorded()
    # Either side may declare it (design 3.2), so the one-sided one is a warning; both are named.
    world.fails("predecessor-missing facts/o3.md:5")
    assert "supersession-one-way" in world.run("verify").out
    assert world.run("verify", "--profile", "strict").status == 1


@answers("T07")
def id_twice(world: World) -> None:
    world.init()
    assert {(path, code) for path, _, code in world.problems()} == {
        ("facts/x1.md", "duplicate-id"),
        ("facts/x2.md", "duplicate-id"),
        ("facts/x3.md", "twin-id"),
    }
    assert world.verdict()[1] == "fail"
    items = world.ok("list", "--json").json["items"]
    assert all("withheld" in item and "title" not in item for item in items)
    ran = world.run("show", "x-1")
    assert ran.status == 2
    assert "facts/x1.md, facts/x2.md" in ran.err


@answers("T08")
def ids_are_text(world: World) -> None:
    world.init()
    assert {(path, code) for path, _, code in world.problems()} == {
        ("facts/i2.md", "duplicate-id"),
        ("facts/i3.md", "duplicate-id"),
    }
    file = world.root / "facts/i3.md"
    file.write_text(file.read_text().replace('"7"', '"8"'))
    world.ok("adopt", "--yes")
    assert [i for i, _ in world.listed()] == ["007", "7", "8"]
    assert {e["to"] for e in world.ok("graph", "8", "--json").json["edges"]} == {"7"}


@answers("L01")
def links_in_code(world: World) -> None:
    world.recorded()
    dangling = world.ok("graph", "c-1", "--json").json["dangling"]
    assert [(item["target"], item["line"]) for item in dangling] == [("A", 6)]


@answers("L02")
def ambiguous_link(world: World) -> None:
    # The path from the linking file comes before a suffix: `[[todo]]` in b/ is b/todo.md.
    world.recorded()
    edges = world.ok("graph", "x-1", "--json").json["edges"]
    assert sorted(edge["to"] for edge in edges) == ["t-1", "t-2"]
    (world.root / "facts/x.md").write_text("---\nid: top\n---\n[[todo]]\n")
    world.ok("adopt", "--yes")
    dangling = world.ok("graph", "top", "--json").json["dangling"]
    assert [item["outcome"] for item in dangling] == ["ambiguous"]
    assert world.ok("doctor", "--json").json["links"]["ambiguous"] == 1
    world.passes()


@answers("L04")
def links_in_front_matter(world: World) -> None:
    world.recorded()
    dangling = world.ok("graph", "y-1", "--json").json["dangling"]
    assert {item["target"] for item in dangling} == {"Other", "Parent", "A", "B"}
    hints = {p for p in world.problems() if p[2] == "unquoted-link"}
    assert hints == {("facts/y.md", 5, "unquoted-link"), ("facts/y.md", 9, "unquoted-link")}


@answers("L05")
def renamed_target(world: World) -> None:
    # Title and alias fold case; paths do not, on any file system.
    world.recorded()
    graph = world.ok("graph", "l-2", "--json").json
    assert {(e["kind"], e["to"]) for e in graph["edges"]} == {("wiki", "r-1"), ("markdown", "r-1")}
    assert [item["target"] for item in graph["dangling"]] == ["new NAME"]


def serve(root: Path, env: dict[str, str], *requests: dict[str, Any]) -> list[dict[str, Any]]:
    """Talk to the server; every line it prints on stdout has to be JSON-RPC."""
    pytest.importorskip("mcp")
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    messages = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *({"jsonrpc": "2.0", "id": n, **r} for n, r in enumerate(requests, 1)),
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "syn", "mcp"],
        cwd=root,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    answers: list[dict[str, Any]] = []
    wanted = 1 + len(requests)
    with process:
        for message in messages:
            line = json.dumps(message)  # noqa: TID251 - a message, not bytes that are compared
            process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()
        while len(answers) < wanted:
            line_out = process.stdout.readline()
            if not line_out:
                break
            value = json.loads(line_out)
            assert value["jsonrpc"] == "2.0"
            if "id" in value:
                answers.append(value)
        process.stdin.close()
        assert process.stdout.read() == b""
    return answers


def call(name: str, **arguments: object) -> dict[str, Any]:
    return {"method": "tools/call", "params": {"name": name, "arguments": arguments}}


@answers("M01")
def nothing_else_on_stdout(world: World) -> None:
    world.recorded()
    answered = serve(world.root, world.place.env, call("search", words=["note"]))
    assert "a-1" in json.dumps(answered[1])  # noqa: TID251
    # Also where there is no workspace, or no repository at all.
    empty = world.root.with_name("empty")
    empty.mkdir()
    for answer in serve(empty, world.place.env, call("search", words=["note"]))[1:]:
        assert answer.get("error") or answer["result"]["isError"]


@answers("M02")
def bounded_answer(world: World) -> None:
    for number in range(60):
        file = world.root / "facts" / f"n{number:02}.md"
        file.write_text(f"---\nid: n-{number:02}\n---\n" + "word " * 4000)
    world.recorded()
    answered = serve(world.root, world.place.env, call("search", words=["word"], limit=100))
    text = json.dumps(answered[1])  # noqa: TID251
    assert len(text) < 200_000
    assert "next" in text


@answers("M04")
def date_in_an_answer(world: World) -> None:
    world.recorded()
    ids = [i for i, _ in world.listed()]
    answered = serve(world.root, world.place.env, call("show", id=ids[0]))
    assert not answered[1]["result"].get("isError")
    assert world.show(ids[0])["fields"]["created"].startswith("20")


@answers("M05")
def arguments_as_text(world: World) -> None:
    world.recorded()
    answered = serve(
        world.root,
        world.place.env,
        call("search", words='["note"]', limit="5"),
        call("search", words=["note"], limit="many"),
    )
    for answer in answered[1:]:
        result = answer.get("result", {})
        good = not result.get("isError") and "error" not in answer
        text = json.dumps(answer)  # noqa: TID251
        assert good or "limit" in text or "words" in text


@answers("M07")
def only_the_named_line(world: World) -> None:
    world.recorded()
    file = world.root / "facts/e.md"
    before = file.read_text().splitlines()
    world.ok("edit", "e-1", "--set", "pet=cat")
    after = file.read_text().splitlines()
    assert [line for line in after if line not in before] == ['pet: "cat"']
    assert len(before) == len(after)
    world.passes()
