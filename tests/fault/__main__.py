"""`make torture`: every module here that has a `torture(seconds)`, one after the other.

Each takes its share of the time, goes on where its last run ended (`build/torture-*`), and says in
a line or a table what it did. One that finds something does not keep the others from their turn.
"""

import argparse
import importlib
import pkgutil
import sys
import traceback
from time import monotonic
from types import ModuleType

import tests.fault


def found() -> dict[str, ModuleType]:
    """The modules by name."""
    names = [item.name for item in pkgutil.iter_modules(tests.fault.__path__)]
    chosen = [name for name in names if name[0] != "_" and not name.startswith("test_")]
    modules = {name: importlib.import_module(f"tests.fault.{name}") for name in chosen}
    return {name: module for name, module in modules.items() if hasattr(module, "torture")}


def main() -> int:
    """Share the time between the modules and print what each says; a failure is the status."""
    parser = argparse.ArgumentParser(prog="make torture")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--only", action="append", choices=sorted(found()))
    asked = parser.parse_args()
    chosen = {name: item for name, item in found().items() if name in (asked.only or found())}
    summary, status = [], 0
    for name, module in chosen.items():
        began = monotonic()
        try:
            said, outcome = module.torture(asked.seconds / len(chosen)), "nothing got through"
        except AssertionError as error:
            said, outcome, status = "".join(traceback.format_exception(error)), "FOUND", 1
        sys.stdout.write(f"{said}\n\n")
        sys.stdout.flush()
        summary.append(f"{name:14}{monotonic() - began:>8.0f} s   {outcome}")
    sys.stdout.write("\n".join(["summary", *summary, ""]))
    return status


if __name__ == "__main__":
    sys.exit(main())
