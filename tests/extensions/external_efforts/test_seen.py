"""A table that has seen all records is refused with noise as well; one of the inner ones is not."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

from dbt_anonymize.extensions.attacks.session import Session
from dbt_anonymize.extensions.external_efforts.nearness import close_alone
from dbt_anonymize.extensions.external_efforts.seen import SeenTest, seen_tests
from tests.extensions.external_efforts import naive
from tests.extensions.external_efforts.power import LEVEL, PAGE, p_value_of, power_table
from tests.extensions.external_efforts.synthesizers import HONEST, Table
from tests.extensions.external_efforts.world import COLUMNS, World, marginals, people, world_of
from tests.sampling import number_of

pytestmark = pytest.mark.costly

DRAWS = number_of("tables of honest synthesizers", 20, 2)


def wide(number: int = 300, seed: int = 1) -> pd.DataFrame:
    """Return people whose income says much of them."""
    chance = np.random.default_rng([seed, 3])
    return people(number, seed=seed).assign(income=chance.lognormal(10, 0.5, number).round(-2))


@dataclass(frozen=True)
class Named:
    """The relations of a world, in the place of a warehouse."""

    world: World

    def relation_of_ref(self, name: str) -> str:
        """Return SQL of a relation."""
        return f"({self.world.relations[name].sql_query()})"


def seen(world: World) -> list[SeenTest]:
    warehouse = Named(world)
    session = Session(cast(Any, warehouse), world.connection.cursor())
    return [*seen_tests(session, world.spec, warehouse.relation_of_ref("visits_effort_2"))]


def p_value(tests: Sequence[SeenTest]) -> float:
    """Return the probability of the most striking test among so many."""
    return min(test.p_value for test in tests) * len(tests)


def jittered(records: pd.DataFrame, **sizes: float) -> pd.DataFrame:
    chance, rows = np.random.default_rng(5), records[COLUMNS].copy()
    for name, size in sizes.items():
        noise = chance.integers(1, size, len(rows), endpoint=True)
        rows[name] += noise * np.where(rows[name] < records[name].median(), 1, -1)
    return rows


def permuted(records: pd.DataFrame, name: str) -> pd.DataFrame:
    rows = records[COLUMNS].copy()
    rows[name] = np.random.default_rng(5).permutation(rows[name])
    return rows


@pytest.mark.parametrize(
    "noisy",
    [
        lambda records: jittered(records, age=2),
        lambda records: jittered(records, income=3000),
        lambda records: jittered(records, age=1, income=200),
        lambda records: permuted(records, "age"),
        lambda records: permuted(records, "ill"),
        lambda records: records[COLUMNS].assign(income=records.income.round(-3)),
        lambda records: jittered(pd.concat([records] * 5), income=500),
        lambda records: jittered(records[records.visit_id % 2 == 0], income=500),
    ],
    ids=["age", "income", "both", "age permuted", "answer permuted", "rounded", "5 each", "half"],
)
def test_a_noisy_copy_of_all_records_is_seen(
    noisy: Callable[[pd.DataFrame], pd.DataFrame],
) -> None:
    assert p_value(seen(world_of(wide(), noisy(wide())))) < LEVEL


def test_equal_rows_say_nothing_of_noise() -> None:
    tests = seen(world_of(wide(), jittered(wide(), age=2)))
    assert p_value([test for test in tests if test.measure != "closer_than_chance"]) > LEVEL


def test_noise_at_labels_is_seen() -> None:
    labels = [f"[{a // 10 * 10}, {a // 10 * 10 + 10})" for a in wide().age]
    rows = jittered(wide(), income=500).assign(age=labels)
    assert p_value(seen(world_of(wide(), rows))) < LEVEL


@pytest.mark.parametrize(
    "rows",
    [
        lambda records: records[COLUMNS],
        lambda records: jittered(records, age=1, income=200),
        lambda records: marginals(records, 1),
        lambda records: marginals(records, 1)[:60],
        lambda records: pd.concat([marginals(records, seed) for seed in range(5)]),
    ],
    ids=["copy", "noisy copy", "marginals", "few rows", "many rows"],
)
def test_a_table_of_inner_records_is_not_seen(
    rows: Callable[[pd.DataFrame], pd.DataFrame],
) -> None:
    records = wide()
    tests = seen(world_of(records, rows(records[~records.is_outer])))
    assert p_value(tests) > LEVEL
    assert [test.left_out for test in tests[2:]] == [None, *COLUMNS]


@pytest.mark.parametrize("name", HONEST)
def test_honest_synthesizers_are_not_refused(name: str) -> None:
    for seed in range(DRAWS):
        assert p_value_of(Table(240, seed).split(HONEST[name])) > LEVEL, seed


@pytest.mark.slow
def test_the_page_says_how_much_noise_is_found() -> None:
    assert power_table() in PAGE.read_text(encoding="utf-8")


def test_counts_are_those_of_one_record_after_the_other() -> None:
    chance = np.random.default_rng(2)

    def some(number: int) -> list[np.ndarray]:
        numbers = chance.normal(size=number).round(1)
        numbers[chance.random(number) < 0.1] = math.nan
        return [numbers, chance.integers(0, 3, number), chance.integers(0, 9, number) * 1.0]

    def as_rows(columns: Sequence[np.ndarray]) -> list[tuple[float, ...]]:
        return [*zip(*(map(float, column) for column in columns), strict=True)]

    for outer, rows, inner in ((40, 50, 60), (30, 5, 40), (20, 300, 4)):
        tables = some(outer), some(rows), some(inner)
        assert [*close_alone(*tables)] == naive.close_alone(*map(as_rows, tables), (0, 2))
        alone = [[columns[2]] for columns in tables]
        assert [*close_alone(*alone)] == naive.close_alone(*map(as_rows, alone), (0,))
