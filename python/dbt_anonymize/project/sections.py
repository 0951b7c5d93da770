"""A report, and its sections: a sentence, a table, and the data of a chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dbt_anonymize.project.evidence import Row
from dbt_anonymize.project.figures import format_figure
from dbt_anonymize.spec import Spec

# Statistical offices round counts to multiples of at least this.
_FEWEST = 5
# Bars of a chart; tables have all rows.
MOST_BARS = 10
_ACRONYMS = {"auc", "mae", "r2", "rmse", "roc"}

Cell = str | int | float | bool | None


@dataclass(frozen=True)
class Section:
    """``chart`` names a chart of the report, which draws ``data``; the table says the same.

    ``is_open``: it matters for this release; other sections are folded. ``is_worst_first``: the
    first rows of the table are enough, and the others are folded. ``mark``: the text of cells
    without a figure in a table whose first column names the rows.
    """

    key: str
    title: str
    sentence: str
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[Cell]] = ()
    data: Sequence[Mapping[str, Any]] = ()
    chart: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    is_open: bool = False
    is_worst_first: bool = False
    mark: str | None = None

    @property
    def texts(self) -> list[list[str]]:
        """The cells of the table as text."""
        return [["-" if cell is None else format_figure(cell) for cell in row] for row in self.rows]


@dataclass(frozen=True)
class Answer:
    """A question of readers, and the sentences that answer it."""

    question: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """All that a report shows, whatever is released.

    ``figures`` are the main ones, each with its name; ``limits`` say what it does not show.
    ``sample`` has rows of the release, ``choice`` the data of the slider, ``alpha`` its start.
    """

    spec: Spec
    answers: Sequence[Answer]
    sections: Sequence[Section]
    limits: str
    figures: Sequence[tuple[str, str]] = ()
    sample: Section | None = None
    choice: Mapping[str, Any] = field(default_factory=dict)
    alpha: float | None = None


def missing(key: str, title: str, relation: str, made_by: str) -> Section:
    """Return the section of a missing relation, with the command that makes it."""
    return Section(key, title, f"Not there: {relation} is missing or empty. Run `{made_by}`.")


def words(name: object) -> str:
    """Return a name of a column or measure as words.

    Examples
    --------
    >>> words("roc_auc")
    'ROC AUC'
    """
    parts = str(name).replace("_", " ").split(" ")
    return " ".join(part.upper() if part in _ACRONYMS else part for part in parts)


def number(value: Any) -> float | None:
    """Return a number of a relation, also a decimal; NULL and NaN are None."""
    if value is None:
        return None
    result = float(value)
    return None if result != result else result  # noqa: PLR0124 (NaN)


def rounding_unit(spec: Spec) -> int:
    """Return the number to whose multiples counts of people are rounded: 5, or the k if larger."""
    return max(_FEWEST, spec.largest_k)


def charted_class(spec: Spec, rows: Sequence[Row]) -> str | None:
    """Return the class whose predictions are shown: the positive one, or the last."""
    classes = sorted({str(row["class"]) for row in rows})
    positive = str(spec.tests.positive)
    return positive if positive in classes else next(reversed(classes), None)


def table_name(effort: Any) -> str:
    """Return the name of an effort's table in a report."""
    return "original" if int(effort) == 0 else f"anonymized (effort {effort})"
