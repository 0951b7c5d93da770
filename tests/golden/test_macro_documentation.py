"""Every public macro stands in a file of its own name and documents each of its arguments.

Of a macro that takes one mapping these are the keys of the mapping.
"""

from __future__ import annotations

import functools
import re
from typing import Any

import pytest

from tests.macro_keys import bodies, declared_keys
from tests.projects import REPOSITORY

MACROS = REPOSITORY / "macros"
DEFINITION = re.compile(r"{%-?\s*(macro|test)\s+(\w+)\s*\((.*?)\)\s*-?%}", re.DOTALL)
PUBLIC = [
    (path, kind, name, arguments)
    for path in sorted(MACROS.rglob("*.sql"))
    for kind, name, arguments in DEFINITION.findall(path.read_text(encoding="utf-8"))
    if not name.startswith("_") and "__" not in name
]


def test_there_are_public_macros() -> None:
    assert len(PUBLIC) > 10


@pytest.mark.parametrize(("path", "kind", "name", "arguments"), PUBLIC, ids=[p[2] for p in PUBLIC])
def test_it_has_a_file_of_its_own(path, kind, name, arguments) -> None:  # type: ignore[no-untyped-def]
    assert path.stem == name


@functools.cache
def documented() -> dict[str, dict[str, Any]]:
    import yaml

    return {
        macro["name"]: macro
        for file in MACROS.rglob("*.yml")
        for macro in yaml.safe_load(file.read_text(encoding="utf-8")).get("macros", [])
    }


def test_generic_tests_are_described_as_dbt_calls_them() -> None:
    tests = {f"test_{name}" for _, kind, name, _ in PUBLIC if kind == "test"}
    described = {name for name in documented() if name.startswith("test_")}
    assert tests == described
    assert all(documented()[name]["description"] for name in tests)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [(name, arguments) for _, kind, name, arguments in PUBLIC if kind == "macro"],
    ids=[name for _, kind, name, _ in PUBLIC if kind == "macro"],
)
def test_its_arguments_are_documented_in_order(name: str, arguments: str) -> None:
    declared = [argument.split("=")[0].strip() for argument in arguments.split(",")]
    found = documented()[name]["arguments"]
    assert [argument["name"] for argument in found] == declared
    assert all(argument["description"] and argument["type"] for argument in found)


@pytest.mark.parametrize("name", bodies())
def test_its_keys_are_documented_in_order(name: str) -> None:
    found = documented()[name]["config"]["meta"]["keys"]
    assert [key["name"] for key in found] == declared_keys(name)
    assert all(key["description"] and key["type"] for key in found)
