"""An adapter of `agent-memory-integrity` (agmi): nine edits at rest against a workspace.

Its attacks read and write the facts' files, which is the store that an agent's memory is served
from; whether that was noticed is what `syn verify` says, and nothing else. With a witness, an
outside party keeps the newest published witness and the owner's key, as `syn verify --since` and
`--trust` take them; the attacker never touches those two files.
"""

import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from tests.support.inside import done, inside
from tests.support.parties import git, party
from tests.support.workspaces import Place

MINE, OTHER = "mine", "other"
"""The two contexts: folders of facts with an owner each."""
_FIELD = re.compile(r"^([a-z_]+): (.*)$", re.MULTILINE)


class Record(Protocol):
    """One entry as agmi takes it."""

    seq: int
    fields: dict[str, Any]


def build(base: type, record: type, *, witness: bool) -> Any:
    """The adapter, as a class below agmi's own; the package is optional, so it comes in as values.

    Args:
        base: `agmi.adapters.base.MemoryAdapter`.
        record: `agmi.adapters.base.Record`.
        witness: whether somebody outside keeps a witness.
    """
    name = "synapse, pinned witness" if witness else "synapse, workspace alone"
    members = {"name": name, "witness": witness, "record": record, **vars(_Store)}
    return type("SynapseAdapter", (base,), {k: v for k, v in members.items() if k != "__dict__"})()


class _Store:
    """What the adapter does; made a subclass of agmi's base in `build`."""

    name: str
    witness: bool
    record: type
    supports_replay = True
    supports_metadata = True
    supports_snapshot = True
    verify_detail: str | None = None

    _folder: Path
    _place: Place
    _count: int

    def setup(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="synapse-agmi-"))
        self._count = 0
        root = self._folder / "ws"
        root.mkdir()
        self._place = party(self._folder, "owner", root)
        done(self._place, "init", "--name", "memory")
        done(self._place, "key", "init", "--name", "owner")
        (self._folder / "owner.pub").write_text(done(self._place, "key", "export").out)

    def teardown(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def seed(self, n: int) -> None:
        self._add(MINE, n)

    def seed_other(self, n: int) -> None:
        self._add(OTHER, n)

    def append_genuine(self) -> None:
        self._add(MINE, 1)

    def _add(self, context: str, n: int) -> None:
        for _ in range(n):
            self._count += 1
            name = f"{context}-{self._count:03}"
            done(
                self._place,
                *("add", "--title", name, "--id", name, "--path", f"facts/{context}/{name}.md"),
                *("--set", f"owner={context}", "--body", f"{context} remembers {self._count}"),
            )
        done(self._place, "checkpoint", "--host", "memory.example")
        proof = self._folder / "witness.tlog-proof"
        proof.unlink(missing_ok=True)
        done(self._place, "witness", "publish", "-o", str(proof))

    # The raw store: the Markdown files.

    def _files(self, context: str) -> list[Path]:
        return sorted((self._place.root / "facts" / context).glob("*.md"))

    def _records(self, context: str) -> list[Any]:
        return [
            self.record(seq=n, fields={**_read(path), "slot": path.name})
            for n, path in enumerate(self._files(context))
        ]

    def read_all_raw(self) -> list[Any]:
        return self._records(MINE)

    def read_other_raw(self) -> list[Any]:
        return self._records(OTHER)

    def write_raw(self, record: Record) -> None:
        files = self._files(MINE)
        if record.seq < len(files):
            target = files[record.seq]
            kept = _read(target)
            fields = {**record.fields, "id": kept["id"]}
        else:
            target = files[-1].with_name(f"{MINE}-{self._count + 1:03}.md")
            fields = {**record.fields, "id": target.stem}
        _write(target, fields)
        # A file that git does not track is no part of the memory: it is listed as new, not served.
        git(self._place, "add", "--", str(target))

    def delete_raw(self, seq: int) -> None:
        self._files(MINE)[seq].unlink()

    def replay_onto(self, victim_seq: int, donor: Record) -> None:
        target = self._files(MINE)[victim_seq]
        _write(target, {**_read(target), "text": donor.fields["text"]})

    def read_meta(self, seq: int) -> dict[str, Any]:
        return {k: v for k, v in _read(self._files(MINE)[seq]).items() if k not in ("text", "id")}

    def write_meta(self, seq: int, meta: Mapping[str, Any]) -> None:
        target = self._files(MINE)[seq]
        _write(target, {**_read(target), **meta})

    def mutate_payload(self, record: Record) -> Record:
        record.fields["text"] += " [TAMPERED]"
        return record

    def identity_of(self, record: Record) -> str:
        return str(record.fields["slot"])

    def payload_of(self, record: Record) -> str:
        return str(record.fields["text"])

    def owner_of(self, record: Record) -> str | None:
        return str(record.fields["owner"])

    # The whole store: the work tree with its repository. Keys and witness are outside of it.

    def snapshot_store(self) -> object:
        copy = self._folder / "copy"
        shutil.copytree(self._place.root, copy, symlinks=True)
        return copy

    def restore_store(self, token: object) -> None:
        assert isinstance(token, Path)
        shutil.rmtree(self._place.root)
        shutil.copytree(token, self._place.root, symlinks=True)

    def reload(self) -> None:
        """Every command opens the workspace anew."""

    def verify(self) -> bool:
        """What `syn verify` says; its codes are the detail."""
        proof, key = self._folder / "witness.tlog-proof", self._folder / "owner.pub"
        outside = ("--since", str(proof), "--trust", str(key)) if self.witness else ()
        ran = inside(self._place, "verify", "--json", *outside)
        if ran.status == 0:
            self.verify_detail = None
            return True
        found = ran.json["predicate"]["invariants"]
        codes = sorted({f"{i['id']} {f['code']}" for i in found for f in i["findings"]})
        self.verify_detail = f"exit {ran.status}: {', '.join(codes)}"
        return False


def _read(path: Path) -> dict[str, str]:
    head, _, body = path.read_text("utf-8").removeprefix("---\n").partition("---\n")
    fields = {key: value.strip("\"'") for key, value in _FIELD.findall(head)}
    return {**fields, "text": body.strip()}


def _write(path: Path, fields: Mapping[str, Any]) -> None:
    lines = [f"{key}: {value}\n" for key, value in fields.items() if key not in ("text", "slot")]
    path.write_text(f"---\n{''.join(lines)}---\n{fields['text']}\n", "utf-8")
