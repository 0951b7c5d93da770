"""Figures of a document: a value of a relation with its label and source."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dbt_anonymize.project.evidence import Evidence


@dataclass(frozen=True)
class Figure:
    """A line of a table: label, value as text, and the relation it comes from."""

    label: str
    value: str
    source: str


def format_figure(value: object) -> str:
    """Return a value as a dossier writes it: four digits, and NULL as not measured.

    Examples
    --------
    >>> [format_figure(value) for value in (0.123456, 1234567, True, None, float("nan"))]
    ['0.1235', '1,234,567', 'yes', 'not measured', 'not measured']
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "not measured"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def figure(
    evidence: Evidence, label: str, part: str, column: str, **values: object
) -> list[Figure]:
    """Return one column of one row; a missing relation or row is a figure that says so."""
    rows = evidence.rows(part, **values)
    if not rows:
        return [missing(evidence, label, part)]
    where = "".join(f", {name} {format_figure(value)}" for name, value in values.items())
    source = f"{evidence.spec.name}_{part}, {column}{where}"
    return [Figure(label, format_figure(rows[0].get(column)), source)]


def missing(evidence: Evidence, label: str, part: str) -> Figure:
    """Return the figure of a missing value, with the command that makes it."""
    relation = f"{evidence.spec.name}_{part}"
    if evidence.relations[part] is None:
        text = f"missing: there is no {relation}"
    else:
        text = f"missing: {relation} has no such row"
    return Figure(label, f"{text}. {evidence.remedy(part)}", relation)
