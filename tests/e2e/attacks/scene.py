"""What the attacks of `cases.toml` do, by name, to a copy of a published workspace."""

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from syn.canon import base64, checkpoint, cosignature, merkle, tlogproof
from syn.canon import note as notes
from syn.canon.checkpoint import Checkpoint
from syn.canon.note import Note, NoteSignature
from syn.canon.tlogproof import TlogProof
from syn.git.parse import add_signature
from syn.keys import openssh, sshsig
from syn.keys.openssh import PrivateKey
from syn.keys.signing import note_signer
from syn.ledger.entry import Defect, decode, encode, entry_hash, genesis
from syn.model.ledger import Entry
from tests.support.inside import done
from tests.support.parties import Parties, edit, git, party
from tests.support.proofs import private_key
from tests.support.workspaces import Place, make_workspace

PGP = "-----BEGIN PGP SIGNATURE-----\n\niQEzBAABCAAdFiEE\n=abcd\n-----END PGP SIGNATURE-----\n"


class Base:
    """Made once: a workspace whose owner published, and everything that a copy starts from."""

    def __init__(self, folder: Path) -> None:
        self.parties = Parties(folder)
        owner = self.parties.owner
        edit(owner, "# Plain\n\nA second decision.\n")
        done(owner, "checkpoint")
        self.first = self.parties.witness
        self.second = folder / "second.tlog-proof"
        done(owner, "witness", "publish", "-o", str(self.second))
        self.root = git(owner, "rev-parse", "HEAD~3")


class Scene:
    """One copy, and what is asked about it."""

    def __init__(self, base: Base, folder: Path) -> None:
        self.folder = folder
        self.base = base
        root = folder / "ws"
        shutil.copytree(base.parties.owner.root, root, symlinks=True)
        self.owner = party(folder, "owner", root)
        shutil.copytree(
            base.parties.owner.env["SYNAPSE_CONFIG_DIR"], self.owner.env["SYNAPSE_CONFIG_DIR"]
        )
        self.key = folder / "owner.pub"
        shutil.copy(base.parties.key, self.key)
        self.first = folder / "first.tlog-proof"
        shutil.copy(base.first, self.first)
        self.witness = folder / "witness.tlog-proof"
        shutil.copy(base.second, self.witness)
        self.cosigner = folder / "cosigner.vkey"
        self.inside = root / "owner.pub"

    def asked(self, words: list[str]) -> list[str]:
        """The words of a question with this scene's files in their places."""
        named = {
            "witness": self.witness,
            "first": self.first,
            "key": self.key,
            "cosigner": self.cosigner,
            "inside": self.inside,
            "root": self.base.root,
        }
        return [word.format(**named) for word in words]

    @property
    def root(self) -> Path:
        """The work tree."""
        return self.owner.root

    @property
    def real_key(self) -> PrivateKey:
        """The owner's key, in a thief's hands."""
        return openssh.load(Path(self.owner.env["SYNAPSE_CONFIG_DIR"]) / "keys/identity")

    # The ledger

    @property
    def segment(self) -> Path:
        """The owner's first segment."""
        found = sorted((self.root / ".synapse/ledger").glob("*/000001.jsonl"))
        return max(found, key=lambda path: path.stat().st_size)

    def lines(self, change: Callable[[list[bytes]], list[bytes]]) -> None:
        """Rewrite the segment's lines."""
        lines = self.segment.read_bytes().splitlines(keepends=True)
        self.segment.write_bytes(b"".join(change(lines)))

    def entries(self) -> list[Entry]:
        """The segment, read."""
        found = [decode(line) for line in self.segment.read_bytes().splitlines()]
        return [item[1] for item in found if not isinstance(item, Defect)]

    # Commits

    def commit(self, *words: str, key: int | None = None, **env: str) -> str:
        """Commit everything; with a key through git's own SSH signing."""
        git(self.owner, "add", "-A")
        options: list[str] = []
        if key is not None:
            path = self.folder / f"key-{key}"
            if not path.exists():
                openssh.save(private_key(key), path)
            options = ["-c", "gpg.format=ssh", "-c", f"user.signingKey={path}.pub"]
        signed = ["-S"] if key is not None else []
        message = ["-m", "by hand"]
        git(self.owner, *options, "commit", "-q", "--allow-empty", *signed, *message, *words, **env)
        return git(self.owner, "rev-parse", "HEAD")

    def raw_commit(self, change: Callable[[bytes], bytes]) -> None:
        """Replace HEAD by a commit with other bytes."""
        raw = subprocess.run(
            ["git", "cat-file", "commit", "HEAD"],
            cwd=self.root,
            env=self.owner.env,
            capture_output=True,
            check=True,
        ).stdout
        made = subprocess.run(
            ["git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally"],
            cwd=self.root,
            env=self.owner.env,
            input=change(raw),
            capture_output=True,
            check=True,
        ).stdout.decode()
        git(self.owner, "update-ref", "HEAD", made.strip())

    # Witnesses

    def proof(self, change: Callable[[TlogProof], TlogProof]) -> None:
        """Rewrite the witness as a file."""
        found = tlogproof.parse(self.witness.read_bytes())
        self.witness.write_bytes(tlogproof.render(change(found)))

    def text(self, change: Callable[[str], str]) -> None:
        """Rewrite the checkpoint's text and sign it with the real key, whatever it says."""
        found = tlogproof.parse(self.witness.read_bytes())
        origin = checkpoint.parse(found.note.text).origin
        text = change(found.note.text)
        signer = note_signer(self.real_key, origin)
        signature = NoteSignature(origin, signer.key_id, signer.sign(text.encode()))
        note = notes.render(Note(text, (signature,)))
        head, _, _ = self.witness.read_bytes().partition(b"\n\n")
        self.witness.write_bytes(head + b"\n\n" + note)


Action = Callable[[Scene], None]
ACTIONS: dict[str, Action] = {}


def action(function: Action) -> Action:
    """Name a function as `cases.toml` does."""
    ACTIONS[function.__name__.strip("_").replace("_", "-")] = function
    return function


@action
def flip_entry(scene: Scene) -> None:
    data = bytearray(scene.segment.read_bytes())
    data[data.index(b'"actor":"') + 10] ^= 1
    scene.segment.write_bytes(bytes(data))


@action
def delete_entry(scene: Scene) -> None:
    scene.lines(lambda lines: lines[:1] + lines[2:])


@action
def swap_entries(scene: Scene) -> None:
    scene.lines(lambda lines: [lines[0], lines[2], lines[1], *lines[3:]])


@action
def double_entry(scene: Scene) -> None:
    scene.lines(lambda lines: [*lines, lines[-1]])


@action
def copy_segment(scene: Scene) -> None:
    lines = scene.segment.read_bytes().splitlines(keepends=True)
    scene.segment.with_name("000002.jsonl").write_bytes(lines[1])


@action
def tear_tail(scene: Scene) -> None:
    data = scene.segment.read_bytes()
    newest = max(
        (scene.root / ".synapse/ledger").glob("*/*.jsonl"), key=lambda p: p.stat().st_mtime
    )
    data = newest.read_bytes()
    newest.write_bytes(data + data[: len(data) // 3].rstrip(b"\n"))


@action
def cut_last_line(scene: Scene) -> None:
    scene.segment.write_bytes(scene.segment.read_bytes()[:-20])
    scene.commit()


@action
def delete_segment(scene: Scene) -> None:
    scene.segment.unlink()


@action
def rechain(scene: Scene) -> None:
    """Change the first entry and compute every hash after it anew, without signatures."""
    config = (scene.root / "synapse.toml").read_text("utf-8")
    workspace = next(line.split('"')[1] for line in config.splitlines() if line.startswith("id"))
    prev, lines = "", []
    for number, entry in enumerate(scene.entries()):
        changed = replace(
            entry,
            prev=prev or genesis(workspace, entry.writer),
            actor="Somebody Else <else@example.org>" if number == 0 else entry.actor,
            key="",
            sig="",
            after=(),
            prior=(),
        )
        if entry.after:
            changed = replace(changed, after=entry.after, prior=entry.prior)
        prev = entry_hash(changed)
        lines.append(encode(changed) + b"\n")
    scene.segment.write_bytes(b"".join(lines))


@action
def equivocate(scene: Scene) -> None:
    last = scene.entries()[-1]
    other = replace(last, actor="Another Past <past@example.org>", key="", sig="")
    scene.lines(lambda lines: [*lines, encode(other) + b"\n"])


@action
def foreign_prev(scene: Scene) -> None:
    first = scene.entries()[0]
    other = replace(
        first,
        writer="intruder",
        prev=entry_hash(first),
        key="",
        sig="",
        batch="",
        after=(),
        prior=(),
    )
    folder = scene.root / ".synapse/ledger/intruder"
    folder.mkdir()
    (folder / "000001.jsonl").write_bytes(encode(other) + b"\n")


@action
def double_member(scene: Scene) -> None:
    scene.lines(lambda lines: [lines[0].replace(b'"v":1', b'"v":1,"v":1'), *lines[1:]])


@action
def respell_entry(scene: Scene) -> None:
    scene.lines(lambda lines: [lines[0].replace(b'"v":1', b'"v": 1'), *lines[1:]])


@action
def crlf_ledger(scene: Scene) -> None:
    scene.segment.write_bytes(scene.segment.read_bytes().replace(b"\n", b"\r\n"))


@action
def union_merge(scene: Scene) -> None:
    """What `merge=union` makes of two pasts of one writer: their lines, one after the other."""
    other = replace(scene.entries()[1], actor="Another Past <past@example.org>", key="", sig="")
    scene.lines(lambda lines: [*lines[:2], encode(other) + b"\n", *lines[2:]])


@action
def decide(scene: Scene) -> None:
    edit(scene.owner, f"# Plain\n\nDecided in {scene.folder.name}.\n")


def _decide_at(scene: Scene, now: str) -> None:
    (scene.root / "facts/limit.md").write_text(f"---\nid: limit\n---\nAt {now}.\n")
    done(Place(scene.root, {**scene.owner.env, "SYNAPSE_NOW": now}), "adopt", "--yes")


@action
def decide_in_the_past(scene: Scene) -> None:
    decide(scene)
    _decide_at(scene, "2001-01-01T00:00:00Z")


@action
def decide_in_the_future(scene: Scene) -> None:
    _decide_at(scene, "2199-01-01T00:00:00Z")


# Publishing


@action
def checkpoint_(scene: Scene) -> None:
    done(scene.owner, "checkpoint", "--take-over")


@action
def publish(scene: Scene) -> None:
    done(scene.owner, "witness", "publish", "-o", str(scene.witness))


@action
def pin(scene: Scene) -> None:
    done(scene.owner, "witness", "pin", str(scene.witness), "--trust", str(scene.key))


@action
def reset_one(scene: Scene) -> None:
    git(scene.owner, "reset", "-q", "--hard", "HEAD~1")


@action
def reset_two(scene: Scene) -> None:
    git(scene.owner, "reset", "-q", "--hard", "HEAD~2")


@action
def start_over(scene: Scene) -> None:
    """The same content as another history, with real keys and real signatures."""
    shutil.rmtree(scene.root / ".git")
    for name in ("ledger", "heads"):
        shutil.rmtree(scene.root / ".synapse" / name)
    for name in ("policy", "index.db"):
        (scene.root / ".synapse" / name).unlink(missing_ok=True)
    git(scene.owner, "init", "-q", "--initial-branch=main")
    (scene.root / "facts/plain.md").write_text("# Plain\n\nIt was always like this.\n")
    git(scene.owner, "add", ".gitattributes", "synapse.toml", ".synapse/.gitignore", "facts")
    git(scene.owner, "commit", "-q", "-m", "start")
    done(scene.owner, "adopt", "--yes")
    done(scene.owner, "key", "init", "--name", "owner")
    for text in ("One.\n", "Two.\n"):
        edit(scene.owner, text)
        done(scene.owner, "checkpoint", "--host", "memory.example")


# Witness files


def _leaf_signed(scene: Scene, leaf: bytes, size: int) -> TlogProof:
    """A witness of a log that ends with this leaf, by the real key."""
    found = tlogproof.parse(scene.witness.read_bytes())
    origin = checkpoint.parse(found.note.text).origin
    first = tlogproof.parse(scene.first.read_bytes()).extra
    assert first is not None
    leaves = [first, leaf]
    hashes = [merkle.leaf_hash(item) for item in leaves]
    text = checkpoint.render(Checkpoint(origin, size, merkle.root(leaves)))
    note = notes.sign(text, (note_signer(scene.real_key, origin),))
    return TlogProof(leaf, size - 1, merkle.inclusion_proof(hashes, size - 1), note)


def _extra(scene: Scene) -> bytes:
    extra = tlogproof.parse(scene.witness.read_bytes()).extra
    assert extra is not None
    return extra


@action
def fork_witness(scene: Scene) -> None:
    leaf = _extra(scene).replace(b'"projection":1', b'"projection":2')
    scene.witness.write_bytes(tlogproof.render(_leaf_signed(scene, leaf, 2)))


@action
def foreign_witness(scene: Scene) -> None:
    other = make_workspace(scene.folder / "other")
    place = party(scene.folder, "owner", other.root)
    done(place, "key", "init", "--name", "owner")
    done(place, "checkpoint", "--host", "memory.example")
    done(place, "witness", "publish", "-o", str(scene.witness))


@action
def unknown_key(scene: Scene) -> None:
    scene.key.write_text(private_key(9).public.line() + "\n")


def _signed_lines(scene: Scene, *added: NoteSignature) -> None:
    scene.proof(lambda p: TlogProof(p.extra, p.index, p.hashes, Note(p.note.text, added)))


@action
def bad_beside_unknown(scene: Scene) -> None:
    note = tlogproof.parse(scene.witness.read_bytes()).note
    known = note.signatures[0]
    flipped = bytes([known.signature[0] ^ 1]) + known.signature[1:]
    bad = NoteSignature(known.name, known.key_id, flipped)
    stranger = notes.sign(note.text, (note_signer(private_key(9), "stranger.example/x"),))
    _signed_lines(scene, stranger.signatures[0], bad)


@action
def key_id_collision(scene: Scene) -> None:
    note = tlogproof.parse(scene.witness.read_bytes()).note
    known = note.signatures[0]
    other = private_key(9).sign(note.text.encode())
    _signed_lines(scene, NoteSignature(known.name, known.key_id, other))


@action
def key_inside(scene: Scene) -> None:
    shutil.copy(scene.key, scene.inside)


def _line(number: int, change: Callable[[str], str]) -> Callable[[str], str]:
    def apply(text: str) -> str:
        lines = text.split("\n")
        lines[number] = change(lines[number])
        return "\n".join(lines)

    return apply


@action
def size_0300(scene: Scene) -> None:
    scene.text(_line(1, lambda _: "02"))


@action
def size_plus(scene: Scene) -> None:
    scene.text(_line(1, lambda size: f"+{size}"))


@action
def size_2_64(scene: Scene) -> None:
    scene.text(_line(1, lambda _: str(2**64)))


@action
def size_zero(scene: Scene) -> None:
    root = base64.encode(merkle.EMPTY_ROOT)
    scene.text(lambda text: f"{text.splitlines()[0]}\n0\n{root}\n")


@action
def root_31(scene: Scene) -> None:
    scene.text(_line(2, lambda root: base64.encode((base64.decode(root) or b"")[:31])))


@action
def root_spelling(scene: Scene) -> None:
    """The last character before the padding carries two bits that nothing uses."""
    scene.text(_line(2, lambda root: root[:-2] + _next(root[-2]) + "="))


def _next(character: str) -> str:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return alphabet[alphabet.index(character) ^ 1]


@action
def extension(scene: Scene) -> None:
    scene.proof(
        lambda p: TlogProof(
            p.extra, p.index, p.hashes, Note(p.note.text + "more\n", p.note.signatures)
        )
    )


@action
def signed_extension(scene: Scene) -> None:
    scene.text(lambda text: text + "more\n")


@action
def other_extra(scene: Scene) -> None:
    scene.proof(
        lambda p: TlogProof(
            _extra(scene).replace(b'"projection":1', b'"projection":2'), p.index, p.hashes, p.note
        )
    )


@action
def proof_65(scene: Scene) -> None:
    scene.proof(lambda p: TlogProof(p.extra, p.index, (b"\0" * 32,) * 65, p.note))


@action
def two_mebibytes(scene: Scene) -> None:
    scene.proof(lambda p: TlogProof(b"x" * (3 << 19), p.index, p.hashes, p.note))


def _cosign(scene: Scene, place: Place, name: str) -> None:
    given = ("--trust", str(scene.key), "--name", name)
    done(place, "witness", "cosign", str(scene.witness), *given)
    scene.cosigner.write_text(done(place, "key", "export", "--cosigner", name).out)


@action
def cosign(scene: Scene) -> None:
    auditor = party(scene.folder, "auditor", scene.root)
    done(auditor, "key", "init", "--no-policy")
    _cosign(scene, auditor, "auditor.example/w")


@action
def cosign_by_publisher(scene: Scene) -> None:
    _cosign(scene, scene.owner, "another.example/name")


@action
def retime(scene: Scene) -> None:
    note = tlogproof.parse(scene.witness.read_bytes()).note
    *others, last = note.signatures
    decoded = cosignature.decode(last.signature)
    assert decoded is not None
    later = cosignature.encode(decoded[0] + 86_400, decoded[1])
    _signed_lines(scene, *others, NoteSignature(last.name, last.key_id, later))


# Git


@action
def commit_(scene: Scene) -> None:
    scene.commit()


@action
def amend(scene: Scene) -> None:
    """Another commit in the place of the one that the witness names, the later ones on top."""
    head = git(scene.owner, "rev-parse", "HEAD")
    git(scene.owner, "reset", "-q", "--hard", "HEAD~1")
    git(scene.owner, "commit", "-q", "--amend", "-m", "the same, said otherwise")
    git(scene.owner, "cherry-pick", "--allow-empty", head)


@action
def rewrite_signed(scene: Scene) -> None:
    """Every commit since the root made anew with its own tree and a real signature."""
    identity = Path(scene.owner.env["SYNAPSE_CONFIG_DIR"]) / "keys/identity.pub"
    commits = git(scene.owner, "rev-list", "--reverse", f"{scene.base.root}..HEAD").split()
    git(scene.owner, "reset", "-q", "--hard", scene.base.root)
    for commit in commits:
        git(scene.owner, "read-tree", "-u", "--reset", commit)
        git(
            scene.owner,
            *("-c", "gpg.format=ssh", "-c", f"user.signingKey={identity}"),
            *("commit", "-q", "-S", "-m", "made anew"),
        )


@action
def branch(scene: Scene) -> None:
    git(scene.owner, "switch", "-q", "-c", "other")


@action
def shallow(scene: Scene) -> None:
    root = scene.folder / "shallow"
    subprocess.run(
        ["git", "clone", "-q", "--depth=1", scene.root.as_uri(), str(root)],
        check=True,
        env=scene.owner.env,
    )
    scene.owner = party(scene.folder, "owner", root)


@action
def partial(scene: Scene) -> None:
    git(scene.owner, "config", "uploadpack.allowFilter", "true")
    root = scene.folder / "partial"
    subprocess.run(
        ["git", "clone", "-q", "--bare", "--filter=blob:none", scene.root.as_uri(), str(root)],
        check=True,
        env=scene.owner.env,
    )
    scene.owner = party(scene.folder, "owner", root)


@action
def replace_ref(scene: Scene) -> None:
    """Git is told that HEAD is a commit without parents."""
    tree = git(scene.owner, "rev-parse", "HEAD^{tree}")
    orphan = git(scene.owner, "commit-tree", "-m", "orphan", tree)
    git(scene.owner, "replace", "HEAD", orphan)


@action
def graft(scene: Scene) -> None:
    """Git is told that the new history's first commit descends from the witnessed one."""
    first = git(scene.owner, "rev-list", "--max-parents=0", "HEAD")
    commit = json.loads(_extra(scene))["commit"]
    info = scene.root / ".git/info"
    info.mkdir(exist_ok=True)
    (info / "grafts").write_text(f"{first} {commit}\n")


@action
def swap_object(scene: Scene) -> None:
    """The bytes of one fact's blob under the id of another."""
    ids = [git(scene.owner, "rev-parse", f"HEAD:facts/{name}.md") for name in ("limit", "plain")]
    here, other = (scene.root / ".git/objects" / i[:2] / i[2:] for i in ids)
    for path in (here, other):
        assert path.exists()
    here.chmod(0o644)
    here.write_bytes(other.read_bytes())
    scene.owner = party(scene.folder, "owner", _bare(scene))


def _bare(scene: Scene) -> Path:
    root = scene.folder / "bare.git"
    shutil.copytree(scene.root / ".git", root)
    subprocess.run(
        ["git", "config", "core.bare", "true"], cwd=root, check=True, env=scene.owner.env
    )
    return root


@action
def sha256_repository(scene: Scene) -> None:
    root = scene.folder / "sha256"
    root.mkdir()
    scene.owner = party(scene.folder, "owner", root)
    git(scene.owner, "init", "-q", "--object-format=sha256")
    shutil.copy(scene.base.parties.owner.root / "synapse.toml", root)


@action
def commit_unsigned(scene: Scene) -> None:
    scene.commit()


@action
def commit_by_stranger(scene: Scene) -> None:
    scene.commit(key=9)


def _bob(scene: Scene, state: str = "") -> None:
    path = scene.folder / "bob.pub"
    path.write_text(private_key(2).public.line() + "\n")
    if state:
        done(scene.owner, "policy", state, "bob")
    else:
        done(scene.owner, "policy", "add", "bob", str(path))


@action
def add_bob(scene: Scene) -> None:
    _bob(scene)


@action
def retire_bob(scene: Scene) -> None:
    _bob(scene, "retire")


@action
def compromise_bob(scene: Scene) -> None:
    _bob(scene, "compromise")


@action
def commit_by_bob(scene: Scene) -> None:
    (scene.root / "notes.txt").write_text("bob was here\n")
    scene.commit(key=2)


@action
def commit_by_bob_backdated(scene: Scene) -> None:
    old = "2001-01-01T00:00:00Z"
    scene.commit(key=2, GIT_COMMITTER_DATE=old, GIT_AUTHOR_DATE=old)


@action
def side_branch(scene: Scene) -> None:
    git(scene.owner, "branch", "side")


@action
def side_branch_by_bob(scene: Scene) -> None:
    git(scene.owner, "switch", "-q", "-c", "side")
    commit_by_bob(scene)
    git(scene.owner, "switch", "-q", "main")


def _merge(scene: Scene, key: Path) -> None:
    options = ("-c", "gpg.format=ssh", "-c", f"user.signingKey={key}")
    git(scene.owner, *options, "merge", "-q", "--no-ff", "-S", "-m", "merge", "side")


@action
def merge_side(scene: Scene) -> None:
    _merge(scene, Path(scene.owner.env["SYNAPSE_CONFIG_DIR"]) / "keys/identity.pub")


@action
def merge_side_by_bob(scene: Scene) -> None:
    git(scene.owner, "switch", "-q", "side")
    identity = Path(scene.owner.env["SYNAPSE_CONFIG_DIR"]) / "keys/identity.pub"
    options = ("-c", "gpg.format=ssh", "-c", f"user.signingKey={identity}")
    git(scene.owner, *options, "commit", "-q", "-S", "--allow-empty", "-m", "on the side")
    git(scene.owner, "switch", "-q", "main")
    key = scene.folder / "key-2"
    openssh.save(private_key(2), key)
    _merge(scene, key.with_name("key-2.pub"))


@action
def self_admit(scene: Scene) -> None:
    policy = scene.root / ".synapse/policy"
    line = f'eve roles="admin,writer",state="active" {private_key(7).public.line()}\n'
    policy.write_text(policy.read_text("utf-8") + line, "utf-8")
    scene.commit(key=7)


@action
def commit_by_pgp(scene: Scene) -> None:
    scene.commit()
    scene.raw_commit(lambda raw: add_signature(raw, PGP))


@action
def garbage_policy(scene: Scene) -> None:
    (scene.root / ".synapse/policy").write_text("everybody may do anything\n")
    scene.commit()


@action
def no_policy(scene: Scene) -> None:
    (scene.root / ".synapse/policy").unlink()
    scene.commit()


@action
def hostile_config(scene: Scene) -> None:
    """Programs that call everything good, and leave a mark when they are run."""
    marker = scene.folder / "was-run"
    program = scene.folder / "good"
    program.write_text(f'#!/bin/sh\ntouch {marker}\necho "Good \\"git\\" signature for alice"\n')
    program.chmod(0o755)
    for name in ("gpg.ssh.program", "gpg.program", "core.fsmonitor", "core.sshCommand"):
        git(scene.owner, "config", name, str(program))
    hooks = scene.root / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "pre-commit", "reference-transaction"):
        shutil.copy(program, hooks / name)
    marker.unlink(missing_ok=True)


@action
def commit_namespace_file(scene: Scene) -> None:
    scene.commit()
    scene.raw_commit(lambda raw: add_signature(raw, sshsig.sign(scene.real_key, raw, "file")))


@action
def commit_extra_header(scene: Scene) -> None:
    scene.commit()
    scene.raw_commit(
        lambda raw: add_signature(raw, sshsig.sign(scene.real_key, raw, "git")).replace(
            b"\n\n", b"\ngpgsigfoo junk\n\n", 1
        )
    )


# Files, index, receipts


@action
def edit_fact(scene: Scene) -> None:
    path = scene.root / "facts/owner-2.md"
    path.write_text(path.read_text("utf-8").replace("checkout", "ledger"), "utf-8")


@action
def edit_row(scene: Scene) -> None:
    import sqlite3

    done(scene.owner, "reindex")
    connection = sqlite3.connect(scene.root / ".synapse/index.db")
    connection.execute("UPDATE fact SET value = 'ledger' WHERE id = 'owner-2'")
    connection.commit()
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


@action
def symlink_fact(scene: Scene) -> None:
    path = scene.root / "facts/limit.md"
    path.unlink()
    path.symlink_to("plain.md")


@action
def twin(scene: Scene) -> None:
    (scene.root / "facts/LIMIT.md").write_text("---\nid: twin\n---\nTwin.\n")


@action
def reopen(scene: Scene) -> None:
    path = scene.root / "facts/owner-1.md"
    kept = [
        line
        for line in path.read_text("utf-8").splitlines(keepends=True)
        if not line.startswith(("valid_to", "superseded_by"))
    ]
    path.write_text("".join(kept), "utf-8")
    done(scene.owner, "adopt", "--yes", "facts/owner-1.md")


@action
def double_key(scene: Scene) -> None:
    path = scene.root / "facts/limit.md"
    path.write_text(path.read_text("utf-8").replace("tags:", "title: Other\ntags:"), "utf-8")


@action
def hidden_edit(scene: Scene) -> None:
    git(scene.owner, "update-index", "--assume-unchanged", "facts/owner-2.md")
    edit_fact(scene)
    assert git(scene.owner, "status", "--porcelain") == ""


@action
def eol_attributes(scene: Scene) -> None:
    path = scene.root / ".gitattributes"
    path.write_text("*.md text eol=crlf\nsynapse.toml -text\n.synapse/** -text\n", "utf-8")
    scene.commit()
    fact = scene.root / "facts/limit.md"
    fact.unlink()
    git(scene.owner, "checkout", "-q", "--", "facts/limit.md")
    assert b"\r\n" in fact.read_bytes()


@action
def receipt(scene: Scene) -> None:
    done(scene.owner, "receipt", "issue", "owner-2")


def _receipt(scene: Scene) -> Path:
    (path,) = (scene.root / ".synapse/receipts").glob("*.json")
    return path


@action
def change_receipt(scene: Scene) -> None:
    path = _receipt(scene)
    path.write_bytes(path.read_bytes().replace(b"checkout", b"checkers"))


@action
def remove_receipt(scene: Scene) -> None:
    _receipt(scene).unlink()
