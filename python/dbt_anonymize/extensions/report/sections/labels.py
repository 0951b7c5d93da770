"""Section on labels: hierarchies, records per label, and loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from dbt_anonymize.extensions.report.reading import Findings
from dbt_anonymize.hierarchies.bounds import parse_bound
from dbt_anonymize.project.sections import Cell, Section, missing, number
from dbt_anonymize.spec.efforts import Effort

_MOST_LABELS = 40
_RARE = "rare labels together"
# Columns of a wide table.
_MOST_COLUMNS = 10


def invented_records(findings: Findings) -> list[Section]:
    """Three records that nobody has, through all efforts of one level per column."""
    spec = findings.spec
    efforts = {n: e for n, e in spec.numbered_efforts.items() if n and e.is_full_domain}
    if not efforts or set(findings.hierarchies) != set(spec.quasi_identifiers):
        return []
    names = columns_by_loss(findings)[:_MOST_COLUMNS]
    rows: list[tuple[Cell, ...]] = [
        (place + 1, number_, *(_label(findings, name, place, effort) for name in names))
        for place in range(3)
        for number_, effort in efforts.items()
    ]
    return [
        Section(
            "invented",
            "Three invented records through the efforts",
            "Nobody has these records: their labels are taken from a quarter, the middle and three "
            "quarters of each hierarchy. A line says what such a record looks like in an effort."
            + _omission([name for name in spec.quasi_identifiers if name not in names]),
            ("record", "effort", *names),
            rows,
        )
    ]


def columns_by_loss(findings: Findings) -> list[str]:
    """Return the quasi-identifiers, the largest loss in the chosen effort first."""
    lost = losses_of(findings, findings.evidence.effort)
    return sorted(findings.spec.quasi_identifiers, key=lambda name: -lost.get(name, 0.0))


def losses_of(findings: Findings, effort: int | None) -> dict[str, float]:
    """Return the loss of each quasi-identifier in an effort, where it was measured."""
    rows = [row for row in findings.rows("information_loss") if row["effort"] == effort]
    columns = {name: f"{name}_loss" for name in findings.spec.quasi_identifiers}
    losses = ((name, number(row.get(column))) for row in rows for name, column in columns.items())
    return {name: loss for name, loss in losses if loss is not None}


def _omission(names: Sequence[str]) -> str:
    return f" Not shown: {', '.join(names)}." if names else ""


def _label(findings: Findings, name: str, place: int, effort: Effort) -> str:
    rows = findings.hierarchies[name]
    level = (effort.levels or {})[name]
    if level == 0:
        return "the value itself"
    return str(rows[(place + 1) * len(rows) // 4][f"level_{level}"])


def distributions(findings: Findings) -> list[Section]:
    """Return the records per label of a quasi-identifier, per effort."""
    if findings.spec.differential_privacy is not None:
        return [
            Section(
                "labels",
                "Distribution of the quasi-identifiers",
                "Not shown: under differential privacy exact counts would say more than the "
                "release does.",
            )
        ]
    names = list(findings.spec.quasi_identifiers)
    if len(names) <= _MOST_COLUMNS:
        return [_distribution(findings, place, name) for place, name in enumerate(names)]
    names = columns_by_loss(findings)
    parts = [_distribution(findings, place, name) for place, name in enumerate(names)]
    others = [
        (name, *row)
        for name, part in zip(names[_MOST_COLUMNS:], parts[_MOST_COLUMNS:], strict=True)
        for row in part.rows
    ]
    rest = Section(
        "labels_others",
        "Distribution of the other columns",
        f"Records by their label of {', '.join(names[_MOST_COLUMNS:])}, as above.",
        ("column", "effort", "label", "records, about"),
        others,
    )
    return [*parts[:_MOST_COLUMNS], rest]


def _distribution(findings: Findings, place: int, name: str) -> Section:
    order = _label_order(findings, name)
    of_release = "" if findings.evidence.effort is None else " of the chosen effort"
    data: list[dict[str, Any]] = [
        {
            "effort": int(row["effort"]),
            "label": _RARE if row["label"] is None else str(row["label"]),
            "records": int(row["records"]),
        }
        for row in findings.labels.get(name, ())
        if int(row["effort"]) == findings.evidence.effort or findings.evidence.effort is None
    ]
    data.sort(key=lambda row: (row["effort"], *_label_key(row["label"], order)))
    shares: list[dict[str, Any]] = []
    for effort in sorted({row["effort"] for row in data}):
        shares += _commonest(data, effort)
    return Section(
        f"labels_{place}",
        f"Distribution of {name}",
        f"Records{of_release} by their label of {name}. Counts are multiples of {findings.fewest}, "
        f"and labels of fewer than {findings.fewest} records are not shown.",
        ("effort", name, "records, about"),
        [(r["effort"], r["label"], r["records"]) for r in shares],
        shares,
        "labels" if shares else None,
        {
            "chosen": findings.evidence.effort or -1,
            "order": list(
                dict.fromkeys(
                    r["label"] for r in sorted(shares, key=lambda r: _label_key(r["label"], order))
                )
            ),
        },
    )


def _commonest(data: list[dict[str, Any]], effort: int) -> list[dict[str, Any]]:
    """Return the commonest labels of an effort, in their order."""
    own = [row for row in data if row["effort"] == effort]
    common = sorted(own, key=lambda row: -row["records"])[:_MOST_LABELS]
    names = {row["label"] for row in common}
    return [row for row in own if row["label"] in names]


def _label_key(label: str, order: Mapping[str, int]) -> tuple[int, float, str]:
    """Return the sort key of a label: by its hierarchy, then values by size, then rare ones.

    Examples
    --------
    >>> labels = ["10", "rare labels together", "9", "old", "b"]
    >>> sorted(labels, key=lambda label: _label_key(label, {"old": 0}))
    ['old', '9', '10', 'b', 'rare labels together']
    """
    if label in order:
        return 0, order[label], ""
    if label == _RARE:
        return 3, 0, ""
    value = parse_bound(label)
    return (1, float(value), "") if isinstance(value, Decimal) else (2, 0, label)


def _label_order(findings: Findings, name: str) -> dict[str, int]:
    """Return the place of each label in its hierarchy."""
    order = dict[str, int]()
    for row in findings.hierarchies.get(name, ()):
        for label in row.values():
            order.setdefault(str(label), len(order))
    return order


def losses(findings: Findings) -> Section:
    """Information loss of each quasi-identifier."""
    title = "Information lost in each column"
    rows = findings.rows("information_loss")
    names = [name for name in columns_by_loss(findings) if rows and f"{name}_loss" in rows[0]]
    if not names:
        relation = f"{findings.spec.name}_information_loss"
        return missing("losses", title, relation, "dbt build")
    efforts = [int(row["effort"]) for row in rows if row["effort"]]
    charted_effort = findings.evidence.effort or next(reversed(efforts), 0)
    lost = losses_of(findings, charted_effort)
    return Section(
        "losses",
        title,
        "Loss is 0 where every value is kept and 1 where everything is `*`. Columns are in the "
        f"order of what effort {charted_effort} loses of them, which the chart shows"
        f"{f' of the first {_MOST_COLUMNS}' if len(names) > _MOST_COLUMNS else ''}.",
        ("column", *(f"effort {effort}" for effort in efforts)),
        [(name, *(number(row[f"{name}_loss"]) for row in rows if row["effort"])) for name in names],
        [{"column": name, "loss": lost[name]} for name in names if name in lost][:_MOST_COLUMNS],
        "losses",
        is_open=True,
        is_worst_first=True,
    )
