"""The SDK, imported for a server over stdio in half of the time (ADR 0037).

`import mcp.server.lowlevel` first runs `mcp/__init__.py` and `mcp/server/__init__.py`, which import
the client, the other server, OAuth and HTTP to offer their names at the top. Here those two wait
until somebody asks for such a name. Nothing of the SDK is replaced or left out: what waits is the
package's own code, run by its own loader.
"""

import importlib
import sys
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

PACKAGES = ("mcp", "mcp.server")
"""Packages whose own code waits, outermost first."""
NEEDED = "mcp.server.lowlevel"
"""What a server over stdio is made of."""


class _Waiting(ModuleType):
    """A package whose modules can be imported already and whose own code was not run yet."""

    def __getattr__(self, name: str) -> Any:  # type: ignore[explicit-override]
        """Run the package's code: somebody asks for a name that only it can give."""
        self.__class__ = ModuleType  # type: ignore[assignment]
        spec = self.__spec__
        assert spec is not None  # noqa: S101 - `_wait` gave it one
        assert spec.loader is not None  # noqa: S101 - the same
        spec.loader.exec_module(self)
        return getattr(self, name)


def load() -> None:
    """Import the SDK; the ordinary way where a release of it cannot be imported like this.

    Raises:
        ImportError: there is no SDK, or it cannot be imported in any way.
    """
    import pydantic

    # A message type is built when the first message of it comes: there are 520 of them, for all
    # versions of the protocol, and a session sees about twenty.
    pydantic.BaseModel.model_config["defer_build"] = True
    try:
        for name in PACKAGES:
            _wait(name)
        importlib.import_module(NEEDED)
    except Exception:  # noqa: BLE001 - whatever it is, the ordinary import decides
        for name in [name for name in sys.modules if name.partition(".")[0] == "mcp"]:
            del sys.modules[name]
        importlib.import_module(NEEDED)


def _wait(name: str) -> None:
    """Put a package in place without running its code."""
    spec = find_spec(name)
    if spec is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    package = module_from_spec(spec)
    package.__class__ = _Waiting
    sys.modules[name] = package
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, package)
