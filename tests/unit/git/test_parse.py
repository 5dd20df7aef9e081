"""Objects as values."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syn.git.gitindex import GitIndexError
from syn.git.loose import LooseObjectError, parse_loose
from syn.git.parse import (
    Ident,
    MalformedObjectError,
    TreeItem,
    add_signature,
    blob_id,
    is_oid,
    object_id,
    parse_commit,
    parse_tree,
    render_commit,
    render_tree,
)
from syn.git.splitindex import parse_bitmap

TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
WHO = Ident("Ada", "ada@example.org", 1_700_000_000, "-0330")


def test_ids() -> None:
    assert blob_id(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"
    assert object_id("tree", b"") == TREE
    assert is_oid(TREE)
    assert not any(is_oid(text) for text in ("", TREE.upper(), TREE[:-1], TREE + "0", TREE + "\n"))


def test_commit_round_trip() -> None:
    raw = render_commit(TREE, ("1" * 40, "2" * 40), WHO, WHO, "Subject\n\nBody é\n\n")
    commit = parse_commit("", raw)
    assert (commit.tree, commit.parents) == (TREE, ("1" * 40, "2" * 40))
    assert commit.author == commit.committer == WHO
    assert commit.message == "Subject\n\nBody é\n"
    assert commit.signatures == ()
    assert commit.payload_without_sig == raw


def test_signature_headers_are_taken_out_whole() -> None:
    raw = render_commit(TREE, (), WHO, WHO, "x")
    signed = add_signature(raw, "-----BEGIN-----\nabc\n\ndef\n-----END-----\n")
    commit = parse_commit("", signed)
    assert commit.payload_without_sig == raw
    assert commit.signatures == (("gpgsig", b"-----BEGIN-----\nabc\n\ndef\n-----END-----"),)
    head, _, rest = signed.partition(b"\n\n")
    doubled = head + b"\ngpgsig-sha256 junk\n more\ngpgsigfoo x\n\n" + rest
    commit = parse_commit("", doubled)
    assert [name for name, _ in commit.signatures] == ["gpgsig", "gpgsig-sha256", "gpgsigfoo"]
    assert commit.payload_without_sig == raw
    # A message may look like a header; it is none.
    plain = parse_commit("", render_commit(TREE, (), WHO, WHO, "x\n\ngpgsig y"))
    assert plain.signatures == ()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"tree " + TREE.encode(),
        b"tree " + TREE.encode() + b"\n",
        b"tree " + TREE.upper().encode() + b"\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\n",
        b"parent " + b"1" * 40 + b"\ntree " + TREE.encode() + b"\n",
        b"tree "
        + TREE.encode()
        + b"\nparent "
        + b"1" * 39
        + b"\nauthor a <a> 1 +0000\ncommitter a\n",
        b"tree "
        + TREE.encode()
        + b"\nauthor a <a> 1 +0000\nparent "
        + b"1" * 40
        + b"\ncommitter a\n",
        b"tree " + TREE.encode() + b"\ncommitter a <a> 1 +0000\nauthor a <a> 1 +0000\n\n",
    ],
)
def test_malformed_commits(raw: bytes) -> None:
    with pytest.raises(MalformedObjectError):
        parse_commit("", raw)


def test_unreadable_names_are_told_when_asked() -> None:
    raw = b"tree " + TREE.encode() + b"\nauthor nobody\ncommitter \xff <e> 12 +0000\n\n\xffx"
    commit = parse_commit("", raw)
    with pytest.raises(MalformedObjectError, match="author"):
        _ = commit.author
    assert commit.committer == Ident("\\xff", "e", 12, "+0000")
    assert commit.message == "\\xffx"


@pytest.mark.parametrize(
    ("name", "email", "offset"),
    [
        ("a<b", "e", "+0000"),
        ("a", "e>", "+0000"),
        ("a\nb", "e", "+0000"),
        ("a", "e", "0"),
        ("a\0", "e", "+0000"),
    ],
)
def test_names_that_would_end_a_header(name: str, email: str, offset: str) -> None:
    with pytest.raises(MalformedObjectError):
        render_commit(TREE, (), Ident(name, email, 1, offset), WHO, "x")


def test_tree_order_is_by_full_path() -> None:
    oid = "1" * 40
    items = [
        TreeItem(0o40000, b"a", oid),
        TreeItem(0o100644, b"a.md", oid),
        TreeItem(0o100644, b"a0", oid),
    ]
    raw = render_tree(list(reversed(items)))
    assert [item.name for item in parse_tree("", raw)] == [b"a.md", b"a", b"a0"]


@settings(deadline=None, max_examples=80)
@given(st.binary(max_size=120))
def test_any_bytes_are_a_tree_or_malformed(data: bytes) -> None:
    try:
        items = parse_tree("", data)
    except MalformedObjectError:
        return
    joined = b"".join(b"%o %s\0%s" % (i.mode, i.name, bytes.fromhex(i.oid)) for i in items)
    assert len(joined) <= len(data)


@settings(deadline=None, max_examples=80)
@given(st.binary(max_size=80))
def test_any_bytes_are_no_loose_object(data: bytes) -> None:
    with pytest.raises(LooseObjectError):
        parse_loose(data + hashlib.sha1(data).digest())


def test_bitmaps() -> None:
    # One run of 64 set bits, then a literal word with bits 0 and 2 (gitformat-bitmap, EWAH).
    marker = 1 | 1 << 1 | 1 << 33
    words = marker.to_bytes(8, "big") + (5).to_bytes(8, "big")
    data = (67).to_bytes(4, "big") + (2).to_bytes(4, "big") + words + (0).to_bytes(4, "big")
    assert parse_bitmap(data, 0, 100) == ([*range(64), 64, 66], len(data))
    with pytest.raises(GitIndexError):
        parse_bitmap(data[:-5], 0, 100)
