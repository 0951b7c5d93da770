"""Tests of extensions, a folder each, and what they add to the tests of others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from dbt_anonymize.extension import extensions
from dbt_anonymize.spec.efforts import Effort


def has(name: str) -> bool:
    """Tell whether an extension is here."""
    return any(one.name == name for one in extensions())


def in_parts(column: str) -> dict[str, str]:
    """Return the keys of a spec that is built in parts, none where the extension is not here."""
    return {"partition_by": column} if has("partitions") else {}


def with_known_keys(efforts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the efforts of a spec without those that have a key of an extension that is not here.

    Examples
    --------
    >>> with_known_keys([{"age": 1}, {"levels": {"age": 1}, "k": 3}, {"rooms": "x", "k": 3}])
    [{'age': 1}, {'levels': {'age': 1}, 'k': 3}]
    """
    known = {*Effort.model_fields}
    return [
        one for one in efforts if {*one} <= known or all(isinstance(v, int) for v in one.values())
    ]


def of_extensions(module: str) -> Iterator[ModuleType]:
    """Yield a module of this name of the tests of each extension that has one."""
    for one in extensions():
        name = f"{__name__}.{one.name}"
        if find_spec(name) and find_spec(f"{name}.{module}"):
            yield import_module(f"{name}.{module}")
