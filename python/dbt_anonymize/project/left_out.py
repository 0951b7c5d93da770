"""Values whose records are left out of a release far more often than others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.hierarchies.model import ROOT
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec

# A value, and all others together, are compared if they have at least so many records, or people,
# and such a share of them.
FEWEST, _SMALLEST = 50, 0.05
# The difference matters from so many points on, and if the share is so many times that of all
# others; it is no chance if fewer than one of a hundred tables had it by chance, in any value.
_POINTS, _TIMES, _CHANCE = 0.05, 2, 0.01


@dataclass(frozen=True)
class Group:
    """A value of a column, with its records, or people, and how many of these are left out."""

    column: str
    value: str
    size: int
    lost: int


@dataclass(frozen=True)
class LeftOut:
    """A value, and which share of its records is left out, and of all others."""

    column: str
    value: str
    share: float
    others: float

    def __str__(self) -> str:
        """Say it without a number of records."""
        return (
            f"{self.share:.0%} of the records with {self.column} = {self.value}, "
            f"{self.others:.0%} of all others"
        )


def standing_out(groups: Iterable[Group], total: int, lost: int) -> LeftOut | None:
    """Return the value whose share left out is most above that of all others, if it stands out.

    ``total`` and ``lost`` are of the whole table. The test is Fisher's, corrected for the number of
    values that are looked at.

    Examples
    --------
    >>> groups = [Group("race", "white", 900, 18), Group("race", "Black", 100, 30)]
    >>> print(standing_out(groups, 1000, 48))
    30% of the records with race = Black, 2% of all others
    """
    fewest = max(FEWEST, _SMALLEST * total)
    compared = [one for one in groups if min(one.size, total - one.size) >= fewest]
    found = []
    for one in compared:
        share, others = one.lost / one.size, (lost - one.lost) / (total - one.size)
        if share - others >= _POINTS and share >= _TIMES * others:
            found.append((one, LeftOut(one.column, one.value, share, others)))
    if not found:
        return None
    # Imported here: scipy takes a while, and few releases need it.
    tail = import_module("scipy.stats").hypergeom.sf
    clear = [
        said
        for one, said in found
        if tail(one.lost - 1, total, lost, one.size) * len(compared) < _CHANCE
    ]
    return max(clear, key=lambda said: said.share - said.others, default=None)


def most_left_out(warehouse: Warehouse, spec: Spec, effort: int | None) -> LeftOut | None:
    """Return the released label that stands out in a built effort; ranges of numbers are none.

    None where people have several records, which classes do not tell apart, where labels differ by
    record, where people wait, and under differential privacy, which draws who is left out.
    """
    if not effort or spec.differential_privacy or spec.subject or spec.holds_back_joiners:
        return None
    if not spec.numbered_efforts[effort].is_full_domain:
        return None
    try:
        relation = warehouse.relation_of_ref(f"{spec.name}_classes")
    except WarehouseError:  # dropped since: what needs it says so
        return None
    groups: list[Group] = []
    total = lost = 0
    for column in spec.quasi_identifiers:
        rows = _labels(warehouse, relation, column, effort)
        total, lost = (sum(int(row[place]) for row in rows) for place in (1, 2))
        groups += [
            Group(column, str(label), int(size), int(gone))
            for label, size, gone in rows
            if label != ROOT and not str(label).startswith("[")
        ]
    return standing_out(groups, total, lost)


def _labels(
    warehouse: Warehouse, relation: Any, column: str, effort: int | None
) -> Sequence[tuple[Any, ...]]:
    name = quote_name(column)
    return warehouse.rows(
        f"select {name}, sum(records), "  # noqa: S608 (quoted)
        "sum(case when is_suppressed then records else 0 end) "
        f"from {relation} where effort = {effort} group by 1"
    )
