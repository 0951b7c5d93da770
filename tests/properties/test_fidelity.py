"""Fidelity against a recount of records, for random tables and hierarchies."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle import fidelity as recount
from tests.oracle.fidelity import Compared
from tests.oracle.generalization import CategoricalHierarchy, IntervalHierarchy, bounds, generalize
from tests.properties.batch import Batch
from tests.properties.compared import (
    EFFORT_LEVELS,
    NAMES,
    QUERIES,
    RANDOM_STATE,
    SHARE,
    VIEWS,
)
from tests.properties.compilation import LEVELS
from tests.properties.warehouse import Row, Warehouse
from tests.sampling import examples
from tests.worlds.hierarchies import (
    PROPERTY,
    categorical_hierarchies,
    in_batches,
    interval_hierarchies,
)

Levels = list[tuple[int, int]]
Drawn = tuple[Compared, Levels, list[int]]


@st.composite
def tables(draw: st.DrawFn) -> Drawn:
    """Draw records, the levels of each in effort 2, and in which efforts it is suppressed."""
    ages, cities = draw(interval_hierarchies()), draw(categorical_hierarchies())
    values = [None, *(b for b in ages.breaks[:-1])]
    raw = st.tuples(st.sampled_from(values), st.sampled_from([None, *cities.values]))
    kept = st.sampled_from([None, "flu", "asthma"])
    records = draw(st.lists(st.tuples(raw, kept), min_size=1, max_size=9))
    level = st.integers(0, LEVELS)
    levels = draw(st.tuples(*[st.tuples(level, level)] * len(records)))
    suppressed = draw(st.tuples(*[st.integers(0, 15)] * len(records)))
    return Compared((ages, cities), tuple(records)), list(levels), list(suppressed)


def levels_of(drawn: Drawn, effort: int) -> Levels:
    found, own, _ = drawn
    levels = EFFORT_LEVELS.get(effort)
    return own if levels is None else [levels] * len(found.records)


def released_in(drawn: Drawn, effort: int) -> list[bool]:
    return [not effort or not bits >> effort & 1 for bits in drawn[2]]


def load(batch: Batch, drawn: Drawn) -> None:
    found = drawn[0]
    ages, cities = found.hierarchies
    assert isinstance(ages, IntervalHierarchy)
    batch.load_hierarchy("compared_age", ages)
    batch.load_hierarchy("compared_city", cities)
    for effort in range(4):
        rows = []
        released = released_in(drawn, effort)
        for (raw, kept), own, shown in zip(
            found.records, levels_of(drawn, effort), released, strict=True
        ):
            rows.append(
                (
                    str(generalize(ages, own[0], raw[0])),
                    *bounds(ages, own[0], raw[0]),
                    str(generalize(cities, own[1], raw[1])),
                    *own,
                    kept,
                    not shown,
                )
            )
        columns = {"age": "varchar", "age_lower": "double", "age_upper": "double"}
        columns |= {"city": "varchar", "age_level": "integer", "city_level": "integer"}
        columns |= {"illness": "varchar", "is_suppressed": "boolean"}
        batch.load(f"compared_effort_{effort}", columns, rows)


def expected(drawn: Drawn) -> dict[tuple[Any, ...], float | None]:
    found = drawn[0]
    values: dict[tuple[Any, ...], float | None] = {}
    for view in VIEWS:
        key = (NAMES[view[0]], NAMES[view[1]] if len(view) == 2 else None)
        each = [
            found.cells(view, levels_of(drawn, effort), released_in(drawn, effort))
            for effort in range(4)
        ]
        for effort, cells in enumerate(each):
            values[effort, "distance", *key] = recount.distance(each[0], cells)
            if view == (0, 1):
                errors = _errors(found, each[0], cells, SHARE if effort == 3 else 1)
                for name, numbers in errors.items():
                    for suffix, percent in (("median", 50), ("p95", 95)):
                        value = recount.percentile(numbers, percent) if cells else None
                        values[effort, f"{name}_{suffix}", *key] = value
    return values


def _errors(
    found: Compared, original: dict[Any, float], released: dict[Any, float], share: float
) -> dict[str, list[float]]:
    sizes = [len(hierarchy.rows) for hierarchy in found.hierarchies]
    midpoints = [found.midpoint(0, leaf) for leaf in range(sizes[0])]
    errors: dict[str, list[float]] = {"count_error": [], "mean_error": []}
    for query in range(QUERIES):
        asked = recount.ranges(query, RANDOM_STATE, sizes)
        count, mean = recount.answer(original, asked, midpoints)
        estimated, estimated_mean = recount.answer(released, asked, midpoints)
        least = max(count, 0.001 * len(found.records))
        errors["count_error"].append(abs(estimated / share - count) / least)
        if mean is not None:
            error = 1.0 if estimated_mean is None else abs(estimated_mean - mean)
            errors["mean_error"].append(error)
    return errors


def keyed(rows: list[Row]) -> dict[tuple[Any, ...], float | None]:
    keys = ("effort", "statistic", "attribute", "other_attribute")
    return {tuple(row[key] for key in keys): row["value"] for row in rows}


@examples(PROPERTY, 40, 6)
@given(batched=in_batches(tables(), 8))
def test_fidelity_equals_a_recount_and_effort_0_differs_in_nothing(
    warehouse: Warehouse, batched: list[Drawn]
) -> None:
    batch = Batch(warehouse)
    for drawn in batched:
        batch.begin()
        load(batch, drawn)
    for rows, drawn in zip(batch.rows_of_each("compared_fidelity"), batched, strict=True):
        found = keyed(rows)
        assert len(found) == len(rows)
        assert found == pytest.approx(expected(drawn), rel=1e-9, abs=1e-9)
        untouched = [value for (effort, *_), value in found.items() if effort == 0]
        assert {0.0, *(value for value in untouched if value is not None)} == {0.0}
        for (_, statistic, *_), value in found.items():
            assert statistic != "distance" or value is None or -1e-9 <= value <= 1 + 1e-9


def test_queries_are_spread_over_the_leaves() -> None:
    drawn = [draw for query in range(1000) for draw in recount.draws(query, RANDOM_STATE)]
    tenths = [sum(tenth / 10 <= d < (tenth + 1) / 10 for d in drawn) for tenth in range(10)]
    assert sum(drawn) / len(drawn) == pytest.approx(0.5, abs=0.02)
    # Four standard deviations of a tenth of 4000.
    assert all(abs(number - 400) < 76 for number in tenths)


def test_categories_are_no_numbers() -> None:
    hierarchy = CategoricalHierarchy(("a", "b"), (("x", "x"), ("*", "*"), ("*", "*")))
    table = Compared((hierarchy,), ((("a",), None),))
    assert table.leaves(0, "a", 1) == [0, 1]
