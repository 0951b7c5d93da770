"""Section on disclosure: class sizes, risks, columns that find people, attacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbt_anonymize.extensions.report.reading import SIZES, Findings
from dbt_anonymize.extensions.report.section import Section, missing, number, words
from dbt_anonymize.pluralize import pluralized

_MOST_SUBSETS = 15
# Bars of a chart; tables have all rows.
_MOST_BARS = 10
_SHOWN = ("attack", "main", "control", "naive", "risk", "limit", "holds")
# Measures of attacks that are no rates.
_COUNTS = {"unexplained_rows"}


def sections(found: Findings) -> list[Section]:
    """Return sizes of classes, risks, subsets of columns, and attacks."""
    return [class_sizes(found), risks(found), columns(found), attacks(found)]


def class_sizes(found: Findings) -> Section:
    """Share of the released records by the size of their class."""
    title = "How large the groups are in which people hide"
    rows = found.rows("classes")
    if not rows:
        return missing("class_sizes", title, f"{found.spec.name}_classes", "dbt build")
    total = dict[int, int]()
    for row in rows:
        total[int(row["effort"])] = total.get(int(row["effort"]), 0) + int(row["records"])
    data: list[dict[str, Any]] = [
        {
            "effort": int(row["effort"]),
            "size": _interval(int(row["size_from"])),
            "order": int(row["size_from"]),
            "classes": int(row["classes"]),
            "share": int(row["records"]) / total[int(row["effort"])],
        }
        for row in rows
    ]
    alone = {r["effort"]: r["share"] for r in data if r["order"] == 1}
    return Section(
        "class_sizes",
        title,
        "Whoever knows all quasi-identifiers of a person finds as many records as their class has. "
        f"In the untouched table {alone.get(0, 0):.0%} of the records are alone. Suppressed "
        "classes are left out.",
        ("effort", "size of the class", "classes", "share of records"),
        [(r["effort"], r["size"], r["classes"], r["share"]) for r in data],
        data,
        "class_sizes",
        {"order": [_interval(size) for size in SIZES if size <= max(r["order"] for r in data)]},
    )


def _interval(start: int) -> str:
    """Return an interval of sizes by its start.

    Examples
    --------
    >>> _interval(1), _interval(5), _interval(1000)
    ('1', '5 to 9', '1000 or more')
    """
    place = SIZES.index(start)
    if place + 1 == len(SIZES):
        return f"{start} or more"
    end = SIZES[place + 1] - 1
    return str(start) if start == end else f"{start} to {end}"


def risks(found: Findings) -> Section:
    """Show the risk profile: how many records have at most a risk."""
    title = "Risk of being found"
    rows = found.rows("risk_profile")
    if not rows:
        return missing("risks", title, f"{found.spec.name}_risk_profile", "dbt build")
    data: list[dict[str, Any]] = [
        {
            "effort": int(row["effort"]),
            "risk": number(row["risk_to"]),
            "share": number(row["cumulative_share"]),
            "is_chosen": int(row["effort"]) == found.evidence.effort,
        }
        for row in sorted(rows, key=lambda row: (row["effort"], row["risk_to"]))
    ]
    (highest,) = {
        number(row.get("highest_risk"))
        for row in found.rows("privacy")
        if found.chosen and row["effort"] == found.chosen["effort"]
    } or {None}
    said = "" if highest is None else f" The highest risk in the release is {highest:.2%}."
    return Section(
        "risks",
        title,
        "Share of the records whose risk (1 / size of the class) is at most what is given below: "
        "the earlier a line is up, the better people are hidden; the thick line is the release."
        f"{said}",
        ("effort", "risk at most", "share of records"),
        [(r["effort"], r["risk"], r["share"]) for r in data],
        data,
        "risks",
    )


def columns(found: Findings) -> Section:
    """Columns of the untouched table that find people."""
    title = "Which columns find people"
    rows = found.rows("quasi_identifier_risk")
    if not rows:
        relation = f"{found.spec.name}_quasi_identifier_risk"
        return missing("columns", title, relation, "dbt build")
    ordered = sorted(rows, key=lambda row: (-(number(row["uniqueness"]) or 0), row["size"]))
    data: list[dict[str, Any]] = [
        {
            "columns": str(row["quasi_identifiers"]),
            "uniqueness": number(row["uniqueness"]),
            "separation": number(row["separation"]),
            "distinction": number(row["distinction"]),
        }
        for row in ordered[:_MOST_SUBSETS]
    ]
    first = data[0]
    alone = "together single out" if ordered[0]["size"] > 1 else "alone singles out"
    return Section(
        "columns",
        title,
        f"Without generalization, {first['columns']} {alone} "
        f"{first['uniqueness'] or 0:.0%} of the records.{_left_out(rows)}",
        ("columns", "records singled out", "separation", "distinction"),
        [(r["columns"], r["uniqueness"], r["separation"], r["distinction"]) for r in data],
        data[:_MOST_BARS],
        "columns",
        is_worst_first=True,
    )


def _left_out(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say which subsets were not measured: those between the small ones and all columns."""
    *_, largest, most = [0, *sorted({int(row["size"]) for row in rows})]
    if largest >= most - 1:
        return ""
    return f" Subsets of {largest + 1} to {most - 1} of the {most} columns were not measured."


def attacks(found: Findings) -> Section:
    """Attacks on people of the release, and on people who were left out."""
    title = "Attacks, with their control"
    rows = found.rows("attacks")
    if not rows:
        relation, command = f"{found.spec.name}_attacks", f"dbt-anonymize verify {found.spec.name}"
        if found.evidence.relations["attacks"]:
            remedy = found.evidence.remedy("attacks")
            return Section("attacks", title, f"Not there in {relation}. {remedy}")
        return missing("attacks", title, relation, command)
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
    return Section(
        "attacks",
        title,
        "Main is the success on people of the release; control on people who were left out, "
        "naive without the release. Only what main exceeds control tells something about a person. "
        "Numbers of records or classes are in the table alone. "
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
            for row in [row for row in data if not row["is_count"]][:_MOST_BARS]
            for kind in ("main", "control", "naive")
            if row[kind] is not None
        ],
        "attacks",
        is_open=bool(broken or warnings),
        is_worst_first=True,
    )


def _gravity(row: Mapping[str, Any]) -> tuple[bool, bool, float]:
    """Return what sorts attacks: exceeded limits, warnings, then what exceeds the control."""
    exceeds = (number(row["main"]) or 0) - (number(row["control"]) or 0)
    return row["holds"] is not False, not row["is_warning"], -exceeds
