"""docs/formats/ledger.md: its example recomputed with plain Python, and its lists complete."""

import base64
import hashlib
import json
import re
from typing import Any

from syn.keys.openssh import PrivateKey
from syn.ledger import segments, syntax
from syn.ledger.build import Draft, Signer
from syn.ledger.entry import signing_payload
from syn.ledger.heads import recorded
from syn.ledger.replay import state_digest
from syn.model.ledger import FACT_ACTIONS
from tests.support.examples import examples
from tests.support.ledgers import Book
from tests.support.proofs import WORKSPACE, private_key
from tests.support.shared import ROOT

DOCUMENT = (ROOT / "docs" / "formats" / "ledger.md").read_text(encoding="utf-8")
ALICE, BOB = "alice-0001", "bob-0001"


def hashed(domain: str, data: bytes) -> str:
    """What the document says of digests, without any code of ours."""
    return "sha256:" + hashlib.sha256(f"synapse/{domain}\n".encode() + data).hexdigest()


def plain(value: Any) -> bytes:
    """Canonical JSON of the values that entries hold."""
    encoder = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return encoder.encode(value).encode()


def content(text: str) -> dict[str, Any]:
    """Payload and source of an example fact: any digests do."""
    return {
        "payload": hashed("example-payload", text.encode()),
        "source": hashed("example-source", text.encode()),
    }


def example_book(key: PrivateKey) -> Book:
    """The decisions of the example."""
    signer = Signer(
        key=key.public.fingerprint,
        sign=lambda message: base64.b64encode(key.sign(message)).decode(),
    )
    book = Book(WORKSPACE)
    who: dict[str, Any] = {"actor": "Alice <alice@example.org>", "via": "cli"}
    (first,) = book.batch(
        ALICE,
        [
            Draft(
                **who,
                action="create",
                review="seen",
                fact="owner",
                path="facts/owner.md",
                reason="first answer",
                **content("team-a"),
            )
        ],
        ts="2026-01-05T09:00:00.000000Z",
    )
    book.batch(
        ALICE,
        [
            Draft(
                **who,
                action="supersede",
                review="seen",
                fact="owner-2",
                path="facts/owner-2.md",
                **content("team-b"),
            ),
            Draft(
                **who,
                action="close",
                review="seen",
                fact="owner",
                path="facts/owner.md",
                after=(first,),
                prior=(content("team-a")["payload"],),
                **content("team-a, closed"),
            ),
        ],
        ts="2026-04-15T10:00:00.000000Z",
    )
    book.batch(
        BOB,
        [
            Draft(
                actor="Bob <bob@example.org>",
                via="hand",
                action="update",
                review="named",
                fact="owner",
                path="facts/owner.md",
                after=(first,),
                prior=(content("team-a")["payload"],),
                **content("team-c"),
            )
        ],
        ts="2026-04-15T09:59:59.000000Z",
        signer=signer,
    )
    return book


def lines(name: str) -> list[str]:
    return examples("ledger.md")[name].splitlines()


def test_the_example_is_what_the_program_writes() -> None:
    book = example_book(private_key(1))
    files = book.files()
    shown = examples("ledger.md")
    assert files[segments.segment_path(ALICE, 1)].decode() == shown["alice"]
    assert files[segments.segment_path(BOB, 1)].decode() == shown["bob"]
    assert [digest for digest, _ in book.entries] == lines("hashes")
    read = segments.read(WORKSPACE, files.items())
    assert read.faults == ()
    state = recorded(read.entries())
    assert state["owner"].forked
    assert state_digest(state) == lines("state")[0]


def test_the_example_holds_for_plain_python() -> None:
    hashes: list[str] = []
    for writer, name in ((ALICE, "alice"), (BOB, "bob")):
        prev = hashed("genesis/1", plain({"writer": writer, "ws": WORKSPACE}))
        for seq, line in enumerate(lines(name), start=1):
            entry = json.loads(line)
            assert plain(entry).decode() == line
            assert (entry["writer"], entry["seq"], entry["prev"]) == (writer, seq, prev)
            signature = entry.pop("sig", None)
            prev = hashed("ledger/1", plain(entry))
            hashes.append(prev)
            if signature is not None:
                assert private_key(1).public.verify(prev.encode(), base64.b64decode(signature))
    assert hashes == lines("hashes")
    assert lines("genesis") == [
        hashed("genesis/1", plain({"writer": writer, "ws": WORKSPACE})) for writer in (ALICE, BOB)
    ]
    assert signing_payload(hashes[-1]) == hashes[-1].encode()


def test_every_fault_code_is_in_the_document() -> None:
    code = re.compile(r'"([a-z]+(?:-[a-z0-9]+)+)"')
    used = {
        found
        for path in (ROOT / "syn" / "ledger").glob("*.py")
        for found in code.findall(path.read_text(encoding="utf-8"))
    }
    documented = set(re.findall(r"^\| `([a-z-]+)` \|", DOCUMENT, re.MULTILINE))
    assert used - documented - {"utf-8"} == set()
    assert {word for word in documented if "-" in word} - used <= {"equivocation"}


def test_every_action_and_member_is_in_the_document() -> None:
    table = {
        row[0]: (set(row[1].split()), set(row[2].split()))
        for row in re.findall(
            r"^\| `([a-z]+)` \| ([a-z ]*) \| ([a-z ]*) \|$", DOCUMENT, re.MULTILINE
        )
    }
    assert table.keys() == syntax.ACTIONS
    everywhere = {"review", "batch", "reason", "proposal", "key", "sig"}
    for action, (required, optional) in table.items():
        assert required == syntax.REQUIRED[action]
        allowed = syntax.ALLOWED[action] - syntax.ALWAYS - everywhere - syntax.REQUIRED[action]
        assert optional == allowed
    assert set(table) >= FACT_ACTIONS
