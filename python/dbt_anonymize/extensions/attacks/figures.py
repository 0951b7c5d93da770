"""The figures of a dossier on attacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbt_anonymize.project.evidence import Evidence, Row
from dbt_anonymize.project.figures import Figure, format_figure, missing

_MEASURED = (
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
    """Return the results of an attack and its measures, which are named."""
    return measured(evidence, named[0], named[1:])


def attack_on_releases(evidence: Evidence, named: Sequence[str]) -> list[Figure]:
    """Return the same of releases alone, without efforts that are not released."""
    return measured(evidence, named[0], named[1:], with_efforts=False)


def measured(
    evidence: Evidence, attack: str, measures: Sequence[str], *, with_efforts: bool = True
) -> list[Figure]:
    """Return the results of an attack, a line for each model, release or attribute.

    Not ``with_efforts``, efforts that are not released are left out.
    """
    rows = [
        row
        for measure in measures
        for row in evidence.rows("attacks", attack=attack, measure=measure)
        if with_efforts or not str(row["against"]).startswith("effort ")
    ]
    label = f"attack {attack}, {' or '.join(measures)}".replace("_", " ")
    return [_measured(evidence, row) for row in rows] or [missing(evidence, label, "attacks")]


def _measured(evidence: Evidence, row: Row) -> Figure:
    about = (row["measure"], row["attribute"], row["against"])
    label = ", ".join(str(part) for part in (row["attack"], *about) if part is not None)
    if row["main"] is None:
        value = f"not attacked: {row['explanation']}"
    else:
        found = [(name, row[name]) for name in _MEASURED if not _is_null(row[name])]
        value = ", ".join(
            f"{name.replace('_', ' ')} {format_figure(number)}" for name, number in found
        )
        if row["holds"] is not None:
            value += "; holds" if row["holds"] else "; DOES NOT HOLD"
        if row["is_warning"]:
            value += "; WARNING"
    return Figure(label.replace("_", " "), value, f"{evidence.spec.name}_attacks")


def _is_null(value: Any) -> bool:
    return format_figure(value) == format_figure(None)
