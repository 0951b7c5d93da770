"""Families of columns of 0 and 1 that exclude each other, and so are one attribute."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse

# Fewest columns of a family: two columns of yes or no may exclude each other by chance.
_FEWEST = 3
# Most columns whose pairs are counted, and pairs per query.
_MOST_COLUMNS, _PAIRS_AT_ONCE = 80, 300
_MOST_RECORDS = 30_000_000
# Expected records with two independent columns, from which on their exclusion is no chance.
_EXPECTED = 10

Pairs = dict[tuple[str, str], int]


def with_families(
    warehouse: Warehouse, relation: Any, facts: Sequence[ColumnFacts]
) -> list[ColumnFacts]:
    """Return facts with the columns that are one attribute with each column.

    Columns with a common prefix need only exclude each other; for others that must be no chance.
    """
    candidates = [
        column for column in facts if column.distinct == 2 and column.kind in {"number", "boolean"}
    ]
    if len(candidates) < _FEWEST or not facts or facts[0].records > _MOST_RECORDS:
        return list(facts)
    record_counts = _record_counts(warehouse, relation, candidates)
    names = sorted(record_counts, key=lambda name: -record_counts[name])[:_MOST_COLUMNS]
    pair_counts = _pair_counts(
        warehouse, relation, [column for column in candidates if column.name in names]
    )
    families: list[list[str]] = []
    for named in _by_prefix(names):
        families += _exclusive_families(named, pair_counts, record_counts)
    members = {name for family in families for name in family}
    rest = [name for name in names if name not in members]
    least = _EXPECTED * facts[0].records
    families += _exclusive_families(rest, pair_counts, record_counts, least)
    family_by_name = {
        name: tuple((other, record_counts[other]) for other in family)
        for family in families
        for name in family
    }
    return [replace(column, family=family_by_name.get(column.name, ())) for column in facts]


def _by_prefix(names: Sequence[str]) -> list[list[str]]:
    """Return groups of names with the same prefix before the first `_`, `.` or `-`.

    Examples
    --------
    >>> _by_prefix(["job_a", "age", "job_b_c"])
    [['job_a', 'job_b_c']]
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        start, *rest = re.split(r"[_.\-]", name, maxsplit=1)
        if start and rest:
            groups.setdefault(start.lower(), []).append(name)
    return list(groups.values())


def _exclusive_families(
    names: Sequence[str],
    pair_counts: Pairs,
    record_counts: dict[str, int],
    least: int = 0,
) -> list[list[str]]:
    """Return families of names that exclude each other; each name joins the first that it can.

    ``least`` is the fewest expected joint records of a name and its family, times all records.
    """
    families: list[list[str]] = []
    for name in names:
        for family in families:
            expected = record_counts[name] * sum(record_counts[other] for other in family)
            if expected >= least and not any(
                pair_counts[min(name, member), max(name, member)] for member in family
            ):
                family.append(name)
                break
        else:
            families.append([name])
    return [family for family in families if len(family) >= _FEWEST]


def _record_counts(
    warehouse: Warehouse, relation: Any, candidates: Sequence[ColumnFacts]
) -> dict[str, int]:
    """Return the number of records with a 1, for each column of nothing but 0 and 1."""
    counts = ", ".join(
        f"count(case when {_is_one_sql(column)} then 1 end), "
        + (
            "0"
            if column.kind == "boolean"
            else f"count(case when {quote_name(column.name)} not in (0, 1) then 1 end)"
        )
        for column in candidates
    )
    (row,) = warehouse.rows(f"select {counts} from {relation}")  # noqa: S608 (quoted)
    counts_by_column = zip(candidates, row[::2], row[1::2], strict=True)
    return {column.name: int(count) for column, count, others in counts_by_column if not others}


def _pair_counts(warehouse: Warehouse, relation: Any, candidates: Sequence[ColumnFacts]) -> Pairs:
    """Return the number of records with both of two columns, by their sorted names."""
    pairs = [*combinations(sorted(candidates, key=lambda column: column.name), 2)]
    pair_counts: Pairs = {}
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        part = pairs[start : start + _PAIRS_AT_ONCE]
        counts = ", ".join(
            f"count(case when {_is_one_sql(a)} and {_is_one_sql(b)} then 1 end)" for a, b in part
        )
        (row,) = warehouse.rows(f"select {counts} from {relation}")  # noqa: S608 (quoted)
        pair_counts |= {(a.name, b.name): int(n) for (a, b), n in zip(part, row, strict=True)}
    return pair_counts


def _is_one_sql(column: ColumnFacts) -> str:
    quoted = quote_name(column.name)
    return quoted if column.kind == "boolean" else f"{quoted} = 1"
