"""Section on the sizes of classes."""

from __future__ import annotations

from typing import Any

from dbt_anonymize.extensions.report.reading import SIZES, Findings
from dbt_anonymize.project.sections import Section, missing


def class_sizes(findings: Findings) -> Section:
    """Share of the released records by the size of their class."""
    title = "How large the groups are in which people hide"
    rows = findings.rows("classes")
    if not rows:
        return missing("class_sizes", title, f"{findings.spec.name}_classes", "dbt build")
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
