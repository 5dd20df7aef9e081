"""SSH signatures: what is refused, and why."""

import base64
from collections.abc import Callable

import pytest

from syn.errors import Cause, SynError
from syn.keys import sshsig
from syn.keys.sshsig import SshSignatureError, UnsupportedSignatureError
from syn.keys.wire import Reader, string, uint32
from tests.support.proofs import private_key

KEY = private_key(1)
MESSAGE = b"tree 0\n\nmessage\n"
ARMORED = sshsig.sign(KEY, MESSAGE, "git").encode()
BEGIN, END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"


def armor(blob: bytes, width: int = 70) -> bytes:
    text = base64.b64encode(blob).decode()
    lines = [text[start : start + width] for start in range(0, len(text), width)]
    return "\n".join((BEGIN, *lines, END, "")).encode()


def blob(**changed: bytes) -> bytes:
    """The fields of the good signature, some of them changed."""
    reader = Reader(base64.b64decode("".join(ARMORED.decode().split("\n")[1:-2])))
    fields = {
        "magic": reader.take(6),
        "version": reader.take(4),
        "key": string(reader.string()),
        "namespace": string(reader.string()),
        "reserved": string(reader.string()),
        "hash": string(reader.string()),
        "signature": string(reader.string()),
        "rest": b"",
    }
    return b"".join((fields | changed).values())


def inner(kind: bytes = b"ssh-ed25519", size: int = 64, rest: bytes = b"") -> bytes:
    return string(string(kind) + string(b"s" * size) + rest)


@pytest.mark.parametrize("namespace", ["git", "synapse-report"])
@pytest.mark.parametrize("hash_name", ["sha256", "sha512"])
def test_sign_and_verify(namespace: str, hash_name: sshsig.HashName) -> None:
    armored = sshsig.sign(KEY, MESSAGE, namespace, hash_name).encode()
    assert sshsig.verify(armored, MESSAGE, namespace) == KEY.public
    assert sshsig.parse(armored).hash_name == hash_name


@pytest.mark.parametrize("width", [1, 64, 70, 76])
def test_any_even_width_is_read(width: int) -> None:
    assert sshsig.verify(armor(blob(), width), MESSAGE, "git") == KEY.public
    assert sshsig.verify(armor(blob(), width)[:-1], MESSAGE, "git") == KEY.public


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        ("sshsig-form", {"magic": b"SSHSIx"}),
        ("sshsig-version", {"version": uint32(0)}),
        ("sshsig-version", {"version": uint32(2)}),
        ("sshsig-form", {"key": string(b"")}),
        ("sshsig-form", {"key": string(KEY.public.blob + b"\0")}),
        ("sshsig-form", {"key": string(string(b"ssh-ed25519") + string(b"k" * 31))}),
        ("sshsig-namespace", {"namespace": string(b"")}),
        ("sshsig-namespace", {"namespace": string(b"git\0")}),
        ("sshsig-namespace", {"namespace": string("gît".encode())}),
        ("sshsig-namespace", {"namespace": string(b"file")}),
        ("sshsig-form", {"reserved": string(b"x")}),
        ("sshsig-hash", {"hash": string(b"md5")}),
        ("sshsig-hash", {"hash": string(b"sha1")}),
        ("sshsig-hash", {"hash": string(b"SHA512")}),
        ("sshsig-hash", {"hash": string(b"")}),
        ("sshsig-bad", {"hash": string(b"sha256")}),
        ("sshsig-form", {"signature": inner(b"ssh-rsa")}),
        ("sshsig-form", {"signature": inner(size=63)}),
        ("sshsig-form", {"signature": inner(size=65)}),
        ("sshsig-form", {"signature": inner(rest=b"\0")}),
        ("sshsig-form", {"signature": string(b"")}),
        ("sshsig-bad", {"signature": inner()}),
        ("sshsig-bad", {"key": string(private_key(2).public.blob)}),
        ("sshsig-form", {"rest": b"\0"}),
        ("sshsig-form", {"signature": b""}),
        ("sshsig-form", {"signature": uint32(2**32 - 1)}),
    ],
)
def test_a_changed_blob_fails_with_its_reason(code: str, changed: dict[str, bytes]) -> None:
    with pytest.raises(SshSignatureError) as caught:
        sshsig.verify(armor(blob(**changed)), MESSAGE, "git")
    assert caught.value.code == code
    assert caught.value.cause is Cause.REFUSED


@pytest.mark.parametrize("namespace", [b"", b"git\0", b"git\n", b"\xff", "gît".encode()])
def test_a_namespace_is_printable_ascii(namespace: bytes) -> None:
    with pytest.raises(SshSignatureError, match="printable"):
        sshsig.parse(armor(blob(namespace=string(namespace))))


def test_lines_have_one_width() -> None:
    text = base64.b64encode(blob()).decode()
    for cuts in ((60, 130), (70, 139), (70, 141)):
        lines = (text[: cuts[0]], text[cuts[0] : cuts[1]], text[cuts[1] :])
        with pytest.raises(SshSignatureError, match="one width"):
            sshsig.parse("\n".join((BEGIN, *lines, END)).encode())


@pytest.mark.parametrize(
    "kind", [b"ssh-rsa", b"ecdsa-sha2-nistp256", b"sk-ssh-ed25519@openssh.com"]
)
def test_another_key_type_is_not_verified_and_not_accused(kind: bytes) -> None:
    with pytest.raises(UnsupportedSignatureError) as caught:
        sshsig.verify(armor(blob(key=string(string(kind) + string(b"k")))), MESSAGE, "git")
    assert caught.value.code == "sshsig-unsupported"
    assert caught.value.cause is Cause.CANNOT


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("sshsig-armor", lambda text: ""),
        ("sshsig-armor", lambda text: f"\n{text}"),
        ("sshsig-armor", lambda text: f"{text}\n"),
        ("sshsig-armor", lambda text: f"{text}junk"),
        ("sshsig-armor", lambda text: text + text),
        ("sshsig-armor", lambda text: f"junk\n{text}"),
        ("sshsig-armor", lambda text: text.replace(BEGIN, f"{BEGIN} ")),
        ("sshsig-armor", lambda text: text.replace(END, "")),
        ("sshsig-armor", lambda text: text.replace("\n", "\r\n")),
        ("sshsig-armor", lambda text: text.replace("U1NIU0lH", "U1NIU0l H")),
        ("sshsig-armor", lambda text: text.replace("U1NIU0lH", "U1NIU0lH\n\n")),
        ("sshsig-armor", lambda text: text.replace("U1NIU0lH", "U1NIU0lH\n")),
        ("sshsig-armor", lambda text: text.replace("U1NIU0lH", "U1NIU0l=")),
        ("sshsig-armor", lambda text: text.replace("U1NIU0lH", "U1NIU0_-")),
        ("sshsig-armor", lambda text: f"{BEGIN}\n{END}\n"),
        ("sshsig-armor", lambda text: text.replace("U1NIU0lH", "é")),
        ("sshsig-armor", lambda text: armor(blob(), 77).decode()),
        ("sshsig-limit", lambda text: text + "x" * sshsig.MAX_BYTES),
        ("sshsig-form", lambda text: armor(blob()[:5]).decode()),
    ],
)
def test_a_changed_armor_fails_with_its_reason(code: str, change: Callable[[str], str]) -> None:
    with pytest.raises(SynError) as caught:
        sshsig.verify(change(ARMORED.decode()).encode(), MESSAGE, "git")
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("kind", "signature"),
    [
        ("ssh", ARMORED),
        ("openpgp", b"-----BEGIN PGP SIGNATURE-----\n\nx"),
        ("openpgp", b"-----BEGIN PGP MESSAGE-----\n"),
        ("x509", b"-----BEGIN SIGNED MESSAGE-----\n"),
        ("unknown", b""),
        ("unknown", b"-----BEGIN SSH SIGNATURE----- \n"),
        ("unknown", b"\n-----BEGIN SSH SIGNATURE-----\n"),
    ],
)
def test_kinds_of_signatures_are_told_apart(kind: str, signature: bytes) -> None:
    assert sshsig.kind_of(signature) == kind


def test_another_message_fails() -> None:
    with pytest.raises(SshSignatureError) as caught:
        sshsig.verify(ARMORED, MESSAGE + b"x", "git")
    assert caught.value.code == "sshsig-bad"


def test_the_usual_form_is_read_as_any_other() -> None:
    """The pattern for commits and the field-by-field reader agree, on good and damaged bytes."""
    key = private_key(4)
    names: tuple[sshsig.HashName, ...] = ("sha256", "sha512")
    for hash_name in names:
        armored = sshsig.sign(key, b"message", "git", hash_name).encode()
        blob = sshsig._dearmor(armored)
        assert sshsig.parse(armored) == sshsig._parse_slowly(blob)
        for at in range(len(blob)):
            changed = blob[:at] + bytes([blob[at] ^ 1]) + blob[at + 1 :]
            usual = sshsig._USUAL.match(changed)
            if usual is not None:
                read = sshsig._parse_slowly(changed)
                assert (read.key.raw, read.signature) == (usual[1], usual[3])
