"""Digests and strict Base64."""

import hashlib

import pytest

from syn.canon import base64, digest


def test_digests_are_tagged_by_domain() -> None:
    expected = hashlib.sha256(b"synapse/payload/1\nx").hexdigest()
    assert digest.tagged("payload/1", b"x") == f"sha256:{expected}"
    assert digest.tagged_json("payload/1", {"a": 1}) == digest.tagged("payload/1", b'{"a":1}')
    assert digest.sha256(b"x") != digest.tagged("payload/1", b"x")


def test_raw_and_text_are_inverse() -> None:
    value = digest.sha256(b"x")
    assert digest.is_digest(value)
    assert digest.text(digest.raw(value)) == value
    assert digest.raw(value) == hashlib.sha256(b"x").digest()


@pytest.mark.parametrize(
    "text", ["", "sha256:", "sha256:" + "A" * 64, "sha256:" + "a" * 63, "sha256:" + "a" * 64 + "\n"]
)
def test_is_digest_is_strict(text: str) -> None:
    assert not digest.is_digest(text)


@pytest.mark.parametrize(("text", "data"), [("", b""), ("AA==", b"\0"), ("+/8=", b"\xfb\xff")])
def test_base64(text: str, data: bytes) -> None:
    assert base64.decode(text) == data
    assert base64.encode(data) == text


@pytest.mark.parametrize(
    "text", ["AB==", "AA=", "AA", "A A=", "AA==\n", "-_8=", "é===", "AA==AA==", "="]
)
def test_base64_has_one_spelling(text: str) -> None:
    assert base64.decode(text) is None


def test_base64_of_envelopes_takes_both_alphabets_but_no_mixture() -> None:
    assert base64.decode_either("-_8=") == base64.decode_either("+/8=") == b"\xfb\xff"
    assert base64.decode_either("-/8=") is None
    assert base64.decode_either("AB==") is None
