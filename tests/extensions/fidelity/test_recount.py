"""Fidelity against a recount of records, for random tables and hierarchies."""

from __future__ import annotations

import re
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr
from scipy.stats.contingency import association
from sklearn.linear_model import LogisticRegression

from tests.extensions.fidelity.compiled import (
    EFFORT_LEVELS,
    NAMES,
    NUMBERS,
    QUERIES,
    RANDOM_STATE,
    SHARE,
    VIEWS,
)
from tests.oracle import fidelity as recount
from tests.oracle.fidelity import Compared
from tests.oracle.generalization import (
    CategoricalHierarchy,
    Hierarchy,
    IntervalHierarchy,
    bounds,
    generalize,
)
from tests.properties.batch import Batch
from tests.properties.compilation import LEVELS
from tests.properties.warehouse import Row, Warehouse
from tests.sampling import examples
from tests.worlds.hierarchies import (
    PROPERTY,
    categorical_hierarchies,
    in_batches,
    interval_hierarchies,
)

Levels = list[tuple[int, int, int]]
Drawn = tuple[Compared, Levels, list[int]]


@st.composite
def tables(draw: st.DrawFn) -> Drawn:
    """Draw records, the levels of each in effort 2, and in which efforts it is suppressed."""
    ages, cities = draw(interval_hierarchies()), draw(categorical_hierarchies())
    values = [None, *(b for b in ages.breaks[:-1])]
    number = st.sampled_from(values)
    raw = st.tuples(number, st.sampled_from([None, *cities.values]), number)
    kept = st.sampled_from([None, "flu", "asthma"])
    records = draw(st.lists(st.tuples(raw, kept), min_size=1, max_size=9))
    level = st.integers(0, LEVELS)
    levels = draw(st.tuples(*[st.tuples(level, level, level)] * len(records)))
    suppressed = draw(st.tuples(*[st.integers(0, 15)] * len(records)))
    return Compared((ages, cities, ages), tuple(records)), list(levels), list(suppressed)


def levels_of(drawn: Drawn, effort: int) -> Levels:
    found, own, _ = drawn
    levels = EFFORT_LEVELS.get(effort)
    return own if levels is None else [levels] * len(found.records)


def released_in(drawn: Drawn, effort: int) -> list[bool]:
    return [not effort or not bits >> effort & 1 for bits in drawn[2]]


def city(hierarchy: Hierarchy, level: int, value: Any, *, is_mode: bool) -> str:
    """Return the label of a value, or a leaf under it: one is read like the other."""
    label = str(generalize(hierarchy, level, value))
    # `*` below the root says as little as the root.
    if not is_mode or value is None or (label == "*" and level < LEVELS):
        return label
    assert isinstance(hierarchy, CategoricalHierarchy)
    labels = {v: str(generalize(hierarchy, level, v)) for v in hierarchy.values}
    under = [v for v in hierarchy.values if labels[v] == label and v not in labels.values()]
    return min(under, default=label)


def load(batch: Warehouse, drawn: Drawn) -> None:
    found = drawn[0]
    ages, cities, _ = found.hierarchies
    assert isinstance(ages, IntervalHierarchy)
    batch.load_hierarchy("compared_age", ages)
    batch.load_hierarchy("compared_city", cities)
    # `*` covers NULL too, and a mode never.
    has_null = any(raw[1] is None for raw, _ in found.records)
    modes = {1} if has_null else {1, LEVELS}
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
                    city(cities, own[1], raw[1], is_mode=effort == 2 and own[1] in modes),
                    str(generalize(ages, own[2], raw[2])),
                    *bounds(ages, own[2], raw[2]),
                    *own,
                    kept,
                    not shown,
                )
            )
        columns = {"age": "varchar", "age_lower": "double", "age_upper": "double"}
        columns |= {"city": "varchar", "income": "varchar"}
        columns |= {"income_lower": "double", "income_upper": "double"}
        columns |= dict.fromkeys(("age_level", "city_level", "income_level"), "integer")
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
            pmse, ratio = recount.pmse(each[0], cells) if cells else (None, None)
            values[effort, "pmse", *key] = pmse
            values[effort, "pmse_ratio", *key] = ratio
            if len(view) == 2:
                change = abs(_correlation(found, view, cells) - _correlation(found, view, each[0]))
                values[effort, "correlation_difference", *key] = change if cells else None
            if view in ((0, 1), NUMBERS):
                errors = _errors(found, view, each[0], cells, SHARE if effort == 3 else 1)
                for name, numbers in errors.items():
                    for suffix, percent in (("median", 50), ("p95", 95)):
                        value = recount.percentile(numbers, percent) if cells else None
                        values[effort, f"{name}_{suffix}", *key] = value
    return values


def _correlation(found: Compared, view: tuple[int, ...], cells: dict[Any, float]) -> float:
    if view != NUMBERS:
        return recount.cramers_v(cells)
    midpoints = [
        [found.midpoint(p, n) for n, _ in enumerate(found.hierarchies[p].rows)] for p in view
    ]
    return recount.pearson(cells, midpoints)


def _errors(
    found: Compared,
    view: tuple[int, ...],
    original: dict[Any, float],
    released: dict[Any, float],
    share: float,
) -> dict[str, list[float]]:
    sizes = [len(hierarchy.rows) for hierarchy in (found.hierarchies[p] for p in view)]
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
        # The root of what should be 0 is 1e-8.
        assert found == pytest.approx(expected(drawn), rel=1e-9, abs=1e-7)
        untouched = [value for (effort, *_), value in found.items() if effort == 0]
        assert {0.0, *(value for value in untouched if value is not None)} == {0.0}
        for (_, statistic, *_), value in found.items():
            largest = {"distance": 1, "pmse": 0.25}.get(statistic)
            assert value is None or value >= 0
            assert largest is None or value is None or value <= largest + 1e-9


def test_correlations_are_those_of_scipy() -> None:
    cells = {(0, 0): 3.0, (0, 1): 1.0, (1, 1): 4.0, (2, 0): 2.0, (2, None): 1.0}
    known = [cell for cell, n in cells.items() if None not in cell for _ in range(int(n))]
    places = [0.1, 0.4, 0.9]
    values = [[places[leaf] for leaf in side] for side in zip(*known, strict=True)]
    assert recount.pearson(cells, [places] * 2) == pytest.approx(pearsonr(*values).statistic)
    table = [[int(cells.get((a, b), 0)) for b in (0, 1, None)] for a in range(3)]
    assert recount.cramers_v(cells) == pytest.approx(association(table, method="cramer"))
    assert recount.cramers_v({(0, 0): 2.0, (1, 0): 1.0}) == 0


CELLS = ({(0,): 30.0, (1,): 15.0, (2,): 5.0}, {(0,): 12.0, (1,): 8.0, (2,): 20.0})


def test_pmse_is_that_of_a_logistic_model_of_the_cells() -> None:
    weights = [n for side in CELLS for n in side.values()]
    labels = [0] * 3 + [1] * 3
    rows = np.vstack([np.eye(3)] * 2)
    model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000)
    scores = model.fit(rows, labels, sample_weight=weights).predict_proba(rows)[:, 1]
    share = np.average(labels, weights=weights)
    found, ratio = recount.pmse(*CELLS)
    assert found == pytest.approx(np.average((scores - share) ** 2, weights=weights), rel=1e-4)
    assert ratio == pytest.approx(found / (2 * (1 - share) ** 2 * share / 90))


@pytest.mark.parametrize(
    ("counts", "released", "is_replaced", "ratio"),
    [
        ([400, 300, 200, 100], 1000, True, 1.0),
        ([400, 300, 200, 100], 300, True, 1.0),
        # Drawn without replacement: less than expected, by the share that is drawn.
        ([400, 300, 200, 100], 500, False, 0.5),
        # Where everybody has a cell of their own, 4 (1 - 1/e) - 2 over 1/2.
        ([1] * 200, 200, True, 1.057),
    ],
)
def test_the_ratio_of_a_draw_from_the_original_is_as_the_page_says(
    counts: list[int], released: int, is_replaced: bool, ratio: float
) -> None:
    random = np.random.default_rng(7)
    shares = np.array(counts) / sum(counts)
    original = {(cell,): float(n) for cell, n in enumerate(counts)}
    found = []
    for _ in range(400):
        if is_replaced:
            drawn = random.multinomial(released, shares)
        else:
            drawn = random.multivariate_hypergeometric(counts, released)
        cells = {(cell,): float(n) for cell, n in enumerate(drawn.tolist())}
        found.append(recount.pmse(original, cells)[1])
    error = np.std(found) / np.sqrt(len(found))
    assert np.mean(found) == pytest.approx(ratio, abs=4 * error + 0.005)


@pytest.mark.parametrize("name", ["age", "city"])
def test_a_label_outside_of_its_hierarchy_stops_the_build(warehouse: Warehouse, name: str) -> None:
    ages = IntervalHierarchy((0.0, 1.0, 2.0), (("low", "high"),) + (("*",) * 2,) * 2)
    cities = CategoricalHierarchy(("x", "y"), (("a", "b"),) + (("*",) * 2,) * 2)
    record = ((0.0, "x", 1.0), "flu")
    load(warehouse, (Compared((ages, cities, ages), (record,)), [(1, 1, 1)], [0]))
    assert warehouse.rows("compared_fidelity")
    if name == "age":
        elsewhere: Hierarchy = IntervalHierarchy((7.0, 8.0, 9.0), ages.labels)
    else:
        elsewhere = CategoricalHierarchy(("v", "w"), (("c", "d"), *cities.labels[1:]))
    warehouse.load_hierarchy(f"compared_{name}", elsewhere)
    message = (
        f"Invalid Input Error: compared_fidelity: a label of {name} is not in its hierarchy."
        " Build again from the microdata on."
    )
    # The whole message: it shows no label or value.
    with pytest.raises(duckdb.Error, match=rf"\A{re.escape(message)}\Z"):
        warehouse.rows("compared_fidelity")


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
