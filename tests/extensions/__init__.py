"""Tests of extensions, a folder each, and what they add to the tests of others."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from dbt_anonymize.extension import extensions


def has(name: str) -> bool:
    """Tell whether an extension is here."""
    return any(one.name == name for one in extensions())


def of_extensions(module: str) -> Iterator[ModuleType]:
    """Yield a module of this name of the tests of each extension that has one."""
    for one in extensions():
        name = f"{__name__}.{one.name}"
        if find_spec(name) and find_spec(f"{name}.{module}"):
            yield import_module(f"{name}.{module}")
