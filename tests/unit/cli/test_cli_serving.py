"""Which command lines only say that the server is to be served."""

import pytest

from syn.cli.serving import plain


@pytest.mark.parametrize(
    ("words", "folder"),
    [
        (["mcp"], "."),
        (["-C", "memory", "mcp"], "memory"),
        (["--directory", "/a b", "mcp"], "/a b"),
        (["mcp", "status"], None),
        (["mcp", "--record", "x"], None),
        (["-C", "", "mcp"], None),
        (["-C", "--help", "mcp"], None),
        (["--as", "agent", "mcp"], None),
        (["skill", "mcp"], None),
        ([], None),
    ],
)
def test_plain(words: list[str], folder: str | None) -> None:
    assert plain(words) == folder
