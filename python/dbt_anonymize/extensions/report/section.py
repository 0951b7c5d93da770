"""One part of a report: a sentence, a table, and what a chart draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dbt_anonymize.extensions.dossier.figures import format_figure
from dbt_anonymize.spec import Spec

_ACRONYMS = {"auc", "mae", "r2", "rmse", "roc"}

Cell = str | int | float | bool | None


@dataclass(frozen=True)
class Section:
    """``chart`` is a function of `charts`, which draws ``data``; the table says the same.

    ``is_open``: what matters for this release; other parts are folded. ``is_worst_first``: of a
    table in this order the first rows are enough, and the others are folded.
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

    @property
    def texts(self) -> list[list[str]]:
        """The table as it is read."""
        return [["-" if cell is None else format_figure(cell) for cell in row] for row in self.rows]


def missing(key: str, title: str, relation: str, made_by: str) -> Section:
    """Return a part whose relation is missing, and the command that makes it."""
    return Section(key, title, f"Not there: {relation} is missing or empty. Run `{made_by}`.")


def more(spec: Spec, details: Sequence[str]) -> Section:
    """Return the part that says which details are not built, and how to have them."""
    return Section(
        "more",
        "More that can be measured",
        f"Not declared, and so not built: {', '.join(details)}. `details: all` in "
        f"anonymizations/{spec.name}.yml, or `details: [{details[0]}]`, adds them: run "
        "`dbt-anonymize generate` and `dbt build`.",
    )


def unmeasured(key: str, title: str, relation: str, spec: Spec) -> Section:
    """Return a missing part that needs trained models, which a frozen effort has not."""
    if not spec.freeze:
        return missing(key, title, relation, "dbt build")
    return Section(
        key,
        title,
        f"Not there: {relation} comes from trained models, and a frozen effort trains none. "
        "Keep the report of the build before the freeze; or remove `freeze` from the spec, run "
        "`dbt-anonymize generate` and `dbt build`, and choose again.",
    )


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
    found = float(value)
    return None if found != found else found  # noqa: PLR0124 (NaN)
