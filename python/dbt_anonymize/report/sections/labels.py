"""What values become: labels of hierarchies, how many records have each, what is lost."""

from __future__ import annotations

from typing import Any

from dbt_anonymize.report.reading import Findings
from dbt_anonymize.report.section import Cell, Section, missing, number
from dbt_anonymize.spec.efforts import Effort

_MOST_LABELS = 40


def sections(found: Findings) -> list[Section]:
    """Return invented records, a distribution for each quasi-identifier, and losses."""
    return [*invented(found), *distributions(found), losses(found)]


def invented(found: Findings) -> list[Section]:
    """Three records that nobody has, through all efforts of one level per column."""
    spec = found.spec
    efforts = {n: e for n, e in spec.numbered_efforts.items() if n and e.is_full_domain}
    if not efforts or set(found.hierarchies) != set(spec.quasi_identifiers):
        return []
    rows: list[tuple[Cell, ...]] = [
        (place + 1, number_, *(_label(found, name, place, effort) for name in found.hierarchies))
        for place in range(3)
        for number_, effort in efforts.items()
    ]
    return [
        Section(
            "invented",
            "Three invented records through the efforts",
            "Nobody has these records: their labels are taken from a quarter, the middle and three "
            "quarters of each hierarchy. A line says what such a record looks like in an effort.",
            ("record", "effort", *found.hierarchies),
            rows,
        )
    ]


def _label(found: Findings, name: str, place: int, effort: Effort) -> str:
    rows = found.hierarchies[name]
    level = (effort.levels or {})[name]
    if level == 0:
        return "the value itself"
    return str(rows[(place + 1) * len(rows) // 4][f"level_{level}"])


def distributions(found: Findings) -> list[Section]:
    """How many records have each label of a quasi-identifier, per effort."""
    if found.spec.differential_privacy is not None:
        return [
            Section(
                "labels",
                "Distribution of the quasi-identifiers",
                "Not shown: under differential privacy exact counts would say more than the "
                "release does.",
            )
        ]
    return [
        _distribution(found, place, name) for place, name in enumerate(found.spec.quasi_identifiers)
    ]


def _distribution(found: Findings, place: int, name: str) -> Section:
    order = _order(found, name)
    data: list[dict[str, Any]] = [
        {
            "effort": int(row["effort"]),
            "label": "rare labels together" if row["label"] is None else str(row["label"]),
            "records": int(row["records"]),
        }
        for row in found.labels.get(name, ())
    ]
    data.sort(key=lambda row: (row["effort"], order.get(row["label"], len(order)), row["label"]))
    kept: list[dict[str, Any]] = []
    for effort in sorted({row["effort"] for row in data}):
        kept += _most(data, effort)
    return Section(
        f"labels_{place}",
        f"Distribution of {name}",
        f"Records by their label of {name}. Counts are multiples of {found.fewest}, and labels of "
        f"fewer than {found.fewest} records are not shown.",
        ("effort", name, "records, about"),
        [(r["effort"], r["label"], r["records"]) for r in kept],
        kept,
        "labels" if kept else None,
        {
            "chosen": found.evidence.effort or -1,
            "order": list(
                dict.fromkeys(
                    r["label"]
                    for r in sorted(kept, key=lambda r: order.get(r["label"], len(order)))
                )
            ),
        },
    )


def _most(data: list[dict[str, Any]], effort: int) -> list[dict[str, Any]]:
    """Return the commonest labels of an effort, in their order."""
    own = [row for row in data if row["effort"] == effort]
    common = sorted(own, key=lambda row: -row["records"])[:_MOST_LABELS]
    names = {row["label"] for row in common}
    return [row for row in own if row["label"] in names]


def _order(found: Findings, name: str) -> dict[str, int]:
    """Return the place of each label in its hierarchy."""
    order = dict[str, int]()
    for row in found.hierarchies.get(name, ()):
        for label in row.values():
            order.setdefault(str(label), len(order))
    return order


def losses(found: Findings) -> Section:
    """Information loss of each quasi-identifier."""
    title = "Information lost in each column"
    rows = found.rows("information_loss")
    names = [name for name in found.spec.quasi_identifiers if rows and f"{name}_loss" in rows[0]]
    if not names:
        relation = f"{found.spec.name}_information_loss"
        return missing("losses", title, relation, "dbt build")
    data: list[dict[str, Any]] = [
        {"effort": int(row["effort"]), "column": name, "loss": number(row[f"{name}_loss"])}
        for row in rows
        for name in names
    ]
    return Section(
        "losses",
        title,
        "Loss is 0 where every value is kept and 1 where everything is `*`.",
        ("effort", *names),
        [(int(row["effort"]), *(number(row[f"{name}_loss"]) for name in names)) for row in rows],
        [row for row in data if row["loss"] is not None],
        "losses",
    )
