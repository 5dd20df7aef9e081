"""Discovers the invariants: every module under `invariants/` that is named `inv_NN_*`."""

import importlib
import pkgutil
from functools import cache

from syn.verify import invariants
from syn.verify.invariant import Invariant


@cache
def all_invariants() -> tuple[Invariant, ...]:
    """Every invariant of this program, sorted by number; at least one."""
    found: list[Invariant] = []
    for module in pkgutil.iter_modules(invariants.__path__):
        if module.name.startswith("inv_"):
            loaded = importlib.import_module(f"{invariants.__name__}.{module.name}")
            found.append(loaded.INVARIANT)
    numbers = [invariant.number for invariant in found]
    if not found or len(set(numbers)) != len(numbers):
        raise RuntimeError(f"expected distinct invariants, got {numbers}")
    return tuple(sorted(found, key=lambda invariant: invariant.number))
