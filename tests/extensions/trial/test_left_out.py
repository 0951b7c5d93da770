"""A value is named where far more of its records are left out, and never one that few have."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dbt_anonymize.evaluation.problem import Target
from dbt_anonymize.extensions.drafting.coded_table import CodedTable
from dbt_anonymize.extensions.drafting.plans import Plan
from dbt_anonymize.extensions.hierarchy_builders.integers import integer_groups
from dbt_anonymize.extensions.hierarchy_builders.intervals import equal_width_intervals
from dbt_anonymize.extensions.left_out.outliers import Group, LeftOut
from dbt_anonymize.extensions.trial.alternatives import Alternative
from dbt_anonymize.extensions.trial.commands.try_output import _uneven_suppression
from dbt_anonymize.extensions.trial.left_out import (
    suppressed_rows,
    target_absent,
    target_left_out,
    value_left_out,
    values_absent,
)
from dbt_anonymize.hierarchies.model import CategoricalHierarchy
from dbt_anonymize.privacy.table import Attribute, Table

REGIONS = ("north", "east", "south", "west")


def plans() -> list[Plan]:
    regions = CategoricalHierarchy(REGIONS, (("n", "e", "s", "s"), ("*",) * 4))
    ages = equal_width_intervals(0, 80, [20])
    flags = integer_groups({Decimal(0): 10, Decimal(1): 10})
    return [
        Plan("region", "a", regions, ""),
        Plan("age", "b", ages, ""),
        Plan("owns", "c", flags, ""),
    ]


def counted(leaves: np.ndarray, subject: np.ndarray | None = None) -> CodedTable:
    """Return a table of a row for each record."""
    own = plans()
    attributes = []
    for plan in own:
        size = len(plan.hierarchy.labels[0]) + 1
        levels = (np.arange(size), np.zeros(size, dtype=np.int64))
        shares = (np.full(size, 1 / size), np.ones(1))
        attributes.append(Attribute(plan.column, levels, shares, size, 1 / size))
    records = np.ones(len(leaves), dtype=np.int64)
    table = Table(tuple(attributes), leaves, records, subject=subject)
    return CodedTable(table, own, tuple(np.arange(len(a.levels[0])) for a in attributes))


def drawn(state: int, records: int = 4000) -> tuple[np.ndarray, Any]:
    chance = np.random.default_rng(state)
    draws = [chance.integers(0, size, records) for size in (4, 4, 2)]
    return np.column_stack(draws), chance


@pytest.mark.parametrize(
    ("place", "leaf", "column", "value"),
    [(0, 2, "region", "south"), (2, 1, "owns", "1"), (0, 4, "region", "NULL")],
)
def test_a_value_that_is_left_out_far_more_often_is_named(
    place: int, leaf: int, column: str, value: str
) -> None:
    leaves, chance = drawn(1)
    leaves[:900, place] = leaf
    is_of = leaves[:, place] == leaf
    gone = chance.random(len(leaves)) < np.where(is_of, 0.3, 0.02)
    expected = LeftOut(column, value, float(gone[is_of].mean()), float(gone[~is_of].mean()))
    assert value_left_out(counted(leaves), gone) == expected
    assert str(LeftOut("race", "Black", 0.304, 0.018)) == (
        "30% of the records with race = Black, 2% of all others"
    )


def test_what_is_left_out_by_chance_or_hardly_more_is_not() -> None:
    """Neither in sixty tables in which who is left out was drawn, nor for a small difference."""
    said = []
    for state in range(60):
        leaves, chance = drawn(state, records=400)
        said.append(value_left_out(counted(leaves), chance.random(400) < 0.08))
    assert said == [None] * 60
    leaves, chance = drawn(1)
    for often, seldom in ((0.06, 0.03), (0.3, 0.2)):
        gone = chance.random(len(leaves)) < np.where(leaves[:, 0] == 2, often, seldom)
        assert value_left_out(counted(leaves), gone) is None, "too few points, or not twice as many"


def test_no_value_of_few_is_named_nor_one_beside_few() -> None:
    leaves, _ = drawn(1)
    for rare, common in ((1, 0), (0, 1)):
        leaves[:, 2] = common
        leaves[:49, 2] = rare
        of_few = leaves[:, 2] == 1
        assert value_left_out(counted(leaves), of_few) is None
    # Enough records, but a small share; and a range of ages is no value.
    leaves[:190, 2] = 0
    assert value_left_out(counted(leaves), leaves[:, 2] == 0) is None
    leaves[:, 2] = 0
    assert value_left_out(counted(leaves), leaves[:, 1] == 3) is None


def test_shares_are_those_of_records_and_people_must_be_many() -> None:
    """Each of 400 people has ten records, of which one in four is left out."""
    leaves, _ = drawn(1)
    leaves[:, 0] = 1
    leaves[:1000, 0] = 2
    people, gone = np.arange(len(leaves)) // 10, np.arange(len(leaves)) % 4 == 0
    gone[1000:] = False
    expected = LeftOut("region", "south", 0.25, 0.0)
    assert value_left_out(counted(leaves, people), gone) == expected
    people[:1000] %= 40
    assert value_left_out(counted(leaves, people), gone) is None


def test_the_page_names_it_for_the_alternatives_where_it_is_so() -> None:
    """Region west has classes of fewer than k, and each other class has more."""
    leaves = np.repeat([[0, 0, 0], [1, 0, 0]], 300, axis=0)
    west = np.column_stack([np.full(240, 3), np.tile(np.arange(4), 60), np.repeat([0, 1], 120)])
    own = counted(np.concatenate([leaves, west]))
    spec = SimpleNamespace(
        suppression_limit=0.5,
        guarantees=SimpleNamespace(resolved=[{"model": "k_anonymity", "k": 5}]),
    )

    def alternative(name: str, k: int) -> Alternative:
        checked: Any = SimpleNamespace(node=(0, 0, 0))
        return Alternative((name,), k, checked, np.zeros(0, dtype=np.bool_))

    weak, strong = alternative("more-use", 5), alternative("more-privacy", 50)
    assert value_left_out(own, suppressed_rows(spec, own, weak)) is None  # type: ignore[arg-type]
    tried: Any = SimpleNamespace(spec=spec, counted=own, sampled=None)
    assert [*_uneven_suppression(tried, [weak])] == []
    assert [*_uneven_suppression(tried, [weak, strong])] == [
        "Left out far more than others. more-privacy: 100% of the records with region = west, "
        "0% of all others.",
        "Left out altogether in more-privacy: the 120 records with owns = 1; the release has only "
        "other values of owns.",
    ]


@pytest.mark.parametrize(
    ("records", "lost", "k", "is_said"),
    [(115, 115, 5, True), (115, 104, 5, True), (115, 103, 5, False), (9, 9, 10, False)],
    ids=["all", "nine tenths", "fewer", "of few"],
)
def test_a_rare_value_of_which_nothing_is_left_is_found(
    records: int, lost: int, k: int, *, is_said: bool
) -> None:
    leaves, _ = drawn(1)
    leaves[:, 2] = np.arange(len(leaves)) < records
    gone = np.arange(len(leaves)) < lost
    found = values_absent(counted(leaves), gone, (0, 0, 0), k)
    assert found == [Group("owns", "1", records, lost)] * is_said
    assert not values_absent(counted(leaves), gone, (0, 0, 1), k)
    people = np.arange(len(leaves)) // 40  # three have it
    assert not values_absent(counted(leaves, people), gone, (0, 0, 0), k)


def test_a_class_of_the_target_of_which_nothing_is_left_is_found() -> None:
    codes = np.concatenate([np.zeros(990, dtype=np.int64), np.full(10, 1)])
    target = Target("ill", "classification", ("no", "yes"), codes=codes)
    records: Any = SimpleNamespace(problem=SimpleNamespace(targets=[target], groups=None))
    assert target_absent(records, codes == 1, 10) == [Group("ill", "yes", 10, 10)]
    assert target_absent(records, codes == 1, 11) == []
    time = replace(target, task="survival", classes=())
    records = SimpleNamespace(problem=SimpleNamespace(targets=[time], groups=None))
    assert target_absent(records, codes == 1, 10) == []


def test_the_class_of_the_target_is_named_first() -> None:
    """Of 100 who are ill, half are left out, and of 900 others 27."""
    target = Target("ill", "classification", ("no", "yes"), codes=np.arange(1000) % 10 // 9)
    problem = SimpleNamespace(targets=[target], groups=None)
    ill, number = target.codes == 1, np.arange(1000)
    gone = (ill & (number < 500)) | (~ill & (number < 30))
    found = target_left_out(SimpleNamespace(problem=problem), gone)  # type: ignore[arg-type]
    assert found == LeftOut("ill", "yes", 0.5, 0.03)
    groups = np.where(ill, number // 10 % 5, 5 + number)  # the ill are five people
    problem = SimpleNamespace(targets=[target], groups=groups)
    assert target_left_out(SimpleNamespace(problem=problem), gone) is None  # type: ignore[arg-type]
    number_target = replace(target, task="regression", codes=None)
    problem = SimpleNamespace(targets=[number_target], groups=None)
    assert target_left_out(SimpleNamespace(problem=problem), gone) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("end", ["lowest", "highest"])
@pytest.mark.parametrize("ties", [1, 5])
def test_an_end_of_a_number_that_is_left_out_is_named(end: str, ties: int) -> None:
    """Not where many more than a tenth have equal values at the end."""
    rank = np.random.default_rng(2).permutation(1000)
    of_tenth = rank < 100
    gone = of_tenth & (np.arange(1000) % 3 == 0)
    gone[np.flatnonzero(~of_tenth)[:9]] = True
    numbers = np.where(rank < 400, 0.0, rank) if ties > 1 else rank.astype(float)
    shown = numbers if end == "lowest" else -numbers
    target = Target("weight", "regression", numbers=shown)
    problem = SimpleNamespace(targets=[target], groups=None)
    found = target_left_out(SimpleNamespace(problem=problem), gone)  # type: ignore[arg-type]
    if ties > 1:
        assert found is None or found.value != end
        return
    share = float(gone[of_tenth].mean())
    assert found == LeftOut("weight", end, share, 0.01, is_tenth=True)
    assert str(found) == (
        f"{share:.0%} of the records with weight in its {end} tenth, 1% of all others"
    )
