"""Docstrings begin with a verb or name the thing; none begins with a question word."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

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
