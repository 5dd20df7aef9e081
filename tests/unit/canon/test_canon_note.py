"""Signed notes: form, limits, and what verifying one means."""

from dataclasses import replace

import pytest

from syn.canon import base64, note
from syn.canon.note import Note, NoteError, NoteSignature, UnknownKeyError, Verifier
from syn.errors import Cause

TEXT = "first\n\nthird\n"
SIGNATURE = NoteSignature("example.org/a", b"\1\2\3\4", b"signature")


def verifier(name: str, good: bytes, key_id: bytes = b"\1\2\3\4", public: bytes = b"k") -> Verifier:
    """A key whose only good signature over `TEXT` is the given one."""
    return Verifier(name, key_id, 1, public, lambda text, sig: (text, sig) == (TEXT.encode(), good))


def line(name: str = "n", data: bytes = b"12345") -> str:
    return f"— {name} {base64.encode(data)}\n"


def test_render_and_parse_are_inverse() -> None:
    value = Note(TEXT, (SIGNATURE, replace(SIGNATURE, name="example.org/b")))
    data = note.render(value)
    assert (
        data
        == (
            "first\n\nthird\n\n— example.org/a AQIDBHNpZ25hdHVyZQ==\n"
            "— example.org/b AQIDBHNpZ25hdHVyZQ==\n"
        ).encode()
    )
    assert note.parse(data) == value


def test_the_text_ends_at_the_last_blank_line() -> None:
    assert note.parse(f"a\n\n— b AAAAAAA=\n\n{line()}".encode()).text == "a\n\n— b AAAAAAA=\n"
    assert note.parse(f"a\n\n\n{line()}".encode()).text == "a\n\n"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("note-form", ""),
        ("note-form", "a\n"),
        ("note-form", f"a\n{line()}"),
        ("note-form", "a\n\n"),
        ("note-form", "a\n\n\n"),
        ("note-form", f"a\n\n{line()}"[:-1]),
        ("note-form", f"a\n\n{line()}\n"),
        ("note-form", f"a\n\n{line()}junk\n"),
        ("note-form", f"a\r\n\n{line()}"),
        ("note-form", f"a\tb\n\n{line()}"),
        ("note-form", f"a\0\n\n{line()}"),
        ("note-form", "a\n\n- n AAAAAAA=\n"),
        ("note-form", "a\n\n—n AAAAAAA=\n"),
        ("note-form", "a\n\n— n\n"),
        ("note-name", "a\n\n—  AAAAAAA=\n"),
        ("note-name", "a\n\n— a+b AAAAAAA=\n"),
        ("note-name", "a\n\n— a\u00a0b AAAAAAA=\n"),
        ("note-name", "a\n\n— a\u2003b AAAAAAA=\n"),
        ("note-base64", "a\n\n— n AAAA AAA=\n"),
        ("note-base64", "a\n\n— n \n"),
        ("note-base64", "a\n\n— n AAAAAA==\n"),
        ("note-base64", "a\n\n— n AAAAAAB=\n"),
        ("note-base64", "a\n\n— n AAAAAAA\n"),
        ("note-base64", "a\n\n— n AAAAAA-_\n"),
        pytest.param("note-limit", f"a\n\n{line() * 101}", id="101 signatures"),
        pytest.param("note-limit", "a" * (1 << 20) + f"\n\n{line()}", id="over 1 MiB"),
    ],
)
def test_parse_is_strict(code: str, text: str) -> None:
    with pytest.raises(NoteError) as caught:
        note.parse(text.encode())
    assert caught.value.code == code


def test_text_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(NoteError, match="UTF-8"):
        note.parse(b"\xff\n\n" + line().encode())


def test_a_hundred_signatures_are_accepted() -> None:
    assert len(note.parse(f"a\n\n{line() * 100}".encode()).signatures) == 100


def test_a_note_of_just_1_mib_is_accepted() -> None:
    text = "a" * (note.MAX_BYTES - len(f"\n\n{line()}".encode()))
    data = f"{text}\n\n{line()}".encode()
    assert len(data) == note.MAX_BYTES
    assert note.parse(data).text == f"{text}\n"


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\x01b", "a\x1fb", "a\u3000b"])
def test_what_cannot_name_a_key(name: str) -> None:
    assert not note.is_key_name(name)
    assert note.is_key_name("example.org/é!~")


def test_verify_returns_the_trusted_signatures_in_order() -> None:
    other = replace(SIGNATURE, name="example.org/b")
    stranger = replace(SIGNATURE, name="example.org/c", signature=b"bad")
    value = Note(TEXT, (stranger, other, SIGNATURE))
    keys = (verifier("example.org/a", b"signature"), verifier("example.org/b", b"signature"))
    assert [item.signature for item in note.verify(value, keys)] == [other, SIGNATURE]


def test_a_known_name_with_another_id_is_a_stranger() -> None:
    value = Note(TEXT, (replace(SIGNATURE, key_id=b"\0\0\0\0"),))
    with pytest.raises(UnknownKeyError) as caught:
        note.verify(value, (verifier("example.org/a", b"signature"),))
    assert caught.value.code == "note-unknown-key"
    assert caught.value.cause is Cause.CANNOT
    assert "example.org/a" in caught.value.message


def test_no_trusted_key_means_no_verdict() -> None:
    with pytest.raises(UnknownKeyError):
        note.verify(Note(TEXT, (SIGNATURE,)), ())


def test_one_bad_signature_of_a_trusted_key_refuses_the_note() -> None:
    value = Note(TEXT, (SIGNATURE, replace(SIGNATURE, name="example.org/b", signature=b"bad")))
    keys = (verifier("example.org/a", b"signature"), verifier("example.org/b", b"signature"))
    with pytest.raises(NoteError) as caught:
        note.verify(value, keys)
    assert caught.value.code == "note-bad-signature"


def test_two_trusted_keys_under_one_name_and_id_are_ambiguous() -> None:
    keys = (verifier("example.org/a", b"x"), verifier("example.org/a", b"y", public=b"other"))
    with pytest.raises(NoteError) as caught:
        note.verify(Note(TEXT, (SIGNATURE,)), keys)
    assert caught.value.code == "note-ambiguous-key"


def test_the_same_trusted_key_twice_is_one_key() -> None:
    keys = (verifier("example.org/a", b"signature"), verifier("example.org/a", b"signature"))
    assert len(note.verify(Note(TEXT, (SIGNATURE,)), keys)) == 1


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("no newline", "a"),
        ("tab\t\n", "a"),
        ("a\n", "b c"),
        ("a\n", ""),
        # Its last line would read back as a signature.
        ("a\n\n— n AAAAAAA=", "b"),
    ],
)
def test_what_would_not_read_back_is_not_signed(text: str, name: str) -> None:
    with pytest.raises(NoteError):
        note.sign(text, [note.Signer(name, b"\0\0\0\1", lambda _text: b"signature")])


def test_a_note_without_signer_is_refused() -> None:
    with pytest.raises(NoteError):
        note.sign("a\n", [])


def test_text_that_would_end_elsewhere_is_not_signed() -> None:
    """A text that looks like a signature block after its own blank line would read back shorter."""
    signer = note.Signer("b", b"\0\0\0\1", lambda _text: b"x")
    whole = note.render(note.sign("a\n", [signer])).decode()
    assert note.parse(note.render(note.sign(whole, [signer]))).text == whole


def test_extend_keeps_what_is_signed() -> None:
    first = note.sign(TEXT, [note.Signer("a", b"\0\0\0\1", lambda text: b"1" + text)])
    both = note.extend(first, [note.Signer("b", b"\0\0\0\2", lambda text: b"2" + text)])
    assert [item.signature[:1] for item in both.signatures] == [b"1", b"2"]
    assert note.parse(note.render(both)) == both


@pytest.mark.parametrize("name", ["a/\ue000", "a/\U0001f600", "a/\ud7ff", "é"])
def test_a_key_name_may_be_any_unicode(name: str) -> None:
    assert note.is_key_name(name)


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\tb", "a\x1fb", "a\ud800"])
def test_a_key_name_is_text_without_spaces(name: str) -> None:
    assert not note.is_key_name(name)
