"""Private and public key files."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from syn.errors import Cause
from syn.keys import openssh, public
from syn.keys.openssh import KeyExistsError, KeyFileError, LooseKeyError
from syn.keys.public import PublicKeyError
from tests.support.proofs import private_key


def keygen(path: Path, *options: str) -> Path:
    subprocess.run(
        ["ssh-keygen", "-q", "-f", str(path), *options], check=True, stdin=subprocess.DEVNULL
    )
    return path


def test_save_and_load(tmp_path: Path) -> None:
    key = openssh.generate()
    openssh.save(key, tmp_path / "id", "alice  laptop\n")
    assert openssh.load(tmp_path / "id").public == key.public
    assert stat.S_IMODE((tmp_path / "id").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "id.pub").stat().st_mode) == 0o644
    line = (tmp_path / "id.pub").read_text()
    assert line == f"{key.public.line()} alice laptop\n"
    assert public.parse_line(line) == (key.public, "alice laptop")


def test_save_sets_the_mode_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o777)
    try:
        openssh.save(private_key(1), tmp_path / "id")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "id").stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["id", "id.pub"])
def test_save_never_overwrites(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to(tmp_path / "nowhere")
    with pytest.raises(KeyExistsError) as caught:
        openssh.save(private_key(1), tmp_path / "id")
    assert caught.value.code == "key-exists"
    assert sorted(item.name for item in tmp_path.iterdir()) == [name]


def test_save_into_a_missing_folder_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match="cannot write"):
        openssh.save(private_key(1), tmp_path / "none" / "id")


def test_generated_keys_differ() -> None:
    assert openssh.generate().public != openssh.generate().public


def test_a_secret_is_never_shown() -> None:
    key = private_key(7)
    assert "Ed25519PrivateKey" not in repr(key)
    assert "\\x07" not in repr(key)


def test_a_seed_has_32_bytes() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        openssh.from_seed(b"short")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o610, 0o677])
def test_loose_modes_are_refused_with_the_remedy(tmp_path: Path, mode: int) -> None:
    openssh.save(private_key(1), tmp_path / "id")
    (tmp_path / "id").chmod(mode)
    with pytest.raises(LooseKeyError) as caught:
        openssh.load(tmp_path / "id")
    assert caught.value.code == "key-mode"
    assert caught.value.cause is Cause.REFUSED
    assert f"{mode:04o}" in caught.value.message
    assert caught.value.remedy == f"chmod 600 {tmp_path / 'id'}"


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_tight_modes_are_accepted(tmp_path: Path, mode: int) -> None:
    openssh.save(private_key(1), tmp_path / "id")
    (tmp_path / "id").chmod(mode)
    assert openssh.load(tmp_path / "id").public == private_key(1).public


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_key_of_another_user_is_refused(tmp_path: Path) -> None:
    openssh.save(private_key(1), tmp_path / "id")
    os.chown(tmp_path / "id", 12345, -1)
    with pytest.raises(LooseKeyError, match="another user"):
        openssh.load(tmp_path / "id")


def test_what_is_no_plain_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(LooseKeyError, match="plain file"):
            openssh.load(path)


def test_a_missing_key_names_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError) as caught:
        openssh.load(tmp_path / "id")
    assert caught.value.code == "key-missing"
    assert "syn key init" in caught.value.remedy


def test_an_unreadable_path_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(KeyFileError) as caught:
        openssh.load(tmp_path / "loop")
    assert caught.value.code == "key-unreadable"


def test_a_passphrase_is_a_clear_error(tmp_path: Path) -> None:
    keygen(tmp_path / "id", "-t", "ed25519", "-N", "secret", "-a", "1")
    with pytest.raises(KeyFileError) as caught:
        openssh.load(tmp_path / "id")
    assert caught.value.code == "key-passphrase"
    assert caught.value.cause is Cause.CANNOT


@pytest.mark.parametrize("kind", [("ecdsa", "256"), ("rsa", "1024")])
def test_another_type_is_a_clear_error(tmp_path: Path, kind: tuple[str, str]) -> None:
    keygen(tmp_path / "id", "-t", kind[0], "-b", kind[1], "-N", "")
    with pytest.raises(KeyFileError) as caught:
        openssh.load(tmp_path / "id")
    assert caught.value.code == "key-type"
    with pytest.raises(PublicKeyError) as caught_public:
        public.parse_line((tmp_path / "id.pub").read_text())
    assert caught_public.value.code == "key-type"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"-----BEGIN OPENSSH PRIVATE KEY-----\n",
        b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        openssh.render(private_key(1))[:-60],
        openssh.render(private_key(1)).replace(b"b3Blb", b"b3Blc"),
        b"\n" + openssh.render(private_key(1)),
    ],
)
def test_damaged_files_are_refused(data: bytes) -> None:
    with pytest.raises(KeyFileError) as caught:
        openssh.parse(data)
    assert caught.value.code == "key-form"


def test_an_oversized_file_is_refused() -> None:
    with pytest.raises(KeyFileError):
        openssh.parse(openssh.render(private_key(1)) + b"\n" * openssh.MAX_FILE)


LINE = private_key(1).public.line()


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("key-form", ""),
        ("key-form", "ssh-ed25519"),
        ("key-form", f"{LINE[:-1]}="),
        ("key-form", "ssh-ed25519 AAAA"),
        ("key-form", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAAA=="),
        ("key-form", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA=="),
        ("key-type", "ssh-ed25519 AAAAB3NzaC1yc2EAAAAA"),
        ("key-type", f"ssh-rsa {LINE.split()[1]}"),
        ("key-type", f"command {LINE}"),
    ],
)
def test_public_lines_are_read_strictly(code: str, line: str) -> None:
    with pytest.raises(PublicKeyError) as caught:
        public.parse_line(line)
    assert caught.value.code == code


def test_a_blob_with_trailing_bytes_is_refused() -> None:
    with pytest.raises(PublicKeyError, match="after the end"):
        public.from_blob(private_key(1).public.blob + b"\0")


def test_verify_takes_64_bytes_of_this_key() -> None:
    key = private_key(1)
    signature = key.sign(b"message")
    assert key.public.verify(b"message", signature)
    assert not key.public.verify(b"other", signature)
    for other in (signature + b"\0", signature[:-1], b"", signature[:32] + b"\xff" * 32):
        assert not key.public.verify(b"message", other)
    assert not private_key(2).public.verify(b"message", signature)
