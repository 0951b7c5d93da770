"""Benchmarks and scripts, which no test runs, import what there is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.projects import REPOSITORY

FILES = sorted(
    path for folder in ("benchmarks", "scripts") for path in (REPOSITORY / folder).rglob("*.py")
)


def imported(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the modules of the product that a file imports, each with a name from it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dbt_anonymize"):
            yield from ((str(node.module), alias.name) for alias in node.names)


def is_pulled_out(module: str) -> bool:
    """Tell whether a module belongs to an extension that is not here."""
    package = ".".join(module.split(".")[:3])
    return ".extensions." in module and find_spec(package) is None


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_benchmarks_and_scripts_import_exists(file: Path) -> None:
    missing = [
        f"{module}.{name}"
        for module, name in imported(file)
        if not is_pulled_out(module)
        and not hasattr(import_module(module), name)
        and find_spec(f"{module}.{name}") is None
    ]
    assert not missing
