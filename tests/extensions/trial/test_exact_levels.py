"""A level at which no two values of the table share a label is none: values stay as they are."""

from __future__ import annotations

from decimal import Decimal
from typing import cast

import duckdb
import numpy as np
import pytest

from benchmarks.independent_target import Memory, raw_spec
from dbt_anonymize.extensions.drafting.coded_table import count_combinations
from dbt_anonymize.extensions.drafting.efforts import first_efforts
from dbt_anonymize.extensions.drafting.equal_levels import DistinctLevels, with_distinct_levels
from dbt_anonymize.extensions.drafting.plans import Plan
from dbt_anonymize.extensions.search.race import Budget
from dbt_anonymize.extensions.trial.alternatives import find_alternatives, find_least_losses
from dbt_anonymize.extensions.trial.sample import read_sample
from dbt_anonymize.hierarchies.model import CategoricalHierarchy, IntervalHierarchy
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.loading import validate

_BOUNDS = [Decimal(bound) for bound in (0, 1, 5, 10, 15, 20)]
_YEARS = IntervalHierarchy(
    tuple(_BOUNDS[:-1]),
    tuple(_BOUNDS[1:]),
    (
        ("[0, 1)", "[1, 5)", "[5, 10)", "[10, 15)", "[15, 20)"),
        # The table has nobody of 15 and more, so that this level tells the same values apart.
        ("[0, 1)", "[1, 5)", "[5, 10)", "[10, 20)", "[10, 20)"),
        ("[0, 5)", "[0, 5)", "[5, 20)", "[5, 20)", "[5, 20)"),
        # Nobody is in the half that is merged here.
        ("*",) * 5,
    ),
)
_JOBS = CategoricalHierarchy(
    ("a", "b", "c", "d"),
    (("x", "y", "z", "z"), ("x", "yz", "yz", "yz"), ("*",) * 4),
)
_VALUES = (0.5, 2.5, 6.0, 13.0)


def plans() -> list[Plan]:
    return [Plan("years", "y", _YEARS, ""), Plan("job", "j", _JOBS, "")]


def people(*values: float, job: str = "abc") -> Warehouse:
    """Return a table of 40 people of each value and job, and one of each value with job d."""
    session = duckdb.connect(":memory:")
    session.execute("create table people (id integer, years double, job text, ill text)")
    rows = [(value, one) for value in values for one in job for _ in range(1 if one == "d" else 40)]
    session.executemany(
        "insert into people values (?, ?, ?, ?)",
        [
            (place, value, one, "yn"[(value > 4) ^ (place % 9 == 0)])
            for place, (value, one) in enumerate(rows)
        ],
    )
    return cast("Warehouse", Memory(session))


def declared() -> Spec:
    quasi = {
        name: {
            "role": "quasi_identifier",
            "hierarchy": {"ref": ref, "kind": kind, "levels": levels},
        }
        for name, ref, kind, levels in (
            ("years", "y", "interval", 4),
            ("job", "j", "categorical", 3),
        )
    }
    efforts: list[dict[str, int]] = [{"years": 3, "job": 1}]
    raw = {**raw_spec(), "columns": {**quasi, "ill": {"role": "sensitive"}}, "efforts": efforts}
    raw |= {"features": ["years", "job"], "suppression_limit": 0.0}
    spec, problems = validate(raw)
    assert spec is not None, problems
    return spec


def count(warehouse: Warehouse) -> DistinctLevels:
    return with_distinct_levels(
        warehouse, "people", count_combinations(warehouse, "people", plans())
    )


def counted(*values: float, job: str = "abc") -> DistinctLevels:
    return count(people(*values, job=job))


@pytest.mark.parametrize(
    ("values", "job", "expected"),
    [
        # One value in each interval: levels 1 and 2 are level 0.
        (_VALUES, "abc", ((0, 0, 0, 3, 4), (0, 0, 2, 3))),
        # Two values in [1, 5): the labels of level 1 and 2 are the same, but not the values.
        ((*_VALUES, 3.0), "abc", ((1, 1, 1, 3, 4), (0, 0, 2, 3))),
        (_VALUES, "abcd", ((0, 0, 0, 3, 4), (0, 1, 2, 3))),
        # The root is a level that gives up the column, also where it merges nothing more.
        ((0.5, 2.5), "ab", ((0, 0, 0, 3, 4), (0, 0, 0, 3))),
    ],
)
def test_of_levels_that_tell_the_same_values_apart_the_finest_is_one(
    values: tuple[float, ...], job: str, expected: tuple[tuple[int, ...], ...]
) -> None:
    found = counted(*values, job=job)
    for axis, levels in enumerate(expected):
        node = [3, 2]
        for level, finest in enumerate(levels):
            node[axis] = level
            assert found.finest(tuple(node))[axis] == finest, (axis, level)


def test_a_missing_value_is_no_other_one() -> None:
    """Above level 0 its label is `*`, as only at the root another value has."""
    warehouse = people(*_VALUES)
    cast("Memory", warehouse).session.execute("update people set years = null where id < 9")
    found = count(warehouse)
    assert [found.finest((level, 2))[0] for level in range(5)] == [0, 0, 0, 3, 4]


def test_a_level_that_merges_nothing_loses_nothing_and_is_not_searched() -> None:
    years, job = counted(*_VALUES).table.attributes
    assert (years.lowest, job.lowest) == (2, 1)
    assert not years.shares[1].any()
    assert not years.shares[2].any()
    assert job.shares[1].tolist() == [0.25] * 3
    years, _ = counted(*_VALUES, 3.0).table.attributes
    assert years.lowest == 2
    assert years.shares[2].tolist() == years.shares[1].tolist() == [0.05, 0.2, 0.25, 0.25]


def test_the_untouched_table_is_no_effort() -> None:
    """Of a category labels say as much as values."""
    found = counted(*_VALUES)
    assert found.finest((2, 1)) == found.finest((0, 0)) == (0, 1)


def test_the_draft_leaves_as_they_are_what_no_level_merges() -> None:
    warehouse = people(*_VALUES, job="abcd")
    options = {"k": 5, "suppression_limit": 0.0, "length": 3}
    first = first_efforts(warehouse, "people", plans(), **options)[0]  # type: ignore[arg-type]
    assert first == {"years": 0, "job": 1}


def test_alternatives_leave_as_they_are_what_no_level_merges() -> None:
    warehouse, spec = people(*_VALUES, job="abcd"), declared()
    found = count(warehouse)
    with duckdb.connect(":memory:") as session:
        sampled = read_sample(warehouse, "people", spec, found, session)
        trial = find_alternatives(spec, found, sampled.records, Budget(evaluations=150))
    first = trial.alternatives[0]
    assert first.checked.node == (0, 1)
    # Two of four jobs share a label, of half of the records: what is lost is known by hand.
    assert first.detail > 0.85
    without = find_least_losses(spec, found, np.arange(3), None).alternatives[0]
    assert without.checked.node == (0, 1)
    assert 1.0 - without.checked.loss == pytest.approx(first.detail)


def test_a_value_that_came_in_between_is_counted() -> None:
    """Level 0 was that of leaves; with two values in one of them it is none."""
    found, later = counted(*_VALUES), counted(*_VALUES, 3.0)
    assert found.are_counted((0, 1))
    assert not later.are_counted((0, 1))
    assert later.are_counted((1, 0))
