"""Groups of similar records, against plain Python."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.errors import RecodingError
from dbt_anonymize.extensions.recoding import grouping
from dbt_anonymize.extensions.recoding.kernels import Source
from dbt_anonymize.extensions.recoding.optimum import optimal_groups
from dbt_anonymize.extensions.recoding.records import Records
from tests.extensions.recoding.world import values_of_rows
from tests.oracle.grouping import Row, Value, least_squares, mdav, squares
from tests.sampling import examples

pytestmark = pytest.mark.costly

FAST = examples(settings(deadline=None, derandomize=True, database=None), 25, 5)
# Steps of 1/16, so that no distance is rounded.
AGES = "select i * 4 as lower_bound, i * 4 + 4 as upper_bound, '*' as level_1 from range(4) as n(i)"
CITIES = {"a": "x", "b": "x", "ç": "x", "d": "y", "": "y"}
PATHS = sorted(
    ((city, group) for city, group in CITIES.items()), key=lambda p: (p[1], p[0].encode())
)


@st.composite
def tables(draw: st.DrawFn) -> list[tuple[int | None, str | None]]:
    chance = random.Random(draw(st.integers(0, 2**32)))
    size, values = draw(st.sampled_from([1, 4, 12, 40, 90])), draw(st.sampled_from([3, 16]))
    nulls = draw(st.sampled_from([0.0, 0.2]))
    return [
        (
            None if chance.random() < nulls else chance.randrange(values),
            None if chance.random() < nulls else chance.choice(list(CITIES)),
        )
        for _ in range(size)
    ]


def groups_of(
    records: list[tuple[int | None, str | None]],
    k: int,
    method: str = "mdav",
    *,
    diseases: Sequence[str] = (),
    guarantees: Sequence[Mapping[str, Any]] = (),
    **options: Any,
) -> dict[tuple[str | None, ...], int]:
    names = ["age"] if method == "optimal" else ["age", "city"]
    with duckdb.connect() as c:
        c.execute("create table microdata (age integer, city varchar, disease varchar)")
        rows_of = zip_longest(records, diseases[: len(records)])
        c.executemany("insert into microdata values (?, ?, ?)", [(*r, d) for r, d in rows_of])
        c.execute(f"create table ages as {AGES}")
        c.execute("create table cities (value varchar, level_1 varchar, level_2 varchar)")
        c.executemany("insert into cities values (?, ?, '*')", list(CITIES.items()))
        trees = {"age": ("interval", "ages", 1), "city": ("categorical", "cities", 2)}
        c.execute("alter table microdata add column record_id integer")
        source = Source(
            session=c,
            microdata=c.sql("select *, age // 4 * 4 as age_leaf, city as city_leaf from microdata"),
            record_key="record_id",
            quasi_identifiers=[
                {
                    "name": name,
                    "kind": trees[name][0],
                    "levels": trees[name][2],
                    "hierarchy": c.table(trees[name][1]),
                }
                for name in names
            ],
            guarantees=guarantees,
        )
        rows = Records.read(source, by_value=source.names)
    groups = grouping.groups_of(rows, method, k, **options) + 1
    return {
        (None if age is None else str(int(age)), *cities): group
        for (age, *cities), group in zip(values_of_rows(rows), groups.tolist(), strict=True)
    }


def row_of(age: int | None, city: str | None) -> Row:
    path: Value = None if city is None else (city, CITIES[city])
    return (None if age is None else age / 16, path)


def as_text(age: int | None, city: str | None) -> tuple[str | None, str | None]:
    return (None if age is None else str(age), city)


@given(tables(), st.sampled_from([2, 3, 5]))
@FAST
def test_mdav_gives_the_groups_of_its_definition(
    records: list[tuple[int | None, str | None]], k: int
) -> None:
    def place(row: Row) -> tuple[float, int]:
        number, path = row
        return (
            np.inf if not isinstance(number, float) else number,
            PATHS.index(path) if isinstance(path, tuple) else len(PATHS),  # type: ignore[arg-type]
        )

    found = groups_of(records, k)
    assert found.keys() == {as_text(*record) for record in records}
    groups: dict[int, set[Row]] = {}
    for record in records:
        groups.setdefault(found[as_text(*record)], set()).add(row_of(*record))
    rows = sorted((row_of(*record) for record in records), key=place)
    assert set(map(frozenset, groups.values())) == mdav(rows, [[], [*PATHS, None]], k)
    sizes = Counter(found[as_text(*record)] for record in records)
    assert min(sizes.values()) >= min(k, len(records))


@given(tables(), st.sampled_from([2, 3]))
@examples(FAST, 5, 2)
def test_the_order_of_records_does_not_count(
    records: list[tuple[int | None, str | None]], k: int
) -> None:
    assert groups_of(records, k) == groups_of(records[::-1], k)


@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 4)), min_size=1, max_size=9),
    st.sampled_from([2, 3, 5]),
)
@FAST
def test_the_optimum_of_one_number_is_the_best_of_all_partitions(
    drawn: list[tuple[int, int]], k: int
) -> None:
    counted = sorted(dict(drawn).items())
    values, counts = [float(v) for v, _ in counted], [n for _, n in counted]
    groups = optimal_groups(np.array(values), np.array(counts), k)
    parts = [np.flatnonzero(groups == g).tolist() for g in range(groups.max() + 1)]
    assert sorted(groups.tolist()) == groups.tolist()
    if sum(counts) >= k:
        assert all(sum(counts[i] for i in part) >= k for part in parts)
        found = sum(squares(values, counts, part) for part in parts)
        assert found == pytest.approx(least_squares(values, counts, k), abs=1e-6)


def test_nulls_are_a_group_of_their_own_in_the_optimum_or_join_the_first() -> None:
    records: list[tuple[int | None, str | None]] = [(age, None) for age in (1, 1, 2, 9, 9, 9)]
    assert groups_of([*records, (None, None)], 3, "optimal") == {
        ("1",): 1,
        ("2",): 1,
        ("9",): 2,
        (None,): 1,
    }
    found = groups_of([*records, *[(None, None)] * 3], 3, "optimal")
    assert (found[("1",)], found[("9",)], found[(None,)]) == (1, 2, 3)


@pytest.mark.parametrize(("least", "most"), [(5, 1_000_000), (20, 2_000_000)])
def test_what_would_take_hours_is_refused(least: int, most: int) -> None:
    grouping.check_size(most, least, "mdav")
    with pytest.raises(RecodingError, match="Use microaggregation with method: mondrian"):
        grouping.check_size(most + 1, least, "mdav")


def test_a_value_outside_its_hierarchy_is_refused_without_showing_it() -> None:
    with pytest.raises(RecodingError, match=r"city must be in its hierarchy; 1 are not") as error:
        groups_of([(1, "a"), (2, "Sofia")], 2)
    assert "Sofia" not in str(error.value)
