"""Families of columns of 0 and 1 that are one attribute: nobody has two of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse

# Two columns of yes or no are no attribute that somebody has spread over columns.
_FEWEST = 3
# More columns are too many pairs; so many are counted at once.
_MOST_COLUMNS, _PAIRS_AT_ONCE = 80, 300
_MOST_RECORDS = 30_000_000
# Of so many records, by chance, nearly surely one would have two columns that exclude each other.
_EXPECTED = 10

Pairs = dict[tuple[str, str], int]


def with_families(
    warehouse: Warehouse, relation: Any, facts: Sequence[ColumnFacts]
) -> list[ColumnFacts]:
    """Return facts that say with which others a column is one attribute.

    Where names begin alike that nobody has two of them is enough; else it must be no chance.
    """
    able = [one for one in facts if one.distinct == 2 and one.kind in {"number", "boolean"}]
    if len(able) < _FEWEST or not facts or facts[0].records > _MOST_RECORDS:
        return list(facts)
    ones = _ones(warehouse, relation, able)
    names = sorted(ones, key=lambda name: -ones[name])[:_MOST_COLUMNS]
    both = _pairs(warehouse, relation, [one for one in able if one.name in names])
    families: list[list[str]] = []
    for named in _named_alike(names):
        families += [found for found in _exclusive(named, both) if len(found) >= _FEWEST]
    known = {name for family in families for name in family}
    rest = [name for name in names if name not in known]
    least = _EXPECTED * facts[0].records
    families += [found for found in _exclusive(rest, both, ones, least) if len(found) >= _FEWEST]
    of_name = {
        name: tuple((other, ones[other]) for other in family)
        for family in families
        for name in family
    }
    return [replace(one, family=of_name.get(one.name, ())) for one in facts]


def _named_alike(names: Sequence[str]) -> list[list[str]]:
    """Return names by what they have before the first `_`, `.` or `-`.

    Examples
    --------
    >>> _named_alike(["job_a", "age", "job_b_c"])
    [['job_a', 'job_b_c']]
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        start, *more = re.split(r"[_.\-]", name, maxsplit=1)
        if start and more:
            groups.setdefault(start.lower(), []).append(name)
    return list(groups.values())


def _exclusive(
    names: Sequence[str], both: Pairs, ones: dict[str, int] | None = None, least: int = 0
) -> list[list[str]]:
    """Return families, each name in the first of which it excludes all.

    With the number of records that have each name and its family by chance, that is at ``least``
    some ten.
    """
    families: list[list[str]] = []
    for name in names:
        for family in families:
            expected = 0 if ones is None else ones[name] * sum(ones[other] for other in family)
            if expected >= least and not any(
                both[min(name, one), max(name, one)] for one in family
            ):
                family.append(name)
                break
        else:
            families.append([name])
    return families


def _ones(warehouse: Warehouse, relation: Any, able: Sequence[ColumnFacts]) -> dict[str, int]:
    """Return how many records have each column that has nothing but 0 and 1."""
    counts = ", ".join(
        f"count(case when {_is_one(one)} then 1 end), "
        + (
            "0"
            if one.kind == "boolean"
            else f"count(case when {quote_name(one.name)} not in (0, 1) then 1 end)"
        )
        for one in able
    )
    (row,) = warehouse.rows(f"select {counts} from {relation}")  # noqa: S608 (quoted)
    found = zip(able, row[::2], row[1::2], strict=True)
    return {one.name: int(count) for one, count, others in found if not others}


def _pairs(warehouse: Warehouse, relation: Any, able: Sequence[ColumnFacts]) -> Pairs:
    """Return how many records have both of two columns, by their names in order."""
    pairs = [*combinations(sorted(able, key=lambda one: one.name), 2)]
    found: Pairs = {}
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        some = pairs[start : start + _PAIRS_AT_ONCE]
        counts = ", ".join(
            f"count(case when {_is_one(a)} and {_is_one(b)} then 1 end)" for a, b in some
        )
        (row,) = warehouse.rows(f"select {counts} from {relation}")  # noqa: S608 (quoted)
        found |= {(a.name, b.name): int(n) for (a, b), n in zip(some, row, strict=True)}
    return found


def _is_one(one: ColumnFacts) -> str:
    quoted = quote_name(one.name)
    return quoted if one.kind == "boolean" else f"{quoted} = 1"
