"""The coded table of a draft is what a second count of the same records says."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, cast

import duckdb
import numpy as np
import pytest

from dbt_anonymize.extensions.drafting.coded_table import CodedTable, count_combinations, leaves_of
from dbt_anonymize.extensions.drafting.plans import Plan
from dbt_anonymize.extensions.hierarchy_builders.dates import date_intervals
from dbt_anonymize.extensions.hierarchy_builders.intervals import equal_width_intervals
from dbt_anonymize.extensions.trial.example_rows import generalized_labels
from dbt_anonymize.hierarchies.model import CategoricalHierarchy
from dbt_anonymize.project.warehouse import Warehouse

pytestmark = pytest.mark.costly

_KINDS = ("it's", "B", "c|d", "")


class InMemory:
    """The part of a warehouse that counts."""

    kind = "duckdb"

    def __init__(self, session: duckdb.DuckDBPyConnection) -> None:
        self.session = session
        self.adapter = self

    @staticmethod
    def macro(_: str, expression: str) -> str:
        """Return an expression as text."""
        return f"cast({expression} as text)"

    def numbers(self, sql: str) -> dict[str, np.ndarray]:
        """Return columns of numbers."""
        return dict(self.session.execute(sql).fetchnumpy())


def plans() -> list[Plan]:
    numbers = equal_width_intervals(0, 100, [5, 10, 50])
    days = date_intervals(date(2020, 1, 1), date(2021, 12, 31), ["month", "year"])
    kinds = CategoricalHierarchy(_KINDS, (("x", "x", "y", "y"), ("*",) * 4))
    return [
        Plan('Age of "it"', "a", numbers, ""),
        Plan("born", "b", days, ""),
        Plan("kind", "c", kinds, ""),
    ]


def records(state: int) -> list[tuple[Any, ...]]:
    draw = np.random.default_rng(state)
    found = []
    for number in range(300):
        age = None if draw.random() < 0.1 else Decimal(int(draw.integers(0, 1000))) / 10
        day = None if draw.random() < 0.1 else date(2020, 1, 1) + timedelta(int(draw.integers(730)))
        kind = None if draw.random() < 0.1 else str(draw.choice(_KINDS))
        found.append((age, day, kind, f"p{number % 90}", int(draw.integers(3))))
    return found


def count(rows: list[tuple[Any, ...]], **options: Any) -> CodedTable:
    session = duckdb.connect(":memory:")
    session.execute(
        'create table people ("Age of ""it""" decimal(5, 1), born date, kind text, who text, d int)'
    )
    session.executemany("insert into people values (?, ?, ?, ?, ?)", rows)
    return count_combinations(cast("Warehouse", InMemory(session)), "people", plans(), **options)


@pytest.mark.parametrize("state", [1, 2, 3])
def test_combinations_are_counted_as_by_hand(state: int) -> None:
    rows = records(state)
    counted = count(rows, subject="who", sensitive=["d"])
    table = counted.table
    assert table.total == len(rows)
    assert table.subject is not None
    ((_, values),) = table.sensitive
    leaves = [present[table.leaves[:, at]] for at, present in enumerate(counted.leaves)]
    people = sorted({row[3] for row in rows})
    keys = zip(*leaves, [people[code] for code in table.subject], values, strict=True)
    found = Counter(dict(zip(map(tuple, keys), table.records.tolist(), strict=True)))
    assert found == Counter(map(expected, rows))
    for place, plan in enumerate(counted.plans):
        column = [row[place] for row in rows]
        assert leaves_of(plan, column).tolist() == [leaf(plan, value) for value in column]


def expected(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*(leaf(plan, value) for plan, value in zip(plans(), row, strict=False)), *row[3:])


def leaf(plan: Plan, value: Any) -> int:
    """Find it by looking at each."""
    tree = plan.hierarchy
    if value is None:
        return len(tree.labels[0])
    if isinstance(tree, CategoricalHierarchy):
        return tree.values.index(value)
    bounds = zip(tree.lower_bounds, tree.upper_bounds, strict=True)
    return next(at for at, (low, high) in enumerate(bounds) if low <= value < high)


def test_labels_of_levels_are_those_of_the_hierarchy() -> None:
    counted = count(records(4))
    for attribute, present, plan in zip(
        counted.table.attributes, counted.leaves, counted.plans, strict=True
    ):
        for level, labels in enumerate(plan.hierarchy.labels, start=1):
            named = [*labels, "*"]
            # Leaves have one code exactly where they have one label.
            pairs = {
                (named[leaf], code)
                for leaf, code in zip(present, attribute.levels[level], strict=True)
            }
            assert len(pairs) == len({name for name, _ in pairs}) == len({c for _, c in pairs})


def test_shares_are_those_of_the_build() -> None:
    """A label covers a part of the range, or of the values; that of NULL covers everything."""
    counted = count(records(5))
    for attribute, present, plan in zip(
        counted.table.attributes, counted.leaves, counted.plans, strict=True
    ):
        tree = plan.hierarchy
        if isinstance(tree, CategoricalHierarchy):
            parts = [1.0] * len(tree.values)
        else:
            bounds = zip(tree.lower_bounds, tree.upper_bounds, strict=True)
            wide: list[Any] = [upper - lower for lower, upper in bounds]
            parts = [float(one / sum(wide, start=wide[0] - wide[0])) for one in wide]
        for level, labels in enumerate(tree.labels, start=1):
            of_label = Counter[str]()
            for label, part in zip(labels, parts, strict=True):
                of_label[label] += part / sum(parts)  # type: ignore[assignment]
            for place, code in zip(present, attribute.levels[level], strict=True):
                expected = 1.0 if place == len(labels) else of_label[labels[place]]
                assert attribute.shares[level][code] == pytest.approx(expected)
        null = attribute.shares[0][present == len(tree.labels[0])]
        assert null.tolist() == [1.0]


def test_missing_values_are_shown_as_they_are_released() -> None:
    own = plans()
    missing = np.array([[len(plan.hierarchy.labels[0]) for plan in own]])
    drawn: Any = SimpleNamespace(
        leaves=missing, examples=SimpleNamespace(places=np.array([0]), raw={})
    )
    for level in (0, 1):
        labels = generalized_labels(drawn, own, [level] * len(own), [0])
        assert labels == {plan.column: ["*"] for plan in own}
