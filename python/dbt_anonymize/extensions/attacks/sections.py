"""The section of a report on attacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.project.evidence import Evidence
from dbt_anonymize.project.sections import MOST_BARS, Section, missing, number, words

_SHOWN = ("attack", "main", "control", "naive", "risk", "limit", "holds")
# Measures of attacks that are no rates.
_COUNTS = {"unexplained_rows"}


def sections(evidence: Evidence) -> list[Section]:
    """Return the attacks on people of the release, and on people who were left out."""
    title = "Attacks, with their control"
    rows = evidence.rows("attacks")
    if not rows:
        name = evidence.spec.name
        relation, command = f"{name}_attacks", f"dbt-anonymize verify {name}"
        if evidence.relations["attacks"]:
            remedy = evidence.remedy("attacks")
            return [Section("attacks", title, f"Not there in {relation}. {remedy}")]
        return [missing("attacks", title, relation, command)]
    data = list[dict[str, Any]]()
    rows = sorted(rows, key=_gravity)
    for row in rows:
        about = (row["attack"], row["measure"], row["attribute"], row["against"])
        name = ", ".join(words(part) for part in about if part is not None)
        values = {part: number(row[part]) for part in ("main", "control", "naive", "risk")}
        limit = number(row["declared_limit"])
        is_count = row["attack"] == "composition" or row["measure"] in _COUNTS
        data.append(
            {"attack": name, **values, "limit": limit, "holds": row["holds"], "is_count": is_count}
        )
    broken = sum(row["holds"] is False for row in data)
    warnings = sum(bool(row["is_warning"]) for row in rows)
    return [
        Section(
            "attacks",
            title,
            "Main is the success on people of the release; control on people who were left out, "
            "naive without the release. Only what main exceeds control tells something about a "
            "person. Numbers of records or classes are in the table alone. "
            + (
                f"{pluralized(broken, 'declared limit')} exceeded."
                if broken
                else "No declared limit is exceeded."
            )
            + (f" {pluralized(warnings, 'warning')}: see the table." if warnings else ""),
            ("attack", "main", "control", "naive", "risk", "declared limit", "holds", "warning"),
            [
                (*(r[name] for name in _SHOWN), "warning" if row["is_warning"] else None)
                for r, row in zip(data, rows, strict=True)
            ],
            [
                {"attack": row["attack"], "kind": kind, "success": row[kind]}
                for row in [row for row in data if not row["is_count"]][:MOST_BARS]
                for kind in ("main", "control", "naive")
                if row[kind] is not None
            ],
            "attacks",
            is_open=bool(broken or warnings),
            is_worst_first=True,
        )
    ]


def _gravity(row: Mapping[str, Any]) -> tuple[bool, bool, float]:
    """Return the sort key of attacks: exceeded limits, warnings, then the largest excess."""
    exceeds = (number(row["main"]) or 0) - (number(row["control"]) or 0)
    return row["holds"] is not False, not row["is_warning"], -exceeds
