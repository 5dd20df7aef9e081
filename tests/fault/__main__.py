"""`make torture`: every module here that has a `torture(seconds)`, one after the other."""

import argparse
import importlib
import pkgutil
import sys

import tests.fault


def main() -> int:
    """Share the time between the modules and print what each says; a failure is the status."""
    parser = argparse.ArgumentParser(prog="make torture")
    parser.add_argument("--seconds", type=float, default=600)
    asked = parser.parse_args()
    names = [item.name for item in pkgutil.iter_modules(tests.fault.__path__)]
    modules = [importlib.import_module(f"tests.fault.{name}") for name in names if name[0] != "_"]
    found = [module for module in modules if hasattr(module, "torture")]
    for module in found:
        sys.stdout.write(f"{module.torture(asked.seconds / len(found))}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
