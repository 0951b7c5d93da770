"""Values whose records are left out of a release far more often than others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.hierarchies.model import ROOT
from dbt_anonymize.literals import quote_name
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.project.results import EffortResult
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Hierarchy, Spec

# A value is compared if it, and all others together, have at least this many people, and at least
# this share of the records.
FEWEST, _SMALLEST = 50, 0.05
# The share left out must exceed that of all others by this many points and by this factor, and be
# significant at this level after correction for the number of values.
_POINTS, _TIMES, _CHANCE = 0.05, 2, 0.01
# Ends of a number that are compared: a tenth of the records, or not many more with equal values.
TENTHS = {"lowest": 0.1, "highest": 0.9}
MOST_OF_A_TENTH = 0.15
# A value is absent from the release if at least this share of its records is left out; most values
# that are named.
_ABSENT, _MOST_NAMED = 0.9, 3


@dataclass(frozen=True)
class Group:
    """A value of a column: its records, those left out, and its people if they have several.

    ``is_tenth``: the value is an end of a number, a key of `TENTHS`.
    """

    column: str
    value: str
    size: int
    lost: int
    people: int | None = None
    is_tenth: bool = False

    @property
    def repeats(self) -> float:
        """Records per person."""
        return self.size / (self.people or self.size)


# Groups, and the records and those left out of the whole table.
Compared = tuple[list[Group], int, int]


@dataclass(frozen=True)
class LeftOut:
    """A value, or an end of a number, with the share that is left out, and that of all others."""

    column: str
    value: str
    share: float
    others: float
    is_tenth: bool = False

    def __str__(self) -> str:
        """Return it as text without counts of records."""
        value = f"in its {self.value} tenth" if self.is_tenth else f"= {self.value}"
        return (
            f"{self.share:.0%} of the records with {self.column} {value}, "
            f"{self.others:.0%} of all others"
        )


def find_outlier(groups: Iterable[Group], total: int, lost: int) -> LeftOut | None:
    """Return the value whose share left out most exceeds that of all others, if it is significant.

    ``total`` and ``lost`` count the records of the whole table. The test is Fisher's exact test
    with a Bonferroni correction. Where people have several records, it takes all of a person to be
    left out together: numbers are divided by the most records per person of any compared value.

    Examples
    --------
    >>> groups = [Group("race", "white", 900, 18), Group("race", "Black", 100, 30)]
    >>> print(find_outlier(groups, 1000, 48))
    30% of the records with race = Black, 2% of all others
    """
    fewest = max(FEWEST, _SMALLEST * total)
    large = [group for group in groups if min(group.size, total - group.size) >= fewest]
    compared = [group for group in large if group.size >= FEWEST * group.repeats]
    repeats = max((group.repeats for group in compared), default=1.0)
    compared = [group for group in compared if total - group.size >= FEWEST * repeats]
    outliers = []
    for group in compared:
        share, others = group.lost / group.size, (lost - group.lost) / (total - group.size)
        if share - others >= _POINTS and share >= _TIMES * others:
            found = LeftOut(group.column, group.value, share, others, group.is_tenth)
            outliers.append((group, found))
    if not outliers:
        return None
    # Imported here: scipy is slow to import, and few releases need it.
    tail = import_module("scipy.stats").hypergeom.sf
    significant = [
        outlier
        for group, outlier in outliers
        if tail(
            int(group.lost / repeats) - 1,
            *(int(records / repeats) for records in (total, lost, group.size)),
        )
        * len(compared)
        < _CHANCE
    ]
    return max(significant, key=lambda outlier: outlier.share - outlier.others, default=None)


def find_absent(groups: Iterable[Group], total: int, lost: int, k: int) -> list[Group]:
    """Return the most frequent values of k people or more that are all but left out.

    ``total`` and ``lost`` count the records of the whole table. Where some records of a value are
    kept, the share left out must exceed that of all others by far. NULL is no value.
    """
    absent = [
        group
        for group in groups
        if not (group.is_tenth or group.value == "NULL")
        and (group.size if group.people is None else group.people) >= k
        and group.lost >= _ABSENT * group.size
        and (
            group.lost == group.size
            or group.lost * (total - group.size) >= _TIMES * (lost - group.lost) * group.size
        )
    ]
    return sorted(absent, key=lambda group: (-group.size, group.column, group.value))[:_MOST_NAMED]


def absent_text(absent: Sequence[Group], where: str = "") -> str:
    """Return a sentence on values that are all but left out.

    Examples
    --------
    >>> print(absent_text([Group("mgus", "yes", 115, 115)]))
    Left out altogether: the 115 records with mgus = yes; the release has only other values of mgus.
    """
    nearly = "nearly " if any(group.lost < group.size for group in absent) else ""
    records = ", ".join(
        f"{f'{group.lost:,} of ' if group.lost < group.size else ''}the "
        f"{pluralized(group.size, 'record')} with {group.column} = {group.value}"
        for group in absent
    )
    columns = ", ".join(dict.fromkeys(group.column for group in absent))
    return (
        f"Left out {nearly}altogether{where}: {records}; the release has {nearly}only other values "
        f"of {columns}."
    )


def note_left_out(warehouse: Warehouse, spec: Spec, chosen: EffortResult) -> Iterator[str]:
    """Yield the sentences of `results` on who is left out most conspicuously, if anybody is."""
    if chosen.suppressed_records < min(_POINTS * FEWEST, _ABSENT * spec.largest_k):
        return  # no value can be named
    compared = _compared(warehouse, spec, chosen.effort)
    outliers = [found for groups in compared if (found := find_outlier(*groups))]
    if outliers:
        yield f"Left out far more than others: {'; '.join(map(str, outliers))}."
    k = max(spec.largest_k, spec.numbered_efforts[chosen.effort].k or 0) if compared else 0
    named = {(outlier.column, outlier.value) for outlier in outliers}
    absent = [
        group
        for groups in compared
        for group in find_absent(*groups, k)
        if (group.column, group.value) not in named
    ]
    if absent:
        yield absent_text(absent)


def most_left_out(warehouse: Warehouse, spec: Spec, effort: int | None) -> list[LeftOut]:
    """Return the class of the target and the label that are left out most conspicuously."""
    compared = _compared(warehouse, spec, effort)
    return [found for groups in compared if (found := find_outlier(*groups))]


def _compared(warehouse: Warehouse, spec: Spec, effort: int | None) -> list[Compared]:
    """Return the values of the target and the labels, each with all records and those left out.

    Ranges of numbers are not compared; NULL is a value like others. Nothing where labels differ by
    record, people wait, or under differential privacy, which leaves out at random.
    """
    if not effort or spec.differential_privacy or spec.holds_back_joiners:
        return []
    declared = spec.numbered_efforts.get(effort)  # not the table of another tool
    if declared is None or declared.levels is None or not declared.is_full_domain:
        return []
    try:
        return [
            _target_groups(warehouse, spec, effort),
            _label_groups(warehouse, spec, effort, declared.levels),
        ]
    except WarehouseError:  # dropped since: commands that need it report it
        return []


def _target_groups(warehouse: Warehouse, spec: Spec, effort: int) -> Compared:
    target, is_number = spec.target, spec.task == "regression"
    if target is None or target in spec.quasi_identifiers:
        return [], 0, 0
    if not is_number and spec.task != "classification":
        return [], 0, 0
    value = f"microdata.{quote_name(target)}"
    value = _tenth_sql(warehouse, spec, value) if is_number else value
    rows = _counts_of_records(warehouse, spec, effort, value)
    total, lost = (sum(int(row[place]) for row in rows) for place in (1, 2))
    groups = [
        Group(
            target,
            "NULL" if end is None else str(end),
            int(size),
            int(gone),
            int(people),
            is_number,
        )
        for end, size, gone, people in rows
        if not is_number or (end in TENTHS and int(size) <= MOST_OF_A_TENTH * total)
    ]
    return groups, total, lost


def _tenth_sql(warehouse: Warehouse, spec: Spec, value: str) -> str:
    """Return SQL of the key of `TENTHS` to which a number belongs, else NULL."""
    source = warehouse.relation_of_ref(f"{spec.name}_microdata")
    low, high = (
        f"(select percentile_disc({share}) within group (order by {value}) "  # noqa: S608 (quoted)
        f"from {source} as microdata)"
        for share in TENTHS.values()
    )
    return f"case when {value} <= {low} then 'lowest' when {value} > {high} then 'highest' end"


def _label_groups(
    warehouse: Warehouse, spec: Spec, effort: int, levels: Mapping[str, int]
) -> Compared:
    groups: list[Group] = []
    total = lost = 0
    for column, tree in spec.quasi_identifiers.items():
        rows = _labels(warehouse, spec, column, effort)
        names = {ROOT: "NULL"} if _is_missing(warehouse, tree, levels[column]) else {}
        total, lost = (sum(int(row[place]) for row in rows) for place in (1, 2))
        groups += [
            Group(column, names.get(label, str(label)), int(size), int(gone), int(people))
            for label, size, gone, people in rows
            if label in names or (label != ROOT and not str(label).startswith("["))
        ]
    return groups, total, lost


def _is_missing(warehouse: Warehouse, tree: Hierarchy, level: int) -> bool:
    """Tell whether `*` is the label of missing values alone at a level."""
    if not 0 < level < tree.levels or tree.kind == "interval":
        return level < tree.levels
    relation = warehouse.relation_of_ref(tree.ref)
    sql = f"select count(*) from {relation} where level_{level} = '{ROOT}'"  # noqa: S608 (our own names)
    return not warehouse.rows(sql)[0][0]


def _labels(
    warehouse: Warehouse, spec: Spec, column: str, effort: int
) -> Sequence[tuple[Any, ...]]:
    """Return the labels of a column with records, those left out, and people."""
    name = quote_name(column)
    if spec.subject:
        return _counts_of_records(warehouse, spec, effort, f"records.{name}")
    classes = warehouse.relation_of_ref(f"{spec.name}_classes")
    return warehouse.rows(
        f"select {name}, sum(records), "  # noqa: S608 (quoted)
        "sum(case when is_suppressed then records else 0 end), sum(records) "
        f"from {classes} where effort = {effort} group by 1"
    )


def _counts_of_records(
    warehouse: Warehouse, spec: Spec, effort: int, value: str
) -> Sequence[tuple[Any, ...]]:
    """Return the values of a column of an effort or of the microdata, counted in the same way."""
    key = quote_name(spec.record_key)
    people = "count(distinct microdata.subject)" if spec.subject else "count(*)"
    return warehouse.rows(
        f"select {value}, count(*), "  # noqa: S608 (quoted)
        f"sum(case when records.is_suppressed then 1 else 0 end), {people} "
        f"from {warehouse.relation_of_ref(f'{spec.name}_effort_{effort}')} as records "
        f"inner join {warehouse.relation_of_ref(f'{spec.name}_microdata')} as microdata "
        f"on records.{key} = microdata.{key} group by 1"
    )
