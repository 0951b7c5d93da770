"""The pages of the case studies: their specs, and the tables and plots that a build must confirm.

A table after a paragraph such as "From `diabetes_results`, where `model` is `ridge`:" holds
rows of that relation. Columns with a heading in code marks are columns of the relation; others are
words of the page. Rows are found by what identifies them (effort, model, ...).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.case_studies.plots import interval_plot
from tests.docs.pages import DOCS

CASE_STUDIES = DOCS / "case_studies"
KEYS = frozenset(
    {
        "table",
        "cluster_size",
        "design",
        "effort",
        "target",
        "model",
        "fit",
        "test_on",
        "measure",
        "true_class",
        "predicted_class",
        "group_size",
        "representative",
    }
)
Record = Mapping[str, Any]
Rows = Callable[[str], Sequence[Record]]

_SPEC = re.compile(r"^```yaml anonymizations/(\w+)\.yml\n(.*?)^```$", re.M | re.S)
_PLOT = re.compile(r"(?<=^```text plot\n).*?(?=^```$)", re.M | re.S)
_CONDITION = re.compile(r"`(\w+)`\s+is\s+`(\w+)`")
_TABLE = re.compile(r"(?<=:\n\n)\|.*\n\|[-|]+\n(?:\|.*\n)+", re.M)


@dataclass(frozen=True)
class CasePage:
    """The page of one case study."""

    name: str

    @cached_property
    def text(self) -> str:
        """The Markdown."""
        return (CASE_STUDIES / f"{self.name}.md").read_text(encoding="utf-8")

    @property
    def spec(self) -> str:
        """The whole spec, as YAML; it has the name of the page."""
        ((name, text),) = _SPEC.findall(self.text)
        assert name == self.name
        return str(text)

    def confirmed(self, rows: Rows, plot: Callable[[Rows], str] | None = None) -> str:
        """Return the page as it should be: with the rows of relations, and a plot of them.

        Parameters
        ----------
        rows : callable
            From the name of a relation to its rows.
        plot : callable, optional
            From ``rows`` to the plot; by default QF of each effort of the results.
        """

        def table(found: re.Match[str]) -> str:
            paragraph = self.text[: found.start()].rstrip().rpartition("\n\n")[2]
            relations = re.findall(rf"`({self.name}(?:_\w+|\.py))`", paragraph)
            if not relations:
                return found[0]
            return _filled(found[0], rows(relations[0]), dict(_CONDITION.findall(paragraph)))

        text = _TABLE.sub(table, self.text)
        drawn = plot(rows) if plot else interval_plot(rows(f"{self.name}_results"))
        return _PLOT.sub(lambda _: drawn, text)


def _filled(table: str, rows: Sequence[Record], conditions: Mapping[str, str]) -> str:
    header, line, *printed = table.splitlines()
    names = _cells(header)
    columns = {n: name.strip("`") for n, name in enumerate(names) if name.startswith("`")}
    lines = [header, line]
    for text in printed:
        cells = _cells(text)
        wanted = {**conditions, **{c: cells[n] for n, c in columns.items() if c in KEYS}}
        found = [r for r in rows if all(str(r[c]) == value for c, value in wanted.items())]
        assert len(found) == 1, f"{len(found)} rows where {wanted}"
        row = found[0]
        shown = [_shown(row[columns[n]]) if n in columns else cell for n, cell in enumerate(cells)]
        lines.append(f"| {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    # + 0.0: no negative zero.
    return f"{round(value, 3) + 0.0:.3f}" if isinstance(value, float) else str(value)
