"""Every parser of ours, fed with damaged examples: a value or a typed error, soon, in little room.

`make torture` goes on with other seeds for as long as there is time; `python -m
tests.fault.parsers` takes a seed and names of its own.
"""

import argparse
import gc
import hashlib
import io
import struct
import sys
import tempfile
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from random import Random  # noqa: TID251 - always one with a seed
from zlib import compress

import pygit2
from pygit2.enums import ObjectType

from syn.canon import (
    checkpoint,
    cosignature,
    dsse,
    head,
    merkle,
    note,
    receipt,
    statement,
    tlogproof,
    witness,
)
from syn.canon import json as canonical
from syn.errors import SynError
from syn.exchange.formats import FORMATS, Format
from syn.exchange.note import SourceFile
from syn.facts.dates import parse_instant
from syn.facts.links import parse_links
from syn.facts.parse import parse as parse_fact
from syn.git import commitgraph, gitindex, loose, packs, rules, splitindex
from syn.git.commitgraph import GraphError
from syn.git.loose import LooseObjectError
from syn.git.parse import parse_commit, parse_tree
from syn.git.repository import open_repository
from syn.git.resolve import resolve
from syn.images import bundle, native, native_row, record
from syn.images.store import check_image
from syn.images.word import native_prefix
from syn.index.query import decode_cursor, encode_cursor
from syn.keys import openssh, policy, public, signers, signing, sshsig, trust, vkey
from syn.keys.vkey import VerifierKey
from syn.ledger import entry, segments
from syn.mcp.arguments import read_arguments
from syn.mcp.wire import RefusedMessage
from syn.mcp.wire import parse as parse_message
from syn.model.config import Config
from syn.model.fact import Fact
from syn.report.document import to_json
from syn.report.members import load
from syn.report.parse import from_json
from syn.report.seal import open_report
from syn.services.config import parse_config
from syn.services.doors.operations import operation
from syn.services.patrol import cursor
from syn.services.writing.changes import Add, Delete, Edit, NewFact
from syn.services.writing.proposals import Proposal, parse_proposal
from syn.services.writing.proposals import to_json as proposal_json
from tests.support import images, reports
from tests.support.fuzzing import damage
from tests.support.ledgers import Book, segment_files
from tests.support.proofs import head_record, log, private_key, signed, witness_bytes
from tests.support.shared import ROOT

CONFIG = Config(id="6f1c1f0e-3c1b-4d57-9f0a-0d9b6a7f2c11", name="fuzz", relations=("see",))
SECONDS = 4.0
"""Processor time that one input of at most 128 kB may take."""
ROUND = 50
"""Inputs of one parser before it is the next one's turn."""
ROOM = 64 << 20
"""Bytes that one may hold beside itself."""


@dataclass(frozen=True, slots=True)
class Target:
    """A parser, valid examples of its input, and the errors that are its answer to others."""

    name: str
    parse: Callable[[bytes], object]
    examples: tuple[bytes, ...]
    errors: tuple[type[Exception], ...] = (SynError,)
    closing: Callable[[bytes], bytes] | None = None
    """Puts the checksum right after a change, so that what lies behind it is reached too."""

    def run(self, data: bytes) -> str:
        """`value` or `error`; any other exception passes through."""
        try:
            self.parse(data)
        except self.errors:
            return "error"
        return "value"


def _text(parse: Callable[[str], object]) -> Callable[[bytes], object]:
    """A parser of text, given what a terminal or a file may hand over."""
    return lambda data: parse(data.decode("utf-8", "surrogateescape"))


def _sha1_last(data: bytes) -> bytes:
    body = data[:-20]
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


FACT = b"""---
id: owner-1
type: statement
title: "Ledger owns \\u00e9 payments"
tags: [money, 'a b']
aliases:
  - one
  - two
subject: payments
field: owner
value: ledger
valid_from: 2025-01-01
valid_to: 2026-04-15T10:00:00+02:00
supersedes: [[owner-0]]
source:
  url: https://example.org/a?b#c
  quote: |
    several
    lines
see: "[[limit|the limit]]"
---
# Heading

See [[limit#part|text]], ![[embed.png]], [a link](other.md "title") and [ref][1].

```
[[no link]]
```

[1]: <limit.md>
"""
CONFIG_FILE = (
    b'format = 1\nid = "6f1c1f0e-3c1b-4d57-9f0a-0d9b6a7f2c11"\nname = "fuzz"\n'
    b'[facts]\ninclude = ["**/*.md"]\nexclude = ["drafts/**"]\nmulti = ["tag", "a/b"]\n'
    b'[facts.keys]\ntitle = "name"\n[facts.relations]\nfields = ["see"]\n'
    b'[links]\norder = "text|target"\n[git]\nbranch = "main"\ncommit = true\n'
    b'[verify]\nprofile = "strict"\n'
)
PARENT = b"parent 3ceddd0c1f4e5a6b7c8d9e0f1a2b3c4d5e6f7a8b\n"
COMMIT = (
    b"tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n" + PARENT + b""
    b"author Ada <ada@example.org> 1700000000 +0000\n"
    b"committer Ada <ada@example.org> 1700000000 +0000\n"
    b"gpgsig -----BEGIN SSH SIGNATURE-----\n U1NIU0lH\n -----END SSH SIGNATURE-----\n\none\n"
)
TREE = b"40000 facts\0" + b"\1" * 20 + b"100644 synapse.toml\0" + b"\2" * 20
TAG = (
    b"object 3ceddd0c1f4e5a6b7c8d9e0f1a2b3c4d5e6f7a8b\ntype commit\ntag v1\n"
    b"tagger Ada <ada@example.org> 1700000000 +0000\n\nmessage\n"
)
RULES = b'*.md -text\n[attr]plain -filter -text\n"a b" plain\nfacts/**/x?[a-c] eol=lf ident\n'
CALL = (
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search",'
    b'"arguments":{"words":"refund","limit":3}}}'
)
TRANSCRIPT = (
    b'{"role":"tool","text":"two people","durability":"bounded","valid_to":9,"witness":"etag:1"}\n'
    b'{"role":"user","bytes":"AAEC","fact":{"id":"limit","payload":"sha256:' + b"ab" * 32 + b'"}}\n'
)


def _index_file(version: int) -> bytes:
    """Git's index with two entries, an extension, and the right checksum."""
    entries = b""
    last = b""
    for number, path in enumerate((b"facts/a.md", b"facts/b.md"), 1):
        extended = version > 2 and number == 2
        flags = len(path) | (0x4000 if extended else 0)
        item = bytes(40) + bytes([number]) * 20 + struct.pack(">H", flags)
        item += struct.pack(">H", 0x4000) if extended else b""
        if version == 4:
            kept = next(i for i in range(len(path) + 1) if not last.startswith(path[: i + 1]))
            entries += item + bytes([len(last) - kept]) + path[kept:] + b"\0"
            last = path
            continue
        entries += item + path + bytes(8 - (len(item) + len(path)) % 8)
    data = (
        b"DIRC"
        + struct.pack(">II", version, 2)
        + entries
        + b"TREE"
        + struct.pack(">I", 4)
        + b"abcd"
    )
    return _sha1_last(data + bytes(20))


def _split_link() -> bytes:
    bitmap = struct.pack(">II", 2, 2) + struct.pack(">QQ", 1 << 33, 0b01) + struct.pack(">I", 0)
    return b"\3" * 20 + bitmap + struct.pack(">III", 0, 0, 0)


def _merge(data: bytes) -> object:
    base = gitindex.parse_index(_index_file(2))
    return splitindex.merge_split(base, data, lambda _: base)


def _pack_index() -> bytes:
    fan = struct.pack(">256I", *([0] * 16 + [1] * 240))
    return _sha1_last(
        b"\xfftOc\0\0\0\2" + fan + b"\x10" * 20 + bytes(4) + struct.pack(">I", 12) + bytes(40)
    )


def _multi_pack_index() -> bytes:
    names = b"pack-a.idx\0\0"
    fan = struct.pack(">256I", *([0] * 16 + [1] * 240))
    chunks = (
        (b"PNAM", names),
        (b"OIDF", fan),
        (b"OIDL", b"\x10" * 20),
        (b"OOFF", struct.pack(">II", 0, 12)),
    )
    at = 12 + 12 * (len(chunks) + 1)
    table, body = b"", b""
    for name, chunk in chunks:
        table += name + (at + len(body)).to_bytes(8, "big")
        body += chunk
    table += bytes(4) + (at + len(body)).to_bytes(8, "big")
    return _sha1_last(b"MIDX\x01\x01\x04\x00" + struct.pack(">I", 1) + table + body + bytes(20))


def _commit_graph() -> bytes:
    fan = struct.pack(">256I", *([0] * 16 + [1] * 240))
    data = b"\1" * 20 + struct.pack(">IIQ", 0x70000000, 0x70000000, 0)
    chunks = ((b"OIDF", fan), (b"OIDL", b"\x10" * 20), (b"CDAT", data))
    at = 8 + 12 * (len(chunks) + 1)
    table, body = b"", b""
    for name, chunk in chunks:
        table += name + (at + len(body)).to_bytes(8, "big")
        body += chunk
    table += bytes(4) + (at + len(body)).to_bytes(8, "big")
    return _sha1_last(b"CGPH\x01\x01\x03\x00" + table + body + bytes(20))


def _proposal() -> bytes:
    changes = (
        Add(NewFact(title="New", body="x\n", tags=("a",))),
        Edit("limit", body="Two.\n"),
        Delete("old"),
    )
    proposal = Proposal(
        workspace="w", created="2026-04-15T10:00:00.000000Z", actor="bot", via="mcp",
        reason="why", base="sha256:" + "ab" * 32, changes=changes,
    )  # fmt: skip
    return canonical.encode(proposal_json(proposal))


def _receipt() -> bytes:
    rows, source = [b'{"table":"fact"}', b'{"table":"tag"}'], log(3)
    leaves = [merkle.leaf_hash(item) for item in rows]
    return receipt.encode(
        receipt.Receipt(
            row=rows[0].decode(),
            entry=_ledger_lines()[0].decode(),
            record=source.leaves[-1].decode(),
            note=signed(source),
            row_proof=receipt.include(leaves, 0),
            entry_proof=receipt.include(leaves, 1),
            record_proof=receipt.include(source.leaf_hashes(), 2),
        )
    )


def _ledger_lines() -> tuple[bytes, ...]:
    files = segment_files(_entries())
    return tuple(line for data in files.values() for line in data.splitlines())


def _entries() -> list[entry.HashedEntry]:
    book = Book()
    book.add("w1", "create", "a", "x", reason="é \u2028")
    book.add("w1", "update", "a", "y", taint="web")
    book.add("w2", "quarantine", "a", reason="doubtful")
    return book.entries


class _Repository:
    """A scratch repository in which a tag object, and a name, are looked up."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="synapse-fuzz-")
        path = Path(self._folder.name)
        self._pg = pygit2.init_repository(str(path / "r"), bare=True, initial_head="main")
        root = COMMIT.replace(PARENT, b"")
        first = self._pg.odb.write(ObjectType.COMMIT, root)
        second = self._pg.odb.write(
            ObjectType.COMMIT,
            root.replace(b"author", b"parent %s\nauthor" % str(first).encode(), 1),
        )
        self._pg.references.create("refs/heads/main", second)
        self.example = TAG.replace(TAG[7:47], str(second).encode(), 1)
        self._pg.references.create("refs/tags/v1", self._pg.odb.write(ObjectType.TAG, self.example))
        self.repository = open_repository(path / "r")

    def tag(self, data: bytes) -> object:
        """Peel an annotated tag with these bytes."""
        return resolve(self.repository, str(self._pg.odb.write(ObjectType.TAG, data[:4096])))

    def name(self, text: str) -> object:
        """A name as somebody may type it."""
        return resolve(self.repository, text)


class _Images:
    """A scratch folder for images in either format."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="synapse-fuzz-")
        self.place = Path(self._folder.name)
        self.manifest, self.store = images.recall_files()
        made = images.native_image(self.place / "native")
        self.table = (made / native.TABLE).read_bytes()
        self.native = made

    def recall(self, manifest: bytes) -> object:
        """The verdict on a `recall.v1` image with this manifest."""
        return images.check_files(manifest, self.store).verdict

    def recall_store(self, store: bytes) -> object:
        """The verdict on one with this store."""
        return images.check_files(self.manifest, store).verdict

    def table_of(self, table: bytes) -> object:
        """The verdict on a `synapse.image/1` folder with this table."""
        (self.native / native.TABLE).write_bytes(table)
        return check_image(self.native).verdict


def _fact(data: bytes) -> object:
    found = parse_fact("facts/owner-1.md", data, CONFIG)
    assert isinstance(found, Fact) or found.problems
    return found


def _links(data: bytes) -> object:
    return parse_links(data.decode("utf-8", "replace"), 1, "target|text")


def _call(data: bytes) -> object:
    message = parse_message(data)
    given = getattr(message, "params", None) or {}
    found = given.get("arguments") if isinstance(given, dict) else None
    return read_arguments(
        operation("search").parameters(), found if isinstance(found, dict) else None
    )


def _graph(data: bytes) -> object:
    return list(commitgraph.graph_commits([commitgraph.parse_graph(data)]))


@cache
def targets() -> dict[str, Target]:
    """Every parser by name."""
    scratch, shots = _Repository(), _Images()
    line = private_key(1).public.line("comment").encode()
    verifier = vkey.render(VerifierKey("example.org/a", 1, private_key(1).public)).encode()
    admin = policy.PolicyKey("alice", ("admin", "writer"), "active", private_key(1).public)
    two = signed(log(2))
    verifiers = signing.verifiers_for(two, [private_key(1).public])
    rows = shots.table.splitlines()
    statement_bytes = statement.encode(
        statement.Statement((statement.Subject("a", (("sha256", "aa"),)),), "p", {"k": 1})
    )
    report = canonical.encode(to_json(reports.failing()))
    envelope = dsse.render(
        signing.sign_envelope(statement.PAYLOAD_TYPE, statement_bytes, [private_key(1)])
    )
    ledger = _ledger_lines()
    whole = b"\n".join(ledger[:2]) + b"\n"
    prefix = native_prefix(images.SESSION)
    packed = (compress(b"blob 3\0abc"), compress(b"tree 0\0"))
    index_files = tuple(map(_index_file, (2, 3, 4)))
    checked = cursor.encode("w", {"a": "2026-04-15T10:00:00.000000Z"})
    page = encode_cursor("list", 7).encode()
    trusted = [private_key(1).public]
    calls = (CALL, CALL.replace(b"1", b'"x"', 1))
    refusals = (SynError, RefusedMessage)
    texts = (b"2025-01-01", b"2026-04-15T10:00:00+02:00", b"2026-04-15T10:00:00.123456Z")
    found = (
        Target("fact", _fact, (FACT, b"# Plain\n\nBody [[a]].\n")),
        Target("links", _links, (FACT.partition(b"# ")[2], b"[[a|b]] ![[c]] [x](y.md)\n")),
        Target("date", _text(parse_instant), texts),
        Target("configuration", parse_config, (CONFIG_FILE,)),
        Target("canonical JSON", canonical.decode, (report, ledger[0])),
        Target("JSON", canonical.parse, (report, b'{"a" : [1, "\\u00e9"]}')),
        Target("ledger line", entry.decode, ledger),
        Target("ledger segment", lambda d: segments.read(None, [(PATH, d)]), (whole,)),
        Target("head record", head.decode, (head.encode(head_record()),)),
        Target("head log", head.parse_log, (b"".join(leaf + b"\n" for leaf in log(2).leaves),)),
        Target("note", note.parse, (note.render(two),)),
        Target("checkpoint", _text(checkpoint.parse), (two.text.encode(),)),
        Target("cosignature", cosignature.decode, (cosignature.encode(7, bytes(64)),)),
        Target("tlog-proof", tlogproof.parse, (witness_bytes(log(3)), witness_bytes(log(1)))),
        Target("witness", lambda d: witness.open_witness(d, verifiers), (witness_bytes(log(3)),)),
        Target("receipt", receipt.decode, (_receipt(),)),
        Target("DSSE envelope", dsse.parse, (envelope,)),
        Target("statement", statement.parse, (statement_bytes,)),
        Target("report", lambda d: from_json(load(d)), (report,)),
        Target("signed report", lambda d: open_report(d, trusted), (envelope, report)),
        Target("SSHSIG", sshsig.parse, (sshsig.sign(private_key(1), b"m", "git").encode(),)),
        Target("private key", openssh.parse, (openssh.render(private_key(1)),)),
        Target("public key", _text(public.parse_line), (line,)),
        Target("signers line", _text(signers.parse), (b'alice namespaces="git" ' + line,)),
        Target("verifier key", _text(vkey.parse), (verifier,)),
        Target("trust file", trust.parse, (b"alice " + line + b"\n" + verifier + b"\n# x\n",)),
        Target("policy", policy.parse, (policy.render(policy.Policy((admin,))),)),
        Target("git commit", lambda d: parse_commit("0" * 40, d), (COMMIT,)),
        Target("git tree", lambda d: parse_tree("0" * 40, d), (TREE,)),
        Target("git tag", scratch.tag, (scratch.example,)),
        Target("git name", _text(scratch.name), (b"HEAD~1^0", b"main", b"refs/tags/v1^{}", b"v1")),
        Target("git loose object", loose.parse_loose, packed, (LooseObjectError,)),
        Target("git index", gitindex.parse_index, index_files, closing=_sha1_last),
        Target("git split index", _merge, (_split_link(),)),
        Target("git pack index", _pack, (_pack_index(),), closing=_sha1_last),
        Target("git multi-pack-index", _midx, (_multi_pack_index(),), closing=_sha1_last),
        Target("git commit-graph", _graph, (_commit_graph(),), (GraphError,), closing=_sha1_last),
        Target("git attributes", rules.parse_rules, (RULES,)),
        Target("proposal", parse_proposal, (_proposal(),)),
        Target("scrub cursor", lambda d: cursor.decode("w", d), (checked,)),
        Target("page cursor", _text(lambda t: decode_cursor("list", t)), (page,)),
        Target("image recall.v1", shots.recall, (shots.manifest,)),
        Target("image recall.v1 store", shots.recall_store, (shots.store,)),
        Target("image synapse.image/1", shots.table_of, (shots.table,)),
        Target("image head", native.parse_head, (rows[0],)),
        Target("image row", lambda d: native_row.read_row(d, prefix, 0), tuple(rows[1:3])),
        Target("image bundle", lambda d: bundle.parse_bundle(io.BytesIO(d)), (BUNDLE,)),
        Target("transcript", lambda d: list(record.parse_transcript(io.BytesIO(d))), (TRANSCRIPT,)),
        Target("MCP request", _call, calls, refusals),
        *_imports(),
    )  # fmt: skip
    return {target.name: target for target in found}


_MEMORIES = {
    "mcp-memory": (
        b'{"type":"entity","name":"Ada","entityType":"person","observations":["pays","x"]}\n'
        b'{"type":"relation","from":"Ada","to":"Bo","relationType":"knows"}\n',
        b'{"entities":[{"name":"Ada","entityType":"p","observations":["x"]}],"relations":[]}',
    ),
    "mem0": (
        b'{"results":[{"id":"1","memory":"Two people.","user_id":"u","metadata":{"a":[1,null]},'
        b'"created_at":"2025-01-01T00:00:00Z","categories":["x"]}]}',
    ),
}
_RECORD = (
    b"# 7. Use git\n\nDate: 2025-01-01\n\n## Status\n\nSuperseded by [8](0008-x.md)\n"
    b"\n## Context\n\nx\n"
)


def _imports() -> Iterator[Target]:
    """What other programs keep, format by format."""
    for form in FORMATS.values():
        names = {"adr": "0007-use-git.md", "mcp-memory": "m.jsonl", "mem0": "m.json"}
        path = names.get(form.name, "notes/a.md")
        notes = (_RECORD,) if form.name == "adr" else (FACT, _RECORD)
        examples = _MEMORIES.get(form.name, notes)
        yield Target(f"import {form.name}", partial(_import, form, path), examples)


def _import(form: Format, path: str, data: bytes) -> object:
    return list(form.read([SourceFile(path, data)]))


PATH = ".synapse/ledger/w1/000001.jsonl"
BUNDLE = (
    b'{"version":"fak.session.v1","session_id":"s","parts":[{"name":"manifest.json","bytes":2,'
    b'"digest":"' + b"ab" * 32 + b'"}]}'
)


def _pack(data: bytes) -> object:
    return packs.check_index(data, 4096)


def _midx(data: bytes) -> object:
    return packs.check_multi_pack_index(data, {"pack-a.idx": 4096})


@dataclass(slots=True)
class Tried:
    """What became of the inputs of one parser."""

    inputs: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    """Seconds of processor time."""
    wrong: list[str] = field(default_factory=list)
    """What should not have been, with the input."""


def try_one(target: Target, data: bytes, tried: Tried) -> None:
    """Feed one input, and take note of the time and of what is no typed error."""
    began = time.process_time()
    outcome = "WRONG"
    try:
        outcome = target.run(data)
    except Exception as error:  # noqa: BLE001 - whatever it is: it is what is looked for
        tried.wrong.append(f"{type(error).__name__}: {error}\n{data!r:.1500}")
    took = time.process_time() - began
    tried.inputs[outcome] += 1
    tried.slowest = max(tried.slowest, took)
    if took > SECONDS:
        tried.wrong.append(f"{took:.1f} s for {len(data)} bytes\n{data!r:.300}")


def one_input(target: Target, chance: Random) -> bytes:
    """The next damaged input; half of them with the checksum put right."""
    data = damage(chance, target.examples)
    return target.closing(data) if target.closing is not None and chance.randrange(2) else data


def most_held(target: Target, data: bytes) -> int:
    """Bytes that a parser held at the most while it read an input."""
    gc.collect()
    tracemalloc.start()
    try:
        target.run(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def fuzz(seconds: float, seed: int, only: str = "") -> dict[str, Tried]:
    """Take turns until the time is up."""
    chosen = [target for name, target in targets().items() if only in name]
    tried = {target.name: Tried() for target in chosen}
    chances = {target.name: Random(f"{seed} {target.name}") for target in chosen}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for target in chosen:
            for _ in range(ROUND if not tried[target.name].wrong else 0):
                try_one(target, one_input(target, chances[target.name]), tried[target.name])
    return tried


def text(tried: dict[str, Tried]) -> str:
    """How many inputs each parser took, and its slowest."""
    lines = [f"{'parser':24}{'values':>9}{'errors':>9}{'slowest':>10}"]
    lines += [
        f"{name:24}{done.inputs['value']:>9}{done.inputs['error']:>9}{done.slowest:>9.3f}s"
        for name, done in tried.items()
    ]
    wrong = [f"{name}: {what}" for name, done in tried.items() for what in done.wrong]
    total = sum(done.inputs.total() for done in tried.values())
    return "\n".join([*lines, f"fuzz: {total} inputs, {len(wrong)} wrong answers", *wrong])


def torture(seconds: float) -> str:
    """Other inputs at each run; raises at the first that is not answered as it should be."""
    seed = int(STATE.read_text()) + 1 if STATE.exists() else 1
    tried = fuzz(seconds, seed)
    STATE.parent.mkdir(exist_ok=True)
    STATE.write_text(str(seed))
    said = f"seed {seed}\n{text(tried)}"
    assert not any(done.wrong for done in tried.values()), said
    return said


STATE = ROOT / "build" / "torture-parsers"


def main() -> int:
    """Run with a seed and a part of a name."""
    parser = argparse.ArgumentParser(prog="python -m tests.fault.parsers")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="parsers whose name has this")
    given = parser.parse_args()
    tried = fuzz(given.seconds, given.seed, given.only)
    sys.stdout.write(f"{text(tried)}\n")
    return 1 if any(done.wrong for done in tried.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
