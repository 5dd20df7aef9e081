"""The SDK without its packages' own code, and the ordinary import where that does not work."""

import subprocess
import sys
from pathlib import Path

SERVE = """
import sys
from syn.mcp import sdk
sdk.load()
from mcp.server.lowlevel import Server
assert "mcp.client" not in sys.modules and "mcp.server.mcpserver" not in sys.modules
assert Server("name").create_initialization_options().server_name == "name"
import mcp
from mcp import ClientSession
from mcp.server import MCPServer
assert ClientSession is mcp.ClientSession and "mcp.client" in sys.modules
assert mcp.server.lowlevel.Server is Server
"""
FALL_BACK = """
import sys
from syn.mcp import sdk
sdk.load()
import mcp, mcp.server.lowlevel as found
assert found.server == "of " + mcp.name, found
"""
"""For a release whose modules count on what their package did before them."""


def _run(program: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(path)!r})\n{program}"]
    return subprocess.run(words, check=False, capture_output=True, text=True)


def test_a_server_needs_no_client_and_both_can_be_had_later() -> None:
    done = _run(SERVE)
    assert done.returncode == 0, done.stderr


def test_another_layout_is_imported_the_ordinary_way(tmp_path: Path) -> None:
    package = tmp_path / "mcp"
    (package / "server").mkdir(parents=True)
    (package / "__init__.py").write_text("import sys\nsys.made = 'ready'\nname = 'mcp'\n")
    (package / "server" / "__init__.py").write_text("")
    (package / "server" / "lowlevel.py").write_text(
        "import sys\nif not hasattr(sys, 'made'):\n    raise RuntimeError('too early')\n"
        "from mcp import name\nserver = f'of {name}'\n"
    )
    done = _run(FALL_BACK, tmp_path)
    assert done.returncode == 0, done.stderr


def test_one_that_is_missing_is_an_import_error(tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text("")
    done = _run("from syn.mcp import sdk\nsdk.load()", tmp_path)
    assert "No module named 'mcp.server'" in done.stderr
