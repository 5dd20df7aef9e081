"""Checkpoints and cosignatures."""

import pytest

from syn.canon import base64, checkpoint, cosignature
from syn.canon.checkpoint import Checkpoint, CheckpointError
from syn.canon.note import NoteSignature, Verified, Verifier

ROOT = bytes(range(32))
CHECKPOINT = Checkpoint("example.org/ws/alice", 7, ROOT)
ENCODED = base64.encode(ROOT)


def test_render_and_parse_are_inverse() -> None:
    text = checkpoint.render(CHECKPOINT)
    assert text == f"example.org/ws/alice\n7\n{ENCODED}\n"
    assert checkpoint.parse(text) == CHECKPOINT


def test_the_largest_size_is_accepted() -> None:
    assert checkpoint.parse(f"a/b\n{2**63 - 1}\n{ENCODED}\n").size == 2**63 - 1
    assert checkpoint.parse(f"a/b\n0\n{ENCODED}\n").size == 0


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("checkpoint-form", ""),
        ("checkpoint-form", "a/b\n7\n"),
        ("checkpoint-form", f"a/b\n7\n{ENCODED}"),
        ("checkpoint-origin", f"\n7\n{ENCODED}\n"),
        ("checkpoint-origin", f"example.org\n7\n{ENCODED}\n"),
        ("checkpoint-origin", f"Example.org/a\n7\n{ENCODED}\n"),
        ("checkpoint-origin", f"example.org/a b\n7\n{ENCODED}\n"),
        ("checkpoint-origin", f"example.org/a+b\n7\n{ENCODED}\n"),
        ("checkpoint-origin", f"example.org//a\n7\n{ENCODED}\n"),
        ("checkpoint-origin", f"cosignature/v1:\n7\n{ENCODED}\n"),
        ("checkpoint-size", f"a/b\n0300\n{ENCODED}\n"),
        ("checkpoint-size", f"a/b\n+3\n{ENCODED}\n"),
        ("checkpoint-size", f"a/b\n-3\n{ENCODED}\n"),
        ("checkpoint-size", f"a/b\n{2**63}\n{ENCODED}\n"),
        ("checkpoint-size", f"a/b\n{2**64}\n{ENCODED}\n"),
        pytest.param("checkpoint-size", f"a/b\n{'9' * 5000}\n{ENCODED}\n", id="5000 digits"),
        ("checkpoint-size", f"a/b\n\n{ENCODED}\n"),
        ("checkpoint-size", f"a/b\n٣\n{ENCODED}\n"),
        ("checkpoint-size", f"a/b\n 3\n{ENCODED}\n"),
        ("checkpoint-root", f"a/b\n7\n{base64.encode(ROOT[:31])}\n"),
        ("checkpoint-root", f"a/b\n7\n{base64.encode(ROOT + b'!')}\n"),
        ("checkpoint-root", f"a/b\n7\n{ENCODED[:-2]}9=\n"),
        ("checkpoint-root", f"a/b\n7\n{ENCODED} \n"),
        ("checkpoint-extension", f"a/b\n7\n{ENCODED}\nextension\n"),
        ("checkpoint-extension", f"a/b\n7\n{ENCODED}\n\n"),
    ],
)
def test_parse_is_strict(code: str, text: str) -> None:
    with pytest.raises(CheckpointError) as caught:
        checkpoint.parse(text)
    assert caught.value.code == code


def test_origin_names_host_workspace_and_publisher() -> None:
    assert checkpoint.origin("example.org", "ws", "alice") == "example.org/ws/alice"
    for parts in (("", "w", "p"), ("h", "w/x", "p"), ("h", "w", "p q"), ("H", "w", "p")):
        with pytest.raises(CheckpointError):
            checkpoint.origin(*parts)


@pytest.mark.parametrize("start", ["DSSEv1 ", "SSHSIG", "cosignature/v1\n", "sha256:"])
def test_no_checkpoint_starts_like_another_signed_format(start: str) -> None:
    with pytest.raises(CheckpointError):
        checkpoint.parse(f"{start}{checkpoint.render(CHECKPOINT)}")


@pytest.mark.parametrize(
    "value",
    [
        Checkpoint("DSSEv1 /a", 7, ROOT),
        Checkpoint(CHECKPOINT.origin, -1, ROOT),
        Checkpoint(CHECKPOINT.origin, 2**63, ROOT),
        Checkpoint(CHECKPOINT.origin, 7, ROOT[1:]),
    ],
)
def test_what_would_not_read_back_is_not_rendered(value: Checkpoint) -> None:
    with pytest.raises(CheckpointError):
        checkpoint.render(value)


@pytest.mark.parametrize(
    ("relation", "other"),
    [
        ("equal", CHECKPOINT),
        ("newer", Checkpoint(CHECKPOINT.origin, 8, b"x" * 32)),
        ("older", Checkpoint(CHECKPOINT.origin, 6, ROOT)),
        ("forked", Checkpoint(CHECKPOINT.origin, 7, b"x" * 32)),
        ("other-log", Checkpoint("example.org/ws/bob", 7, ROOT)),
    ],
)
def test_compare(relation: str, other: Checkpoint) -> None:
    assert checkpoint.compare(CHECKPOINT, other) == relation


def test_cosignatures_pack_time_and_signature() -> None:
    data = cosignature.encode(1679315147, b"s" * 64)
    assert data == (1679315147).to_bytes(8, "big") + b"s" * 64
    assert cosignature.decode(data) == (1679315147, b"s" * 64)
    assert cosignature.message(5, b"text\n") == b"cosignature/v1\ntime 5\ntext\n"


def test_times_reach_to_the_end_of_the_format() -> None:
    for seconds in (0, 2**63 - 1):
        assert cosignature.decode(cosignature.encode(seconds, b"s" * 64)) == (seconds, b"s" * 64)
    assert cosignature.decode((2**63).to_bytes(8, "big") + b"s" * 64) is None


@pytest.mark.parametrize("data", [b"", b"x" * 71, b"x" * 73, b"\xff" * 72])
def test_cosignatures_of_another_form_are_none(data: bytes) -> None:
    assert cosignature.decode(data) is None


@pytest.mark.parametrize(("time", "size"), [(-1, 64), (2**63, 64), (1, 63)])
def test_encode_refuses_what_cannot_be_packed(time: int, size: int) -> None:
    with pytest.raises(ValueError, match="64 bytes"):
        cosignature.encode(time, b"s" * size)


def test_a_key_under_two_names_is_one_cosigner() -> None:
    def verified(name: str, public: bytes, time: int, kind: int = 4) -> Verified:
        verifier = Verifier(name, b"\0\0\0\0", kind, public, lambda _text, _signature: True)
        return Verified(
            verifier, NoteSignature(name, b"\0\0\0\0", cosignature.encode(time, b"s" * 64))
        )

    signatures = [
        verified("log", b"log", 1, kind=1),
        verified("w1", b"one", 10),
        verified("w2", b"one", 20),
        verified("w2", b"one", 15),
        verified("w3", b"three", 5),
    ]
    found = cosignature.cosigners(signatures)
    assert [(item.name, item.time) for item in found] == [("w1", 20), ("w3", 5)]
    others = cosignature.cosigners(signatures, other_than={b"one", b"log"})
    assert [item.name for item in others] == ["w3"]
