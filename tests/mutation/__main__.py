"""`make mutants`: a sample of mutants of the parts that decide, and which no test killed.

cosmic-ray changes one operator, number or branch at a time in a copy of HEAD, and runs the tests of
that package. The seed decides which mutants; the survivors are printed with their change.
"""

import argparse
import random  # noqa: TID251 - seeded by the caller
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

from tests.support.shared import ROOT

BUILD = ROOT / "build/mutants"
SUITES = {
    "verify": "tests/invariants/test_mutations.py tests/invariants/test_proofs.py "
    "tests/invariants/test_cells.py tests/unit/verify tests/unit/services/test_identity.py",
    "canon": "tests/unit/canon tests/property/test_canon_fuzz.py "
    "tests/property/test_canon_merkle_laws.py tests/conformance/test_note_c2sp.py "
    "tests/conformance/test_merkle_vectors.py",
    "ledger": "tests/unit/ledger tests/property/test_ledger_entry.py "
    "tests/property/test_ledger_segments.py tests/property/test_ledger_heads.py "
    "tests/property/test_ledger_transitions.py",
    "keys": "tests/unit/keys tests/property/test_keys_fuzz.py",
    "images": "tests/unit/images tests/property/test_images_rows.py",
}
"""Package to the tests that have to notice."""
SECONDS = 180
"""After which a mutant counts as noticed: it hangs."""
CONFIG = """\
[cosmic-ray]
module-path = "syn/{package}"
timeout = {seconds}
excluded-modules = []
test-command = "{python} -m pytest -x -q -p no:cacheprovider -p no:randomly {tests}"
[cosmic-ray.distributor]
name = "local"
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the sampled mutants of one package."""

    package: str
    total: int
    killed: int
    survivors: tuple[str, ...]

    def text(self) -> str:
        """One line, and a change for each survivor."""
        tried = self.killed + len(self.survivors)
        share = f"{100 * self.killed / tried:.0f} %" if tried else "-"
        line = f"{self.package:8}{self.total:>7}{tried:>8}{self.killed:>8}{share:>8}"
        return "\n".join([line, *self.survivors])


def copy_of_head(package: str) -> Path:
    """HEAD's files in a folder of their own; what is mutated is never the tree one works in."""
    folder = BUILD / package
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    packed = subprocess.run(
        ["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def sample(session: Path, count: int, seed: int) -> int:
    """Leave `count` mutants to be tried, and mark the others as skipped; how many there are."""
    items = import_module("cosmic_ray.work_item")
    skipped = items.WorkResult(items.WorkerOutcome.SKIPPED)
    with _database(session) as database:
        jobs = sorted(item.job_id for item in database.work_items)
        places = {item.job_id: _place(item) for item in database.work_items}
        jobs.sort(key=places.__getitem__)
        random.Random(seed).shuffle(jobs)
        for job in jobs[count:]:
            database.set_result(job, skipped)
        return len(jobs)


def _database(session: Path) -> Any:
    return import_module("cosmic_ray.work_db").use_db(str(session))


def _place(item: Any) -> tuple[str, ...]:
    return tuple(
        f"{m.module_path} {m.start_pos} {m.operator_name} {m.occurrence:06}" for m in item.mutations
    )


def outcome(package: str, session: Path, total: int) -> Outcome:
    """Read what cosmic-ray wrote down."""
    killed, survivors = 0, []
    with _database(session) as database:
        for item, result in database.completed_work_items:
            if result.test_outcome == "survived":
                mutation = item.mutations[0]
                place = f"{mutation.module_path}:{mutation.start_pos[0]} {mutation.operator_name}"
                change = [line for line in (result.diff or "").splitlines() if line[:1] in "+-"]
                survivors.append("\n".join([place, *change[2:]]))
            elif result.test_outcome is not None:
                killed += 1
    return Outcome(package, total, killed, tuple(sorted(survivors)))


def run(package: str, count: int, seed: int) -> Outcome:
    """Sample and try the mutants of one package."""
    folder = copy_of_head(package)
    config, session = folder / "mutants.toml", folder / "mutants.sqlite"
    text = CONFIG.format(
        package=package, seconds=SECONDS, python=sys.executable, tests=SUITES[package]
    )
    config.write_text(text, encoding="utf-8")
    tool = [sys.executable, "-m", "cosmic_ray.cli"]
    subprocess.run([*tool, "init", config.name, session.name], cwd=folder, check=True)
    total = sample(session, count, seed)
    subprocess.run([*tool, "exec", config.name, session.name], cwd=folder, check=True)
    return outcome(package, session, total)


def main() -> int:
    """The sample of every package that was asked for."""
    parser = argparse.ArgumentParser(prog="make mutants")
    parser.add_argument("--count", type=int, default=20, help="mutants of each package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=SUITES, action="append")
    given = parser.parse_args()
    sys.stdout.write(f"{'package':8}{'of':>7}{'tried':>8}{'killed':>8}{'score':>8}\n")
    for package in given.only or SUITES:
        sys.stdout.write(f"{run(package, given.count, given.seed).text()}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
