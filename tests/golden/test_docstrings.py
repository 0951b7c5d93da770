"""Docstrings and descriptions begin with a verb or name the thing, never with a question word."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.projects import REPOSITORY

QUESTION = re.compile(
    r"(what|who|whom|whose|which|whether|when|where|why|how|those|that)\b", re.IGNORECASE
)
FOLDERS = ("python", "tests", "scripts", "benchmarks")


def test_docstrings_begin_with_a_verb_or_name_the_thing() -> None:
    assert not [
        f"{path.relative_to(REPOSITORY)}:{line}: {text.strip().splitlines()[0]}"
        for folder in FOLDERS
        for path in sorted((REPOSITORY / folder).rglob("*.py"))
        for line, text in _docstrings(path)
        if QUESTION.match(text.strip())
    ]


def test_descriptions_of_macros_relations_and_columns_do_so_too() -> None:
    assert not [
        f"{path.relative_to(REPOSITORY)}: {text}"
        for folder in ("macros", "models")
        for path in sorted((REPOSITORY / folder).rglob("*.yml"))
        for text in _descriptions(yaml.safe_load(path.read_text(encoding="utf-8")))
        if QUESTION.match(text.strip())
    ]


def test_tables_of_the_reference_do_so_too() -> None:
    """They hold the spec's keys, the registry of relations and the help of all options."""
    assert not [
        f"{path.name}: {cell}"
        for path in sorted((REPOSITORY / "docs" / "reference").glob("*.md"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
        for cell in line.split(" | ")
        if QUESTION.match(cell.strip("| "))
    ]


@pytest.mark.parametrize(
    ("text", "is_question"),
    [
        ("What an attacker reads.", True),
        ("Those of the page.", True),
        ("Whether it is over.", True),
        ("True if it is over.", False),
        ("Whatever is left.", False),
        ("Showcase of all measures.", False),
    ],
)
def test_only_whole_question_words_count(text: str, is_question: bool) -> None:
    assert bool(QUESTION.match(text)) is is_question


def _docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield docstrings of modules, classes, functions and attributes with their lines."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in node.body:
                match statement:
                    case ast.Expr(ast.Constant(str(text))):
                        yield statement.lineno, text


def _descriptions(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "description" and isinstance(value, str):
                yield value
            else:
                yield from _descriptions(value)
    elif isinstance(node, list):
        for item in node:
            yield from _descriptions(item)
