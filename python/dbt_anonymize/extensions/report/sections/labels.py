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


def invented(found: Findings) -> list[Section]:
    """Three records that nobody has, through all efforts of one level per column."""
    spec = found.spec
    efforts = {n: e for n, e in spec.numbered_efforts.items() if n and e.is_full_domain}
    if not efforts or set(found.hierarchies) != set(spec.quasi_identifiers):
        return []
    names = by_loss(found)[:_MOST_COLUMNS]
    rows: list[tuple[Cell, ...]] = [
        (place + 1, number_, *(_label(found, name, place, effort) for name in names))
        for place in range(3)
        for number_, effort in efforts.items()
    ]
    return [
        Section(
            "invented",
            "Three invented records through the efforts",
            "Nobody has these records: their labels are taken from a quarter, the middle and three "
            "quarters of each hierarchy. A line says what such a record looks like in an effort."
            + _not_shown([name for name in spec.quasi_identifiers if name not in names]),
            ("record", "effort", *names),
            rows,
        )
    ]


def by_loss(found: Findings) -> list[str]:
    """Return the quasi-identifiers, those first of which the chosen effort loses most."""
    lost = losses_of(found, found.evidence.effort)
    return sorted(found.spec.quasi_identifiers, key=lambda name: -lost.get(name, 0.0))


def losses_of(found: Findings, effort: int | None) -> dict[str, float]:
    """Return the loss of each quasi-identifier in an effort, where it was measured."""
    rows = [row for row in found.rows("information_loss") if row["effort"] == effort]
    columns = {name: f"{name}_loss" for name in found.spec.quasi_identifiers}
    losses = ((name, number(row.get(one))) for row in rows for name, one in columns.items())
    return {name: loss for name, loss in losses if loss is not None}


def _not_shown(names: Sequence[str]) -> str:
    return f" Not shown: {', '.join(names)}." if names else ""


def _label(found: Findings, name: str, place: int, effort: Effort) -> str:
    rows = found.hierarchies[name]
    level = (effort.levels or {})[name]
    if level == 0:
        return "the value itself"
    return str(rows[(place + 1) * len(rows) // 4][f"level_{level}"])


def distributions(found: Findings) -> list[Section]:
    """Return the records per label of a quasi-identifier, per effort."""
    if found.spec.differential_privacy is not None:
        return [
            Section(
                "labels",
                "Distribution of the quasi-identifiers",
                "Not shown: under differential privacy exact counts would say more than the "
                "release does.",
            )
        ]
    names = list(found.spec.quasi_identifiers)
    if len(names) <= _MOST_COLUMNS:
        return [_distribution(found, place, name) for place, name in enumerate(names)]
    names = by_loss(found)
    parts = [_distribution(found, place, name) for place, name in enumerate(names)]
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


def _distribution(found: Findings, place: int, name: str) -> Section:
    order = _order(found, name)
    of_release = "" if found.evidence.effort is None else " of the chosen effort"
    data: list[dict[str, Any]] = [
        {
            "effort": int(row["effort"]),
            "label": _RARE if row["label"] is None else str(row["label"]),
            "records": int(row["records"]),
        }
        for row in found.labels.get(name, ())
        if int(row["effort"]) == found.evidence.effort or found.evidence.effort is None
    ]
    data.sort(key=lambda row: (row["effort"], *_place(row["label"], order)))
    kept: list[dict[str, Any]] = []
    for effort in sorted({row["effort"] for row in data}):
        kept += _most(data, effort)
    return Section(
        f"labels_{place}",
        f"Distribution of {name}",
        f"Records{of_release} by their label of {name}. Counts are multiples of {found.fewest}, "
        f"and labels of fewer than {found.fewest} records are not shown.",
        ("effort", name, "records, about"),
        [(r["effort"], r["label"], r["records"]) for r in kept],
        kept,
        "labels" if kept else None,
        {
            "chosen": found.evidence.effort or -1,
            "order": list(
                dict.fromkeys(
                    r["label"] for r in sorted(kept, key=lambda r: _place(r["label"], order))
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


def _place(label: str, order: Mapping[str, int]) -> tuple[int, float, str]:
    """Return what sorts a label: as its hierarchy does; values by size, then rare ones together.

    Examples
    --------
    >>> sorted(["10", "rare labels together", "9", "old", "b"], key=lambda x: _place(x, {"old": 0}))
    ['old', '9', '10', 'b', 'rare labels together']
    """
    if label in order:
        return 0, order[label], ""
    if label == _RARE:
        return 3, 0, ""
    value = parse_bound(label)
    return (1, float(value), "") if isinstance(value, Decimal) else (2, 0, label)


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
    names = [name for name in by_loss(found) if rows and f"{name}_loss" in rows[0]]
    if not names:
        relation = f"{found.spec.name}_information_loss"
        return missing("losses", title, relation, "dbt build")
    efforts = [int(row["effort"]) for row in rows if row["effort"]]
    shown = found.evidence.effort or next(reversed(efforts), 0)
    lost = losses_of(found, shown)
    return Section(
        "losses",
        title,
        "Loss is 0 where every value is kept and 1 where everything is `*`. Columns are in the "
        f"order of what effort {shown} loses of them, which the chart shows"
        f"{f' of the first {_MOST_COLUMNS}' if len(names) > _MOST_COLUMNS else ''}.",
        ("column", *(f"effort {effort}" for effort in efforts)),
        [(name, *(number(row[f"{name}_loss"]) for row in rows if row["effort"])) for name in names],
        [{"column": name, "loss": lost[name]} for name in names if name in lost][:_MOST_COLUMNS],
        "losses",
        is_open=True,
        is_worst_first=True,
    )
