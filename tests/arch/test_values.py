"""What is verified, signed or decided on is a value: nobody changes it after it was made."""

import dataclasses
import importlib
import pkgutil
from collections.abc import Iterator

import pytest

PACKAGES = ("syn.model", "syn.canon", "syn.keys", "syn.verify")


def _modules(package: str) -> Iterator[str]:
    path = importlib.import_module(package).__path__
    return (item.name for item in pkgutil.walk_packages(path, f"{package}."))


@pytest.mark.parametrize("package", PACKAGES)
def test_values_are_frozen_and_have_slots(package: str) -> None:
    for name in _modules(package):
        for item in vars(importlib.import_module(name)).values():
            if not (isinstance(item, type) and item.__module__ == name):
                continue
            if dataclasses.is_dataclass(item):
                assert item.__dataclass_params__.frozen, item  # type: ignore[attr-defined]
                assert "__slots__" in vars(item), item
