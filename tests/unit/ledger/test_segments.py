"""Faults of segments: one thing is broken, and exactly that is named (proofs 8.1, 1 to 20)."""

import base64
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from syn.ledger import links, segments
from syn.ledger.build import Draft, Signer
from syn.ledger.entry import decode, encode, entry_hash
from syn.ledger.faults import Fault
from tests.support.ledgers import TS, WS, Book, digest

ONE = ".synapse/ledger/w1/000001.jsonl"
TWO = ".synapse/ledger/w1/000002.jsonl"
SIGNER = Signer(
    key="SHA256:" + base64.b64encode(bytes(32)).decode().rstrip("="),
    sign=lambda message: base64.b64encode(bytes(64)).decode(),
)


def book(entries: int = 5, writer: str = "w1") -> Book:
    made = Book()
    for number in range(entries):
        made.add(writer, "create", f"{writer}-f{number}", f"text {number}", sees=())
    return made


def rows(path: str = ONE, entries: int = 5) -> list[bytes]:
    return book(entries).files()[path].splitlines(keepends=True)


def faults(data: bytes | dict[str, bytes]) -> tuple[Fault, ...]:
    files = {ONE: data} if isinstance(data, bytes) else data
    return segments.read(WS, files.items()).faults


def codes(data: bytes | dict[str, bytes]) -> list[str]:
    return [fault.code for fault in faults(data)]


def rewrite(line: bytes, **change: Any) -> bytes:
    decoded = decode(line.removesuffix(b"\n"))
    assert isinstance(decoded, tuple)
    return encode(replace(decoded[1], **change)) + b"\n"


def entries_of(data: bytes | dict[str, bytes]) -> list[int]:
    files = {ONE: data} if isinstance(data, bytes) else data
    return [entry.seq for _, entry in segments.read(WS, files.items()).entries()]


def test_a_whole_chain_has_no_fault() -> None:
    made = book()
    ledger = segments.read(WS, made.files().items())
    assert ledger.faults == ()
    assert list(ledger.entries()) == made.entries
    assert ledger.chains[0].tail == made.tails["w1"]
    assert links.link_faults(ledger.entries()) == ()
    assert [segments.place(entry) for _, entry in made.entries][-1] == (ONE, 5)


def test_no_file_is_no_fault() -> None:
    assert segments.read(WS, ()) == segments.Ledger((), ())


def test_case_01_a_changed_entry_breaks_the_chain_behind_it() -> None:
    lines = rows()
    lines[1] = rewrite(lines[1], payload=digest("forged"))
    (fault,) = faults(b"".join(lines))
    assert (fault.code, fault.line, fault.path) == ("chain-broken", 3, ONE)
    assert fault.byte == len(lines[0]) + len(lines[1])
    assert fault.expected.startswith("prev sha256:")
    assert fault.expected != fault.actual
    assert "git checkout HEAD -- " + ONE in fault.remedy


def test_case_01_a_flipped_byte_that_leaves_no_entry_is_named_with_its_byte() -> None:
    lines = rows()
    at = lines[1].index(b"w1")
    lines[1] = lines[1][:at] + b"\x00" + lines[1][at + 1 :]
    (fault,) = faults(b"".join(lines))
    assert (fault.code, fault.line) == ("not-canonical", 2)
    assert len(lines[0]) < fault.byte <= len(lines[0]) + at
    assert entries_of(b"".join(lines)) == [1, 3, 4, 5]


def test_case_02_a_deleted_entry_is_a_gap() -> None:
    lines = rows()
    del lines[2]
    (fault,) = faults(b"".join(lines))
    assert (fault.code, fault.line) == ("seq-gap", 3)
    assert (fault.expected, fault.actual) == ("seq 3", "seq 4")


def test_case_02_a_deleted_entry_whose_followers_were_renumbered_breaks_the_chain() -> None:
    lines = rows()
    shifted = [rewrite(line, seq=at) for at, line in enumerate(lines[3:], start=3)]
    assert "chain-broken" in codes(b"".join(lines[:2] + shifted))


def test_case_03_swapped_entries_break_the_chain() -> None:
    lines = rows()
    lines[1], lines[2] = lines[2], lines[1]
    assert codes(b"".join(lines)) == ["seq-gap", "chain-broken"]
    assert sorted(entries_of(b"".join(lines))) == [1, 2, 3, 4, 5]


def test_case_04_a_duplicated_line_is_named_and_counted_once() -> None:
    lines = rows()
    lines.insert(2, lines[1])
    assert codes(b"".join(lines)) == ["seq-duplicate"]
    assert entries_of(b"".join(lines)) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("at", [1, 2, 5])
def test_case_05_and_13_two_entries_with_one_seq_are_equivocation(at: int) -> None:
    lines = rows()
    lines.insert(at, rewrite(lines[at - 1], reason="another history"))
    data = b"".join(lines)
    (fault,) = [fault for fault in faults(data) if fault.code == "equivocation"]
    assert f"seq {at}" in fault.expected
    assert entries_of(data).count(at) == 2


def test_case_05_the_same_seq_in_two_files_is_equivocation() -> None:
    made = book(1001)
    files = made.files()
    first = files[ONE].splitlines(keepends=True)[6]
    files[TWO] += rewrite(first, reason="another")
    assert codes(files) == ["equivocation"]


def test_case_07_a_cut_tail_is_a_shorter_chain_and_nothing_more() -> None:
    """Only a checkpoint or witness knows better; `hash_at` is what they compare."""
    lines = rows()
    ledger = segments.read(WS, [(ONE, b"".join(lines[:3]))])
    assert ledger.faults == ()
    (chain,) = ledger.chains
    assert chain.tail.length == 3
    assert chain.hash_at(3) == chain.tail.head
    assert chain.hash_at(4) is None
    assert chain.hash_at(0) is None


def test_case_08_a_torn_last_line_is_unknown_and_not_an_accusation() -> None:
    data = b"".join(rows())[:-20]
    (fault,) = faults(data)
    assert (fault.code, fault.severity, fault.line) == ("torn-tail", "unknown", 5)
    assert fault.byte == data.rindex(b"\n") + 1
    assert entries_of(data) == [1, 2, 3, 4]
    assert segments.read(WS, [(ONE, data)]).chains[0].torn


def test_case_08_a_last_line_that_lacks_only_its_end_still_counts() -> None:
    data = b"".join(rows())[:-1]
    assert codes(data) == ["torn-tail"]
    assert entries_of(data) == [1, 2, 3, 4, 5]


def test_case_08_a_tail_of_zeros_is_torn() -> None:
    assert codes(b"".join(rows()) + bytes(300)) == ["torn-tail"]


def test_a_torn_line_in_a_closed_file_is_corruption() -> None:
    files = book(1002).files()
    files[ONE] = files[ONE][:-20]
    assert [(f.code, f.severity) for f in faults(files)] == [("torn-segment", "failure")]


def test_an_empty_newest_file_is_torn_and_an_empty_older_one_is_corruption() -> None:
    files = book(1002).files()
    assert [(f.code, f.severity) for f in faults(files | {TWO: b""})] == [("torn-tail", "unknown")]
    assert codes(files | {ONE: b""}) == ["torn-segment", "seq-gap"]


def test_case_10_a_missing_file_is_named_and_the_rest_is_read() -> None:
    files = book(2001).files()
    del files[TWO]
    (fault,) = faults(files)
    assert (fault.code, fault.path, fault.line) == ("segment-missing", TWO, 0)
    assert entries_of(files) == [*range(1, 1001), 2001]


def test_case_10_a_missing_first_file_is_named() -> None:
    files = book(1001).files()
    del files[ONE]
    assert codes(files) == ["segment-missing"]


def test_case_14_the_prev_of_another_writer_is_called_foreign() -> None:
    mine, other = book(), book(3, "w2")
    lines = mine.files()[ONE].splitlines(keepends=True)
    lines[3] = rewrite(lines[3], prev=other.entries[1][0])
    files = {ONE: b"".join(lines), **other.files()}
    assert codes(files) == ["prev-foreign", "chain-broken"]
    assert "w2" in faults(files)[0].actual


def test_case_14_another_writers_genesis_is_foreign() -> None:
    other = book(1, "w2")
    forged = rewrite(rows(entries=1)[0], prev=other.entries[0][1].prev)
    assert codes({ONE: forged, **other.files()}) == ["prev-foreign"]


def test_another_workspaces_ledger_does_not_fit() -> None:
    made = Book("00000000-0000-4000-8000-00000000000f")
    made.add("w1", "create", "a", "one")
    assert codes(made.files()) == ["chain-broken"]
    assert segments.read(None, made.files().items()).faults == ()


@pytest.mark.parametrize(
    ("case", "spell"),
    [
        (15, lambda line: line.replace(b'"seq":2', b'"seq":2,"seq":2')),
        (16, lambda line: line.replace(b'"seq":2', b'"seq": 2')),
        (16, lambda line: line.replace(b'"seq":2', b'"seq":2.0')),
        (16, lambda line: line.replace(b"w1-f1", rb"w1-\u00661")),
    ],
)
def test_case_15_and_16_another_spelling_is_not_canonical(
    case: int, spell: Callable[[bytes], bytes]
) -> None:
    lines = rows()
    lines[1] = spell(lines[1])
    (fault,) = faults(b"".join(lines))
    assert (fault.code, fault.line) == ("not-canonical", 2)


def test_case_17_crlf_is_one_fault_and_everything_is_still_read() -> None:
    data = b"".join(rows()).replace(b"\n", b"\r\n")
    (fault,) = faults(data)
    assert (fault.code, fault.line, fault.actual) == ("crlf", 1, "CRLF on 5 lines")
    assert fault.byte == data.index(b"\r\n")
    assert entries_of(data) == [1, 2, 3, 4, 5]


def test_case_18_and_19_time_is_only_looked_at() -> None:
    made = Book()
    for at, ts in enumerate((TS, TS.replace("2026", "2999"), TS, TS)):
        made.add("w1", "create", f"f{at}", "text", ts=ts)
    (fault,) = faults(made.files())
    assert (fault.code, fault.severity, fault.line) == ("time-backwards", "warning", 3)


def test_case_20_a_union_merge_breaks_the_chain() -> None:
    base, ours, theirs = book(2), book(4), book(2)
    for name in ("x", "y"):
        theirs.add("w1", "create", name, name)
    mine = ours.files()[ONE].splitlines(keepends=True)
    other = theirs.files()[ONE].splitlines(keepends=True)
    merged = b"".join([*mine, *other[len(base.entries) :]])
    assert "equivocation" in codes(merged)


def test_case_20_interleaved_lines_break_the_chain() -> None:
    one, two = book(4, "w1"), Book()
    for at in range(4):
        two.add("w1", "create", f"g{at}", "text")
    pairs = zip(*(b.files()[ONE].splitlines(keepends=True) for b in (one, two)), strict=True)
    found = codes(b"".join(line for pair in pairs for line in pair))
    assert found.count("equivocation") == 4


def test_a_key_without_signature_is_a_fault() -> None:
    made = Book()
    made.add("w1", "create", "a", "one", signer=SIGNER)
    made.add("w1", "create", "b", "two")
    assert codes(made.files()) == []
    stripped = rewrite(made.files()[ONE].splitlines(keepends=True)[0], sig="")
    data = stripped + made.files()[ONE].splitlines(keepends=True)[1]
    assert codes(data) == ["signature-missing"], "the hash does not cover sig: the chain holds"


def test_an_entry_of_another_writer_does_not_count() -> None:
    other = book(1, "w2").files()[".synapse/ledger/w2/000001.jsonl"]
    data = b"".join([*rows()[:2], other, *rows()[2:]])
    (fault,) = faults(data)
    assert (fault.code, fault.actual) == ("writer-foreign", "an entry of w2")
    assert entries_of(data) == [1, 2, 3, 4, 5]


def test_an_inserted_line_that_is_no_entry_does_not_shift_the_others() -> None:
    lines = rows()
    lines.insert(2, b"<<<<<<< ours\n")
    assert codes(b"".join(lines)) == ["not-canonical"]
    assert entries_of(b"".join(lines)) == [1, 2, 3, 4, 5]


def test_lines_replaced_by_junk_are_not_called_gaps_too() -> None:
    lines = rows()
    lines[1] = lines[2] = b"junk\n"
    assert codes(b"".join(lines)) == ["not-canonical", "not-canonical"]


def test_a_jump_that_the_chain_denies_is_named() -> None:
    lines = rows()
    lines[2] = b"junk\n"
    head = decode(lines[1][:-1])
    assert isinstance(head, tuple)
    lines[3] = rewrite(lines[3], prev=head[0])
    assert codes(b"".join(lines)) == ["not-canonical", "chain-broken", "chain-broken"]


@pytest.mark.parametrize(
    "path",
    [
        ".synapse/ledger/w1/000001.jsonl.bak",
        ".synapse/ledger/w1/1.jsonl",
        ".synapse/ledger/w1/000000.jsonl",
        ".synapse/ledger/w1/0000001.jsonl",
        ".synapse/ledger/W1/000001.jsonl",
        ".synapse/ledger/w1/x/000001.jsonl",
        ".synapse/ledger/000001.jsonl",
        ".synapse/ledger/w1/000001.jsonl\n",
        ".synapse/ledger/w1/\uff100001.jsonl",
    ],
)
def test_a_file_that_is_no_segment_is_named(path: str) -> None:
    assert codes({path: b""}) == ["segment-name"]
    assert segments.parse_segment_path(path) is None


@pytest.mark.parametrize("seq", [1, 1000, 1001, 1_000_000_000])
def test_a_segments_path_says_writer_and_number(seq: int) -> None:
    path = segments.segment_path("w1", seq)
    assert segments.parse_segment_path(path) == ("w1", (seq - 1) // 1000 + 1)


def test_a_file_closes_at_a_thousand_entries() -> None:
    files = book(1001).files()
    assert [len(data.splitlines()) for data in files.values()] == [1000, 1]
    one = files[ONE] + files[TWO]
    (fault,) = faults(one)
    assert (fault.code, fault.line) == ("segment-misplaced", 1001)
    lines = files[ONE].splitlines(keepends=True)
    early = {ONE: b"".join(lines[:-1]), TWO: lines[-1] + files[TWO]}
    assert codes(early) == ["segment-misplaced"]


def test_one_bad_writer_does_not_stop_another() -> None:
    files = {**book().files(), ".synapse/ledger/w0/000001.jsonl": b"junk\n\x00\xff\n"}
    ledger = segments.read(WS, files.items())
    assert {fault.subject for fault in ledger.faults} == {"w0"}
    assert [chain.writer for chain in ledger.chains] == ["w0", "w1"]
    assert [entry.seq for _, entry in ledger.entries()] == [1, 2, 3, 4, 5]


def test_a_flood_of_faults_is_counted() -> None:
    found = faults(b"junk\n" * 5000)
    assert len(found) == segments.MAX_FAULTS + 1
    assert found[-1].code == "faults-omitted"
    assert found[-1].actual.startswith("4900 more")


def test_lines_of_a_batch_stand_together() -> None:
    made = Book()
    drafts = [
        Draft("Ann <a@x>", "cli", "create", fact=f, path=f"{f}.md", payload=digest(f), source=f)
        for f in "abc"
    ]
    made.batch("w1", [replace(draft, source=digest(draft.fact)) for draft in drafts])
    assert {entry.batch for _, entry in made.entries} == {"w1:1"}
    assert codes(made.files()) == []
    lines = made.files()[ONE].splitlines(keepends=True)
    alone = rewrite(lines[1], batch="")
    tail = decode(alone[:-1])
    assert isinstance(tail, tuple)
    data = b"".join([lines[0], alone, rewrite(lines[2], prev=tail[0])])
    assert codes(data) == ["batch-broken"]


def test_the_order_of_the_files_does_not_matter() -> None:
    files = {**book(2001).files(), **book(3, "w2").files()}
    assert segments.read(WS, files.items()) == segments.read(WS, reversed(files.items()))


def test_a_fault_becomes_a_finding_with_its_byte() -> None:
    (fault,) = faults(b"".join(rows()[:2]) + b"junk\n")
    finding = fault.finding()
    assert (finding.code, finding.path, finding.line) == ("not-canonical", ONE, 3)
    assert f"(byte {fault.byte})" in finding.actual


def test_a_rechained_log_is_a_new_chain() -> None:
    """Case 11: the chain alone cannot tell; a signature or checkpoint over the old one can."""
    made, again = book(), Book()
    for _, entry in made.entries:
        again.add("w1", "create", entry.fact, "forged", sees=())
    assert codes(again.files()) == []
    assert [h for h, _ in again.entries] != [h for h, _ in made.entries]


def test_hash_at_finds_entries_behind_a_gap() -> None:
    lines = rows()
    del lines[1]
    (chain,) = segments.read(WS, [(ONE, b"".join(lines))]).chains
    last = chain.entries[-1]
    assert chain.hash_at(5) == last[0] == entry_hash(last[1])
    assert chain.hash_at(2) is None
