"""The figures of a dossier on attacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbt_anonymize.project.evidence import Evidence, Row
from dbt_anonymize.project.figures import Figure, format_figure, missing

_MEASURES = (
    "main",
    "control",
    "naive",
    "risk",
    "risk_lower",
    "risk_upper",
    "guesses",
    "declared_limit",
)


def attack(evidence: Evidence, named: Sequence[str]) -> list[Figure]:
    """Return the results of an attack: ``named`` is its name, then measures."""
    return attack_figures(evidence, named[0], named[1:])


def attack_on_releases(evidence: Evidence, named: Sequence[str]) -> list[Figure]:
    """Return the results of an attack without those against unreleased efforts."""
    return attack_figures(evidence, named[0], named[1:], with_efforts=False)


def attack_figures(
    evidence: Evidence, attack: str, measures: Sequence[str], *, with_efforts: bool = True
) -> list[Figure]:
    """Return the results of an attack, a line for each model, release or attribute.

    ``with_efforts`` includes results against unreleased efforts.
    """
    rows = [
        row
        for measure in measures
        for row in evidence.rows("attacks", attack=attack, measure=measure)
        if with_efforts or not str(row["against"]).startswith("effort ")
    ]
    if rows:
        return [_figure(evidence, row) for row in rows]
    label = f"attack {attack}, {' or '.join(measures)}".replace("_", " ")
    if attack == "composition" and evidence.rows("attacks"):
        value = "not attacked: there was no other release to intersect with this one"
        return [Figure(label, value, f"{evidence.spec.name}_attacks")]
    return [missing(evidence, label, "attacks")]


def _figure(evidence: Evidence, row: Row) -> Figure:
    about = (row["measure"], row["attribute"], row["against"])
    label = ", ".join(str(part) for part in (row["attack"], *about) if part is not None)
    if row["main"] is None:
        value = f"not attacked: {row['explanation']}"
    else:
        values = [(name, row[name]) for name in _MEASURES if not _is_null(row[name])]
        value = ", ".join(
            f"{name.replace('_', ' ')} {format_figure(number)}" for name, number in values
        )
        if row["holds"] is not None:
            value += "; holds" if row["holds"] else "; DOES NOT HOLD"
        if row["is_warning"]:
            value += "; WARNING"
    return Figure(label.replace("_", " "), value, f"{evidence.spec.name}_attacks")


def _is_null(value: Any) -> bool:
    return format_figure(value) == format_figure(None)
