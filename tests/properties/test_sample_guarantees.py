"""Guarantees about all released classes together, and the estimates of population uniqueness."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from dbt_anonymize.lattice.uniqueness import (
    population_uniques,
    slide_negative_binomial,
    zayatz,
)

from .sampled import AVERAGES, ESTIMATORS, LIMIT, POPULATIONS, average_model
from .warehouse import Warehouse
from .worlds import COSTLY, HALF

Histogram = dict[int, int]
HISTOGRAMS = st.dictionaries(
    st.integers(1, 6) | st.integers(1, 400), st.integers(1, 60), min_size=1, max_size=8
)


def arrays(histogram: Histogram) -> tuple[Any, Any]:
    sizes = sorted(histogram)
    return np.array(sizes), np.array([histogram[size] for size in sizes])


def people_in(histogram: Histogram) -> int:
    return sum(size * number for size, number in histogram.items())


def pitman(histogram: Histogram, population: int) -> float:
    """Solve the likelihood equations, written as the sums that they are."""
    classes, people = sum(histogram.values()), people_in(histogram)
    before, drawn = np.arange(classes - 1.0), np.arange(1.0, people)

    def shifted(alpha: float) -> float:
        """Return theta + alpha."""

        def excess(logarithm: float) -> float:
            point = math.exp(logarithm)
            return float((1 / (point + alpha * before)).sum() - (1 / (point - alpha + drawn)).sum())

        highest = 2 * math.log(people) + 3
        return math.exp(optimize.brentq(excess, math.log(alpha) - 30, highest, xtol=1e-13))

    def excess(alpha: float) -> float:
        of_classes = ((before + 1) / (shifted(alpha) + alpha * before)).sum()
        of_sizes = sum(
            number * (1 / (np.arange(1.0, size) - alpha)).sum()
            for size, number in histogram.items()
        )
        return float(of_classes - of_sizes)

    low, high = 1e-6, 1 - 1e-9
    alpha = low if excess(low) <= 0 else float(optimize.brentq(excess, low, high, xtol=1e-13))
    gammas = math.lgamma(shifted(alpha) - alpha + 1) - math.lgamma(shifted(alpha))
    return min(math.exp(gammas + alpha * math.log(population)), population)


def estimates(
    warehouse: Warehouse, estimator: str, population: int, histograms: list[Histogram]
) -> list[float]:
    rows = [
        (number, size, classes)
        for number, histogram in enumerate(histograms)
        for size, classes in histogram.items()
    ]
    columns = {"case_id": "bigint", "class_size": "bigint", "classes": "bigint"}
    warehouse.load("sampled_histogram", columns, rows)
    warehouse.load("sampled_population", {"population": "bigint"}, [(population,)])
    found = warehouse.rows(f"sampled_{estimator}")
    return [row["uniques"] for row in sorted(found, key=lambda row: int(row["case_id"]))]


BY_DEFINITION: dict[str, Callable[[Any, Any, int], float | None]] = {
    "zayatz": zayatz,
    "snb": slide_negative_binomial,
}


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("estimator", BY_DEFINITION)
@COSTLY
@given(histograms=st.lists(HISTOGRAMS, min_size=1, max_size=20))
def test_estimates_equal_those_of_the_kernel(
    warehouse: Warehouse, estimator: str, population: int, histograms: list[Histogram]
) -> None:
    found = estimates(warehouse, estimator, population, histograms)
    for uniques, histogram in zip(found, histograms, strict=True):
        expected = population_uniques(*arrays(histogram), population, estimator=estimator)
        assert uniques == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("population", POPULATIONS)
def test_pitmans_estimate_solves_the_likelihood_equations(
    warehouse: Warehouse, population: int
) -> None:
    draw = random.Random(20260101)
    sizes = [2, 3, 4, 7, 20, 150]
    histograms = [
        {1: draw.randint(1, 90)}
        | {size: draw.randint(1, 30) for size in draw.sample(sizes, draw.randint(1, 4))}
        for _ in range(60)
    ]
    # One pair among many; all classes equal but one.
    histograms += [{1: 300, 2: 1}, {1: 1, 150: 9}, {1: 2, 2: 1}]
    found = estimates(warehouse, "pitman", population, histograms)
    for uniques, histogram in zip(found, histograms, strict=True):
        if people_in(histogram) < population:
            # Where alpha is 0, SQL finds less than 1e-4, which changes the estimate by alpha ln M.
            assert uniques == pytest.approx(pitman(histogram, population), rel=1e-3), histogram


@pytest.mark.parametrize("population", POPULATIONS)
def test_dankars_rule_takes_pitman_for_small_samples_and_else_the_smaller_of_the_others(
    warehouse: Warehouse, population: int
) -> None:
    draw = random.Random(20260102)
    histograms = [
        {draw.choice([1, 1, 2, 3, 40]): draw.randint(1, 300) for _ in range(draw.randint(1, 4))}
        for _ in range(80)
    ]
    found = {name: estimates(warehouse, name, population, histograms) for name in ESTIMATORS}
    for number, histogram in enumerate(histograms):
        zayatz_, pitman_, snb_ = (found[name][number] for name in ("zayatz", "pitman", "snb"))
        is_small = people_in(histogram) <= 0.1 * population
        assert found["dankar"][number] == (pitman_ if is_small else min(zayatz_, snb_))


def test_nobody_alone_and_whole_populations(warehouse: Warehouse) -> None:
    population = POPULATIONS[0]
    histograms: list[Histogram] = [{2: 5}, {1: 500, 2: 750}, {1: 3}]
    for estimator in ESTIMATORS:
        found = estimates(warehouse, estimator, population, histograms)
        assert found[:2] == [0, 500], estimator
    # Everybody in the sample is unique.
    assert estimates(warehouse, "pitman", population, histograms)[2] == population


@pytest.mark.parametrize("average", AVERAGES)
@HALF
@given(sizes=st.lists(st.integers(1, 3) | st.integers(1, 9), max_size=20))
def test_the_smallest_classes_go_for_the_average_risk_and_no_more_than_needed(
    warehouse: Warehouse, average: float, sizes: list[int]
) -> None:
    classes = {f"{number:02}": size for number, size in enumerate(sizes)}
    columns = {"city": "varchar", "city_leaf": "varchar", "outcome": "varchar", "records": "int"}
    rows = [(name, name, "x", size) for name, size in classes.items()]
    warehouse.load("sampled_frequencies", columns, rows)
    tree = {"value": "varchar", "level_1": "varchar"}
    warehouse.load("sampled_city", tree, [(name, "*") for name in [*classes, "-"]])
    small = {name for name, size in classes.items() if size < 2}
    kept = sorted((size, name) for name, size in classes.items() if name not in small)
    gone = next(
        number
        for number in range(len(kept) + 1)
        if len(kept) - number <= Fraction(str(average)) * sum(size for size, _ in kept[number:])
    )
    must_go = small | {name for _, name in kept[:gone]}
    found = {row["city"]: row for row in warehouse.rows(average_model(average))}
    assert {name for name, row in found.items() if row["is_violating"]} == must_go
    records = sum(classes[name] for name in must_go)
    is_within = records <= Fraction(str(LIMIT)) * sum(sizes)
    suppressed = {name for name, row in found.items() if row["is_suppressed"]}
    assert suppressed == (must_go if is_within else set())
