"""Primary rules by cell, against loops written from the definitions over all contributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dbt_anonymize.extensions.tables.cube import Cube, Dimension
from dbt_anonymize.extensions.tables.errors import TableError
from dbt_anonymize.extensions.tables.primary import (
    Primary,
    by_dominance,
    by_minimum_frequency,
    by_p_percent,
    joined,
)


def random_cells(seed: int) -> list[list[float]]:
    """Return the contributions of 400 cells, of up to 8 subjects, some zero."""
    random = np.random.default_rng(seed)
    scale = 10.0 ** random.integers(-2, 6, 400)
    return [
        (factor * random.pareto(1.0, random.integers(0, 9)) * (random.random() < 0.95)).tolist()
        for factor in scale
    ]


def columns(cells: list[list[float]]) -> tuple[Any, Any, Any]:
    ordered = [sorted([*cell, 0.0, 0.0], reverse=True) for cell in cells]
    first, second = (np.array([cell[place] for cell in ordered]) for place in (0, 1))
    return np.array([sum(cell) for cell in cells]), first, second


def test_p_percent_is_what_the_runner_up_can_tell_of_the_largest() -> None:
    cells = random_cells(1)
    verdict = by_p_percent(*columns(cells), 15)
    assert 50 < verdict.is_primary.sum() < 350
    for cell, is_primary, lower, upper in zip(cells, *verdict, strict=True):
        largest, *others = sorted(cell, reverse=True) if any(cell) else [0.0]
        # The runner-up subtracts her own value from the total, and takes the rest for the largest.
        overestimates = sum(others[1:])
        demanded = 0.15 * largest - overestimates
        assert is_primary == (demanded > 1e-9 * sum(cell)), cell
        assert upper == pytest.approx(demanded if is_primary else 0)
        assert lower == pytest.approx(min(upper, sum(cell)))


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("share", [0.6, 0.85])
def test_dominance_is_of_the_largest_ones(n: int, share: float) -> None:
    cells = random_cells(2)
    verdict = by_dominance(*columns(cells), n=n, share=share)
    assert 50 < verdict.is_primary.sum() < 390
    for cell, is_primary, lower, upper in zip(cells, *verdict, strict=True):
        total, largest = sum(cell), sum(sorted(cell, reverse=True)[:n])
        assert is_primary == (largest > share * total * (1 + 1e-9)), cell
        if is_primary:  # with that much more they would be exactly the share
            assert largest == pytest.approx(share * (total + upper))
            assert lower == pytest.approx(min(upper, total))
        else:
            assert (lower, upper) == (0, 0)


@pytest.mark.parametrize("minimum", [2, 5, 10])
def test_an_interval_of_the_minimum_frequency_reaches_it_and_is_wide_enough(minimum: int) -> None:
    counts = np.arange(15)
    verdict = by_minimum_frequency(counts, minimum)
    for count, is_primary, lower, upper in zip(counts, *verdict, strict=True):
        assert is_primary == (0 < count < minimum)
        if is_primary:
            assert count + upper >= minimum
            assert lower + upper >= minimum - 1
            assert count - lower >= 1  # whoever is in it knows that
        else:
            assert (lower, upper) == (0, 0)


def test_cells_of_one_contributor_are_primary_and_cells_of_zero_are_not() -> None:
    one, zero = (np.array([[7.0], [7.0], [0.0]]), np.array([[0.0], [0.0], [0.0]]))
    for verdicts in (
        [by_p_percent(*cell, 1) for cell in (one, zero)],
        [by_dominance(*cell, n=1, share=0.99) for cell in (one, zero)],
        [by_dominance(*cell, n=2, share=0.99) for cell in (one, zero)],
        [by_minimum_frequency(np.array([count]), 2) for count in (1, 0)],
    ):
        assert [verdict.is_primary.tolist() for verdict in verdicts] == [[True], [False]]


def test_a_total_of_a_single_part_has_the_verdict_of_the_part() -> None:
    cube = Cube((Dimension.flat("ward", ["a", "b"]), Dimension.flat("sex", ["f", "m"])))
    inner = np.zeros(cube.size, dtype=int)
    inner[cube.numbers(np.array([[1, 1], [2, 1], [2, 2]]))] = 3, 4, 9
    counts = cube.totals(inner.astype(float)).astype(int)
    verdict = by_minimum_frequency(counts, 5).is_primary
    part, total = cube.numbers(np.array([[1, 1], [1, 0]]))  # ward a has no men
    assert counts[part] == counts[total] == 3
    assert verdict[part]
    assert verdict[total]
    assert not verdict[cube.numbers(np.array([[1, 2]]))].any()


def test_of_several_rules_the_strictest_counts() -> None:
    cells = columns(random_cells(3))
    rules = by_p_percent(*cells, 10), by_dominance(*cells, n=2, share=0.85)
    both = joined(*rules)
    assert isinstance(both, Primary)
    assert (both.is_primary == (rules[0].is_primary | rules[1].is_primary)).all()
    assert (rules[0].is_primary != rules[1].is_primary).any()
    for place in (1, 2):
        assert (both[place] == np.maximum(rules[0][place], rules[1][place])).all()


@pytest.mark.parametrize(
    ("total", "first", "second", "said"),
    [
        (-5.0, 0.0, 0.0, "a total must be a number of at least 0"),
        (5.0, -1.0, -2.0, "a contribution must be a number of at least 0"),
        (float("nan"), 1.0, 1.0, "a total must be a number"),
        (5.0, 8777.0, 1.0, "contributions of at least 0"),  # the others sum to less than nothing
        (50.0, 1.0, 8777.0, "first must be the largest"),
    ],
)
def test_what_the_rules_say_nothing_of_is_refused(
    total: float, first: float, second: float, said: str
) -> None:
    cells = np.array([total, 3.0]), np.array([first, 2.0]), np.array([second, 1.0])
    for refused in (lambda: by_p_percent(*cells, 10), lambda: by_dominance(*cells, n=1, share=0.5)):
        with pytest.raises(TableError, match=said) as error:
            refused()
        assert "1 cell has" in str(error.value)
        assert "8777" not in str(error.value)


@pytest.mark.parametrize("minimum", [0, 1, -1, 2.5, True, "5"])
def test_parameters_out_of_range_are_refused(minimum: Any) -> None:
    zeros = np.zeros(1)
    with pytest.raises(TableError, match=r"minimum_frequency must .*; got"):
        by_minimum_frequency(np.zeros(1, dtype=int), minimum)
    for wrong in (0.0, -3.0, 101.0):
        with pytest.raises(TableError, match="p_percent must be above 0"):
            by_p_percent(zeros, zeros, zeros, wrong)
    for n, share in ((3, 0.5), (0, 0.5), (1, 0.0), (1, 1.0), (1, 85.0)):
        with pytest.raises(TableError, match="dominance must have"):
            by_dominance(zeros, zeros, zeros, n=n, share=share)
