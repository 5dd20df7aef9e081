"""The short form of `make torture`: some faults of every class of file, the same in every run."""

import pytest

from tests.fault.faults import Fault, files_of
from tests.fault.flips import all_faults
from tests.fault.judge import WRONG, Judge
from tests.fault.published import publish

SAMPLE = 150
SHARES = 2


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    return Judge(publish(tmp_path_factory.mktemp("published")))


@pytest.mark.parametrize("share", range(SHARES))
def test_no_fault_gets_through(judge: Judge, share: int) -> None:
    faults = all_faults(judge.root, seed=20261130)[share : SAMPLE * SHARES : SHARES]
    wrong = [j for fault in faults if (j := judge.judge(fault)).outcome in WRONG]
    assert not wrong, wrong[:3]
    assert judge.untouched()


def test_no_file_is_missed(judge: Judge) -> None:
    files = [path for path in files_of(judge.root) if not path.startswith(".git/objects/")]
    faults = [Fault(path, kind, 0) for path in files for kind in ("delete", "empty")]
    wrong = [j for fault in faults if (j := judge.judge(fault)).outcome in WRONG]
    assert not wrong, wrong[:3]
