"""Read pages of the documentation: their tables, their snippets and what they claim of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

DOCS = Path(__file__).resolve().parents[2] / "docs"
MODELS = DOCS / "models"

_FENCE = re.compile(
    r"^```(\w+) ([\w./]+)\n(.*?)^```\n(?:\n((?:Breaks|Suppressed by) it: [^\n]*))?", re.M | re.S
)
_CLAIM = re.compile(r"^(?:Breaks|Suppressed by) it: (\d+) of (\d+) classes(?:, (.+))?\.$", re.M)
_SPEC, _TEST = "anonymizations/patients.yml", "models/patients.yml"


@dataclass(frozen=True)
class Table:
    """A Markdown table: text without code marks; ``code`` are the columns headed by code."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    code: frozenset[str]

    @property
    def records(self) -> list[dict[str, str]]:
        """Each row by the names of the header."""
        return [dict(zip(self.header, row, strict=True)) for row in self.rows]


@dataclass(frozen=True)
class Snippet:
    """YAML of a page, and the sentence about it that follows."""

    content: dict[str, Any]
    claim: str

    @property
    def classes(self) -> frozenset[str]:
        """The classes that the claim names."""
        found = _CLAIM.match(self.claim)
        assert found, f"no claim about classes: {self.claim!r}"
        named = frozenset(re.split(r", | and ", found[3])) if found[3] else frozenset()
        assert len(named) == int(found[1]), self.claim
        return named

    @property
    def number_of_classes(self) -> int:
        """Number of classes, as the claim says."""
        found = _CLAIM.match(self.claim)
        assert found, self.claim
        return int(found[2])


@dataclass(frozen=True)
class Page:
    """One page. Relations that it calls `patients_...` get names that begin with its own."""

    path: Path

    @property
    def name(self) -> str:
        """The file without its ending."""
        return self.path.stem

    @cached_property
    def text(self) -> str:
        """The Markdown."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tables(self) -> list[Table]:
        """All tables, in their order."""
        blocks = re.findall(r"(?:^\| .*\n|^\|-.*\n)+", self.text, re.M)
        return [_table(block) for block in blocks]

    def table(self, first: str, *further: str) -> Table:
        """Return the only table whose first column and some others have these names."""
        (found,) = [t for t in self.tables if t.header[0] == first and {*further} <= {*t.header}]
        return found

    @property
    def specs(self) -> list[Snippet]:
        """The parts of specs."""
        return self._snippets(_SPEC)

    @property
    def tests(self) -> list[Snippet]:
        """The declared dbt tests."""
        return self._snippets(_TEST)

    @property
    def files(self) -> dict[str, str]:
        """CSV files by the name of their relation."""
        return {
            self._own(name.removesuffix(".csv")): text
            for language, name, text, _ in _FENCE.findall(self.text)
            if language == "csv"
        }

    @property
    def columns(self) -> list[tuple[str, list[str]]]:
        """Rows of the tables `relation, columns`: the suffix of a relation, and its columns."""
        return [
            (relation.removeprefix("<n>_"), columns)
            for table in self.tables
            if table.header == ("relation", "columns")
            for relation, columns in re.findall(r"^\| `(\S+)` \| (.*) \|$", self.text, re.M)
            for columns in [re.findall(r"`(\w+)`", columns)]
            if relation.startswith("<n>_")
        ]

    def _snippets(self, file: str) -> list[Snippet]:
        return [
            Snippet(yaml.safe_load(self._own(text)), claim.strip())
            for _, name, text, claim in _FENCE.findall(self.text)
            if name == file
        ]

    def _own(self, text: str) -> str:
        return re.sub(r"\bpatients_", f"{self.name}_", text)


def _table(block: str) -> Table:
    header, _, *rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")] for line in block.splitlines()
    ]
    return Table(
        tuple(cell.replace("`", "") for cell in header),
        tuple(tuple(cell.replace("`", "") for cell in row) for row in rows),
        frozenset(cell.strip("`") for cell in header if cell.startswith("`")),
    )
