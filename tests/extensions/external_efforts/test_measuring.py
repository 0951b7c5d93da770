"""Measured privacy finds copies and seen tables; its rates are those of a second definition."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student_t

from dbt_anonymize.errors import EvaluationError
from tests.extensions.external_efforts import naive
from tests.extensions.external_efforts.world import COLUMNS, World, marginals, people, world_of
from tests.sampling import number_of

pytestmark = pytest.mark.sampled_tests(1)

RECORDS = people()
INNER = RECORDS[~RECORDS.is_outer]
LEAST = 0.05  # a limit that a table without anybody's record keeps
DRAWS = number_of("draws of independent marginals", 200, 8)


def risks(world: World, effort: int) -> dict[str, float]:
    """Return the largest risk of each attack."""
    found = world.measured()
    of_effort = found[(found.effort == effort) & found.risk.notna()]
    return {str(name): float(risk) for name, risk in of_effort.groupby("attack").risk.max().items()}


def p_values(world: World) -> dict[str, float]:
    found = world.measured()
    seen = found[found.attack == "seen"]
    return {str(name): float(p) for name, p in seen.groupby("measure").p_value.min().items()}


def test_a_copy_of_the_inner_records_fails_on_privacy() -> None:
    world = world_of(RECORDS, INNER[COLUMNS])
    found = risks(world, 2)
    assert found == risks(world, 0), "effort 0 stands for a copy"
    assert found["closest_record"] > 0.5
    assert {name for name, risk in found.items() if risk > LEAST} >= {
        "closest_record",
        "singling_out",
    }
    assert min(p_values(world).values()) > 0.01, "it has not seen the outer records"


@pytest.mark.parametrize("rows", [RECORDS[RECORDS.is_outer], RECORDS])
def test_a_table_with_outer_records_is_seen(rows: pd.DataFrame) -> None:
    """Of all records it is no more often equal to outer ones, and more often than by chance."""
    world = world_of(RECORDS, rows[COLUMNS])
    found = p_values(world)
    assert min(found.values()) < 0.01
    assert (found["more_than_inner"] < 0.01) == (len(rows) < len(RECORDS))


def test_a_table_at_labels_is_compared_at_them() -> None:
    labels = RECORDS.assign(age=[f"[{a // 10 * 10}, {a // 10 * 10 + 10})" for a in RECORDS.age])
    seen = world_of(RECORDS, labels.loc[RECORDS.is_outer, COLUMNS])
    unseen = world_of(RECORDS, labels.loc[~RECORDS.is_outer, COLUMNS])
    assert p_values(seen)["more_than_inner"] < 0.01 < p_values(unseen)["more_than_inner"]


def rows_of(world: World, effort: int, keys: set[int] | None = None) -> list[naive.Row]:
    where = "" if keys is None else f" where visit_id in ({', '.join(map(str, keys))})"
    found = world.connection.execute(
        f"select age_lower, age_upper, city, income, ill from visits_effort_{effort}{where}"
    ).fetchall()
    return [((low, high), *others) for low, high, *others in found]


def drawn_groups(seed: int) -> list[list[naive.Row]]:
    """Draw equally many members and others by their digests."""
    groups = []
    for is_outer in (False, True):
        some = RECORDS[RECORDS.is_outer == is_outer]
        digest = [
            hashlib.md5(f"{seed} member {key}".encode(), usedforsecurity=False).hexdigest()
            for key in some.visit_id
        ]
        groups.append(some.assign(digest=digest).sort_values("digest")[COLUMNS])
    fewest = min(map(len, groups))
    return [list(group[:fewest].itertuples(index=False, name=None)) for group in groups]


@pytest.mark.parametrize("effort", [0, 1, 2])
def test_rates_are_those_of_an_attacker_who_looks_at_one_row_after_the_other(effort: int) -> None:
    foreign = marginals(RECORDS, 3)[:60]
    world = world_of(RECORDS, foreign)
    found = world.measured()
    found = found[(found.effort == effort)].set_index("measure")
    if effort == 2:
        rows = rows_of(world, 2)
    else:
        keys = {int(key) for key in INNER.visit_id}
        if effort == 1:  # classes of fewer than three inner records go
            kept = world.connection.execute(
                "select visit_id from (select *, count(*) over (partition by age, city) as n "
                f"from visits_effort_1 where visit_id in ({', '.join(map(str, keys))})) "
                "where n >= 3"
            ).fetchall()
            keys = {key for (key,) in kept}
        rows = rows_of(world, effort, keys)
    members, others = drawn_groups(1)

    def rates(measure: str) -> tuple[float, float]:
        row: Any = found.loc[measure]
        return float(row.rate), float(row.control_rate)

    assert rates("univariate") == pytest.approx(naive.singled_out(rows, (members, others), 1))
    if found.loc["multivariate"].guesses < 500:
        assert rates("multivariate") == pytest.approx(naive.singled_out(rows, (members, others), 3))
    closest = found.loc["taken_for_members"]
    expected = naive.taken_for_members(rows, (members, others))
    # Who of the equally close is taken is drawn.
    assert abs(closest.rate - expected[0]) <= 2 / math.sqrt(len(members))
    assert closest.rate + closest.control_rate == pytest.approx(sum(expected)) == pytest.approx(1)
    for measure, known in (
        ("share_right", ("age", "city")),
        ("share_right_knowing_the_rest", ("age", "city", "income")),
    ):
        assert rates(measure) == pytest.approx(
            [naive.inferred(rows, group, known) for group in (members, others)]
        )
    for rate, group in zip(rates("same_row"), (members, others), strict=True):
        chance = list(naive.chances(rows, group))
        spread = math.sqrt(sum(c * (1 - c) for c in chance)) / len(chance)
        assert abs(rate - sum(chance) / len(chance)) <= 4 * spread + 1e-12


def scores(frame: pd.DataFrame, effort: int, model: str) -> np.ndarray:
    found = frame[
        (frame.effort == effort)
        & (frame.model == model)
        & (frame.kind == "measure")
        & (frame.name == "accuracy")
        & (frame.fit == "per_split")
        & (frame.test_on == "original")
    ]
    return found.sort_values(["repetition", "fold"]).value.to_numpy()


def test_a_copy_of_the_inner_records_learns_as_the_untouched_table() -> None:
    frame = world_of(RECORDS, INNER[COLUMNS]).evaluated()
    assert scores(frame, 2, "bayes").tolist() == scores(frame, 0, "bayes").tolist()
    assert len(scores(frame, 1, "bayes")) == 10
    (digest,) = frame[frame.kind == "rows"].name
    other = world_of(RECORDS, INNER[COLUMNS].iloc[::-1]).evaluated()
    assert [digest] == [*other[other.kind == "rows"].name], "the order of rows says nothing"


def test_models_see_the_outer_records_of_a_split_alone() -> None:
    """Each half of the outer records is scored: no score needs an inner record."""
    frame = world_of(RECORDS, INNER[COLUMNS]).evaluated()
    outer = int(RECORDS.is_outer.sum())
    shares = scores(frame, 0, "bayes") * math.ceil(outer / 2)
    assert np.allclose(shares, shares.round())


def test_a_class_that_no_record_has_stops_the_evaluation() -> None:
    strange = INNER[COLUMNS].assign(ill=["perhaps", *INNER.ill[1:]])
    with pytest.raises(EvaluationError, match=r"1 of \d+ rows have another"):
        world_of(RECORDS, strange).evaluated()


def beats_zero_rule(frame: pd.DataFrame, effort: int) -> bool:
    difference = scores(frame, effort, "bayes") - scores(frame, 0, "zero_rule")
    factor = math.sqrt(1 / len(difference) + 1)
    half = student_t.ppf(0.975, len(difference) - 1) * factor * difference.std(ddof=1)
    return bool(difference.mean() - half > 0)


def test_independent_marginals_seldom_qualify() -> None:
    """They have no record of anybody, and nothing to learn either: at most one draw in twenty."""
    qualified = learned = 0
    for seed in range(DRAWS):
        records = people(300, seed=seed)
        world = world_of(records, marginals(records, seed))
        frame = world.evaluated()
        qualified += beats_zero_rule(frame, 2)
        learned += beats_zero_rule(frame, 0)
    assert qualified <= 0.05 * DRAWS
    # The test can tell: from the untouched table the model learns.
    assert learned >= 0.5 * DRAWS
