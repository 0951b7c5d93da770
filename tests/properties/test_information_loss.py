"""Every measure of information loss against a recount of the records from its definition."""

from __future__ import annotations

import itertools
from datetime import date
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle import information_loss as losses
from tests.oracle.generalization import (
    CategoricalHierarchy,
    Hierarchy,
    IntervalHierarchy,
    Value,
)
from tests.oracle.information_loss import Effort, People, Shown, Weighing
from tests.properties.batch import assert_same_rows
from tests.properties.compilation import LEVELS
from tests.properties.efforts_measured import (
    MIXED,
    ODD,
    SINGLE,
    SQL_TYPES,
    load,
    load_each,
    measured,
)
from tests.properties.measured import EFFORTS, Measured
from tests.properties.warehouse import Row, Warehouse
from tests.sampling import examples
from tests.worlds.hierarchies import (
    AGREEING,
    PROPERTY,
    categorical_hierarchies,
    in_batches,
    interval_hierarchies,
)

# It may be pulled out.
SEARCH = find_spec("dbt_anonymize.extensions.search")


@st.composite
def people(draw: st.DrawFn, table: Measured, min_size: int = 1) -> People:
    """Draw hierarchies and records with NULLs, repetitions and ties of the target."""
    hierarchies = tuple(
        draw(
            interval_hierarchies(SQL_TYPES[name])
            if kind == "interval"
            else categorical_hierarchies()
        )
        for name, kind in table.kinds
    )
    values = st.tuples(*(st.sampled_from(values_of(hierarchy)) for hierarchy in hierarchies))
    repeated = st.tuples(values, st.sampled_from(["yes", "no", "maybe"]), st.integers(1, 5))
    drawn = draw(st.lists(repeated, min_size=min_size, max_size=10))
    return People(
        hierarchies,
        tuple((raw, target) for raw, target, times in drawn for _ in range(times)),
    )


@st.composite
def efforts(draw: st.DrawFn, table: Measured, min_size: int = 1) -> list[Effort]:
    """Draw efforts 0 (untouched), 1 and 2 (full-domain), 3 (local), 4 (cut at no level)."""
    found = draw(people(table, min_size))
    positions = range(len(table.kinds))
    vectors = st.tuples(*[st.integers(0, LEVELS)] * len(positions))
    first, second, cuts = draw(vectors), draw(vectors), draw(st.integers(0, 5))
    chosen = draw(st.integers(0, 2**12 - 1))
    raw = [values for values, _ in found.records]
    # A label that means different things at different levels would part no classes.
    is_local = not any(
        first[p] != second[p] and _labels(hierarchy, first[p]) & _labels(hierarchy, second[p])
        for p, hierarchy in enumerate(found.hierarchies)
    )
    tuples = {
        values: is_local and chosen >> number & 1
        for number, values in enumerate(dict.fromkeys(raw))
    }

    def at(values: losses.Raw, levels: tuple[int, ...]) -> tuple[Shown, ...]:
        return tuple(found.shown(p, values[p], levels[p]) for p in positions)

    def cut(values: losses.Raw) -> tuple[Shown, ...]:
        return tuple(
            found.cut(p, values[p], cuts)
            if kind == "interval"
            else found.shown(p, values[p], first[p])
            for p, (_, kind) in enumerate(table.kinds)
        )

    ways = (
        [at(values, (0,) * len(positions)) for values in raw],
        [at(values, first) for values in raw],
        [at(values, second) for values in raw],
        [at(values, first if tuples[values] else second) for values in raw],
        [cut(values) for values in raw],
    )
    drawn = []
    for number, shown in enumerate(ways):
        hidden = draw(st.integers(0, 2**12 - 1)) if number else 0
        classes = dict.fromkeys(tuple(s.label for s in record) for record in shown)
        suppressed = frozenset(c for i, c in enumerate(classes) if hidden >> i & 1)
        drawn.append(Effort(found, tuple(shown), suppressed))
    return drawn


def _labels(hierarchy: Hierarchy, level: int) -> set[str]:
    values = [str(value) for value in values_of(hierarchy) if value is not None]
    return {*(hierarchy.labels[level - 1] if level else values)} - {"*"}


def values_of(hierarchy: Hierarchy) -> list[Value | None]:
    """Return NULL and the values that may occur: of intervals some more than there are leaves."""
    if isinstance(hierarchy, CategoricalHierarchy):
        return [None, *hierarchy.values]
    values: list[Value | None] = [None]
    for lower, upper in itertools.pairwise(hierarchy.breaks):
        if isinstance(lower, date) and isinstance(upper, date):
            days = (upper - lower).days
            values += [date.fromordinal(lower.toordinal() + step) for step in (0, days // 2)]
        elif isinstance(lower, float) and isinstance(upper, float):
            values += [lower, lower + (upper - lower) / 2, lower + (upper - lower) / 3]
    return list(dict.fromkeys(v for v in values if v != hierarchy.breaks[-1]))


def same(value: float | None) -> Any:
    return value if value is None else pytest.approx(value, rel=1e-9, abs=1e-9)


def different(table: Measured, size: int) -> st.SearchStrategy[list[list[Effort]]]:
    """Draw the efforts of as many different tables."""
    return in_batches(efforts(table), size, key=lambda drawn: drawn[0].people)


def check(rows: list[Row], table: Measured, drawn: list[Effort], weighing: Weighing) -> None:
    """Compare all measures of all efforts with a recount."""
    names = [name for name, _ in table.kinds]
    for row, effort in zip(rows, drawn, strict=True):
        expected = losses.measures(effort, weighing, names, LEVELS)
        assert list(row) == ["effort", *expected]
        for name, value in expected.items():
            assert row[name] == same(value), name


def check_ranges(rows: list[Row], drawn: list[Effort], weighing: Weighing) -> None:
    """Check that measures stay in their range, and what the untouched table loses."""
    is_whole = not any(None in raw for raw, _ in drawn[0].people.records)
    if is_whole and weighing.generalization:
        untouched = rows[0]
        for name in (
            "loss",
            "non_uniform_entropy",
            "kl_divergence",
            "entropy_based_loss",
            "sse_sst",
            "total_information_loss",
        ):
            assert untouched[name] == pytest.approx(0.0, abs=1e-9), name
        assert untouched["granularity"] == untouched["precision"] == pytest.approx(1.0)
    if (weighing.factor, weighing.aggregate) != (0.5, "arithmetic_mean"):
        return
    records = len(drawn[0].people.records)
    for row, effort in zip(rows, drawn, strict=True):
        for name in ("loss", "granularity", "precision", "classification_metric", "sse_sst"):
            assert row[name] is None or -1e-9 <= row[name] <= 1 + 1e-9
        assert -1e-9 <= row["entropy_based_loss"] <= records * (1 + 1e-9)
        assert row["ambiguity"] >= records * (1 - 1e-9)
        assert records * (1 - 1e-9) <= row["discernibility"] <= records**2
        # Labels of one level part the values, so the difference is no rounding: Gibbs.
        if row["effort"] < 3:
            assert (losses.kl_divergence(effort) or 0) > -1e-9


def check_search(rows: list[Row], table: Measured, drawn: list[Effort], weighing: Weighing) -> None:
    """Check that the search minimizes the loss that is reported."""
    for row, effort in list(zip(rows, drawn, strict=True))[:3]:
        found = kernel_losses(table, effort, weighing.factor, weighing.aggregate)
        assert row["loss"] == pytest.approx(found["loss"], abs=1e-9)
        people = effort.people
        # In a hierarchy of one value, which covers it all, a search takes NULL for that value; and
        # it takes a `*` below the root for any label of its level.
        is_one = [
            (len(h.rows) == 1 and None in people.raw(p)) or any("*" in one for one in h.labels[:-1])
            for p, h in enumerate(people.hierarchies)
        ]
        by_height = () if any(is_one) else ("total_information_loss",)
        if not any(is_one):
            assert row["precision"] == pytest.approx(1 - found["precision"], abs=1e-9)
        for name in ("discernibility", "non_uniform_entropy", "average_class_size", *by_height):
            assert row[name] == pytest.approx(found[name], rel=1e-9, abs=1e-9)
        assert row["classification_metric"] == pytest.approx(
            found["classification_metric"], abs=1e-9
        )
        assert row["granularity"] == pytest.approx(1 - found["granularity"], abs=1e-9)


@examples(PROPERTY, 54)
@given(tables=different(MIXED, 10), number=st.integers(0, 19))
def test_every_measure_equals_a_recount_stays_in_its_range_and_is_what_the_search_minimizes(
    warehouse: Warehouse, tables: list[list[Effort]], number: int
) -> None:
    weighing = Weighing(*MIXED.settings[number], MIXED.weights)
    model = f"mixed_loss_{weighing.factor}_{weighing.aggregate}"
    every = measured(load_each(warehouse, MIXED, tables), model)
    for position, (rows, drawn) in enumerate(zip(every, tables, strict=True)):
        check(rows, MIXED, drawn, weighing)
        check_ranges(rows, drawn, weighing)
        if position < 2 and SEARCH:
            check_search(rows, MIXED, drawn, weighing)


@pytest.mark.parametrize("table", [SINGLE, ODD], ids=lambda table: table.name)
@examples(PROPERTY, 8)
@given(data=st.data(), number=st.integers(0, 4))
def test_every_measure_equals_a_recount_whatever_the_columns(
    warehouse: Warehouse, table: Measured, data: st.DataObject, number: int
) -> None:
    tables = data.draw(different(table, 10))
    weighing = Weighing(*table.settings[number], table.weights)
    model = f"{table.name}_loss_{weighing.factor}_{weighing.aggregate}"
    every = measured(load_each(warehouse, table, tables), model)
    for rows, drawn in zip(every, tables, strict=True):
        check(rows, table, drawn, weighing)


@examples(PROPERTY, 4)
@given(tables=different(MIXED, 10))
def test_every_aggregate_puts_the_attributes_together(
    warehouse: Warehouse, tables: list[list[Effort]]
) -> None:
    batch = load_each(warehouse, MIXED, tables)
    for factor, aggregate in MIXED.settings[::5]:
        weighing = Weighing(factor, aggregate, MIXED.weights)
        for measure in ("granularity", "precision", "non_uniform_entropy"):
            every = measured(batch, f"mixed_{measure}_{aggregate}")
            for rows, drawn in zip(every, tables, strict=True):
                for row, effort in zip(rows, drawn, strict=True):
                    assert row[measure] == same(together(measure, effort, weighing))


def together(measure: str, effort: Effort, weighing: Weighing) -> float | None:
    """Return one measure of all quasi-identifiers together."""
    positions = range(len(weighing.weights))
    if measure == "granularity":
        return losses.granularity_of(effort, weighing, weighing.aggregate)[1]
    if measure == "precision":
        heights = [losses.mean_height(effort, weighing, p, LEVELS) for p in positions]
        height = weighing.combine(heights, weighing.aggregate)
        return None if height is None else 1 - height
    entropies = [losses.non_uniform_entropy(effort, weighing, p) for p in positions]
    return weighing.combine(entropies, weighing.aggregate)


CITIES = CategoricalHierarchy(
    ("a", "b", "c", "d"), (("ab", "ab", "c", "d"), ("abc", "abc", "abc", "d"), ("*",) * 4)
)
AGES = IntervalHierarchy((0.0, 10.0, 20.0, 40.0), (("0", "10", "20"), ("0", "0", "20"), ("*",) * 3))


def load_classes(warehouse: Warehouse, rows: list[tuple[Any, ...]]) -> None:
    """Load hierarchies, and classes of ages and cities: label, share, level; then records."""
    for position, (hierarchy, kind) in enumerate(((AGES, "double"), (CITIES, "varchar"))):
        warehouse.load_hierarchy(f"mixed_hierarchy_{position}", hierarchy, kind)
    shown = {"varchar": "", "double": "_share", "integer": "_level"}
    columns = {f"{name}{end}": kind for name in ("age", "city") for kind, end in shown.items()}
    columns = {"effort": "integer", **columns, "records": "bigint", "is_suppressed": "boolean"}
    warehouse.load("mixed_classes", columns, rows)


def test_a_mode_loses_the_height_of_the_label_that_covers_its_group(warehouse: Warehouse) -> None:
    raw = ("5", 0.0, 0)
    load_classes(
        warehouse,
        [
            (1, *raw, "a", 0.5, None, 2, False),  # of a group of a and b: level 1 of 3
            (1, *raw, "c", 0.75, None, 3, False),  # of a, b and c: level 2
            (1, *raw, "c", 0.25, 0, 5, False),
            (2, *raw, "d", 1.0, None, 4, False),  # of all
            (2, *raw, "*", 1.0, 1, 2, False),  # NULL
            (2, *raw, "d", 0.25, 1, 3, True),
        ],
    )
    found = {row["effort"]: row["total_information_loss"] for row in warehouse.rows("mixed_modes")}
    # Weights are relative to their mean: 2 * 0.3 / 1.3 of city.
    assert found == {
        1: pytest.approx((2 / 3 + 3 * 2 / 3) * 0.6 / 1.3),
        2: pytest.approx((4 + 2 + 3) * 0.6 / 1.3 + 3 * 2 / 1.3),
    }


def test_a_missing_category_is_fully_generalized_at_every_level(warehouse: Warehouse) -> None:
    raw = ("5", 0.0, 0)
    rows = [(1, *raw, "c", 0.25, 1, 2, False), (1, *raw, "*", 1.0, 1, 1, False)]
    load_classes(warehouse, rows)
    (row,) = warehouse.rows("mixed_precision_sum")
    assert row["city_precision"] == pytest.approx(1 - (2 / 3 + 1) / 3)


def test_squared_errors_of_a_sample_are_those_of_its_records(warehouse: Warehouse) -> None:
    rows = [(n, "0", 0.5, 2, "*", 1.0, 3, 4, False) for n in (0, 1, 2)]
    load_classes(warehouse, rows)
    drawn = [(1.0, 0.0, 0.5, 1), (3.0, 0.0, 0.5, 2), (12.0, 10.0, 1.0, 1), (30.0, 20.0, 0.5, 1)]
    columns = {"age": "double", "age_leaf": "double", "sample_share": "double"}
    warehouse.load("mixed_frequencies", {**columns, "records": "bigint"}, drawn)

    def ratio(values: list[float]) -> float:
        young = np.array([value for value in values if value < 20])
        return float(len(young) * young.var() / (len(values) * np.var(values)))

    everybody, sample = [1.0, 3.0, 3.0, 12.0, 30.0], [1.0, 3.0, 3.0, 30.0]
    found = {row["effort"]: row["sse_sst"] for row in warehouse.rows("mixed_sampled")}
    assert found == {
        0: pytest.approx(ratio(everybody)),
        1: pytest.approx(ratio(sample)),
        2: pytest.approx(ratio(everybody)),
    }


@AGREEING
@given(drawn=efforts(MIXED), other=efforts(MIXED))
def test_a_table_is_measured_in_a_batch_as_by_itself_and_in_order(
    warehouse: Warehouse, drawn: list[Effort], other: list[Effort]
) -> None:
    load(warehouse, MIXED, drawn)
    batch = load_each(warehouse, MIXED, [other, drawn])
    for factor, aggregate in MIXED.settings[::7]:
        model = f"mixed_loss_{factor}_{aggregate}"
        alone = warehouse.rows(model)
        assert [row["effort"] for row in alone] == list(EFFORTS)
        assert_same_rows(batch.rows_of_each(model)[1], alone)


def kernel_losses(
    table: Measured, effort: Effort, factor: float, aggregate: str
) -> dict[str, float]:
    """Return what the Python search computes for an effort with one level per attribute."""
    from dbt_anonymize.extensions.search.losses.registry import make_loss
    from dbt_anonymize.privacy.grouping import classes_of
    from dbt_anonymize.privacy.table import Attribute, Table

    found = effort.people
    attributes, leaves, node = [], [], []
    for position, (name, _) in enumerate(table.kinds):
        raw = list(dict.fromkeys(found.raw(position)))
        levels, shares = [], []
        for level in range(LEVELS + 1):
            shown = [found.shown(position, value, level) for value in raw]
            codes = {label: n for n, label in enumerate(dict.fromkeys(s.label for s in shown))}
            levels.append(np.array([codes[s.label] for s in shown]))
            shares.append(np.array([{s.label: s.share for s in shown}[label] for label in codes]))
        attributes.append(
            Attribute(
                name,
                tuple(levels),
                tuple(shares),
                len(found.hierarchies[position].rows),
                found.smallest_share(position),
                table.weights[position],
            )
        )
        leaves.append([raw.index(value) for value in found.raw(position)])
        node.append(effort.shown[0][position].level or 0)
    targets = [target for _, target in found.records]
    coded = Table(
        tuple(attributes),
        np.array(leaves).T,
        np.ones(len(targets), dtype=np.int64),
        targets=((np.array([["yes", "no", "maybe"].index(target) for target in targets]), 1.0),),
    )
    classes = classes_of(coded, tuple(node))
    suppressed = np.array([effort.labels[row] in effort.suppressed for row in classes.first])
    names = (
        *("precision", "discernibility", "average_class_size"),
        *("non_uniform_entropy", "classification_metric", "granularity"),
        "total_information_loss",
    )
    objects = {name: make_loss(name, gs=factor) for name in names}
    objects["loss"] = make_loss("loss", gs=factor, aggregate=aggregate)
    return {name: found.loss(coded, classes, suppressed) for name, found in objects.items()}
