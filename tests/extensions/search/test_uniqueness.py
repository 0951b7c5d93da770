"""Estimators of population uniqueness against their equations, summed up term by term."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dbt_anonymize.privacy.distances import grassberger
from dbt_anonymize.privacy.k_map import estimated_k
from tests.oracle import privacy, uniqueness
from tests.sampling import examples

Histogram = dict[int, int]
HISTOGRAMS = st.dictionaries(st.integers(1, 12), st.integers(1, 30), min_size=1, max_size=6)
FACTORS = st.sampled_from([1.05, 1.5, 2, 5, 20, 1000])
SETTINGS = examples(settings(deadline=None), 200)


def arrays(histogram: Histogram) -> tuple[np.ndarray, np.ndarray]:
    sizes = sorted(histogram)
    return np.array(sizes), np.array([histogram[size] for size in sizes])


def people_of(histogram: Histogram) -> int:
    return sum(size * count for size, count in histogram.items())


def with_singles(histogram: Histogram) -> Histogram:
    return {1: 1, **histogram}


@SETTINGS
@given(HISTOGRAMS, FACTORS)
def test_zayatz_equals_exact_hypergeometric_chances(histogram: Histogram, factor: float) -> None:
    histogram = with_singles(histogram)
    people = people_of(histogram)
    population = math.ceil(people * factor) + 1

    def drawn_once(size: int) -> Fraction:
        ways = size * math.comb(population - size, people - 1)
        return Fraction(ways, math.comb(population, people))

    total = sum(count * drawn_once(size) for size, count in histogram.items())
    chance = histogram[1] * drawn_once(1) / total
    expected = histogram[1] * chance * population / people
    found = uniqueness.zayatz(*arrays(histogram), population)
    assert found == pytest.approx(float(expected), rel=1e-9)


@SETTINGS
@given(HISTOGRAMS, FACTORS)
def test_pitman_has_the_largest_likelihood_nearby(histogram: Histogram, factor: float) -> None:
    histogram = {**with_singles(histogram), 2: 3}
    assume(len(histogram) > 2)
    sizes, counts = arrays(histogram)
    people, classes = people_of(histogram), sum(histogram.values())
    population = math.ceil(people * factor) + 1

    def log_likelihood(alpha: float, theta: float) -> float:
        found = sum(math.log(theta + i * alpha) for i in range(1, classes))
        found -= sum(math.log(theta + i) for i in range(1, people))
        for size, count in histogram.items():
            found += count * sum(math.log(i - alpha) for i in range(1, size))
        return found

    alpha, theta = uniqueness.pitman_parameters(sizes, counts)
    assert 1e-5 <= alpha < 1.0
    best = log_likelihood(alpha, theta)
    for step in (1e-3, 1e-2, 0.1):
        for near in (alpha - step, alpha + step):
            if 1e-5 < near < 1.0 and theta > -near:
                assert log_likelihood(near, theta) <= best + 1e-9
        for other in (theta - step, theta + step):
            if other > -alpha:
                assert log_likelihood(alpha, other) <= best + 1e-9
    expected = math.lgamma(theta + 1) - math.lgamma(theta + alpha) + alpha * math.log(population)
    found = uniqueness.pitman(sizes, counts, population)
    assert math.log(found) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("histogram", "population", "uniques"),
    [
        # Few repeats among many uniques: alpha is far from 0, where the likelihood is nearly flat.
        ({1: 173, 2: 2, 3: 1}, 8 * 10**7, 41_981_748.0),
        ({1: 45, 2: 5, 3: 2}, 300, 152.1133),
        ({1: 99, 2: 1, 3: 2}, 300, 266.2553),
        # Nearly Ewens' model: theta is so large that its error shows in the equation of alpha.
        ({1: 19920, 2: 3430, 3: 852, 4: 243, 5: 79}, 10**6, None),
        ({1: 5574, 2: 306, 3: 23, 4: 2}, 10**6, None),
    ],
)
def test_pitman_solves_both_likelihood_equations(
    histogram: Histogram, population: int, uniques: float | None
) -> None:
    sizes, counts = arrays(histogram)
    alpha, theta = uniqueness.pitman_parameters(sizes, counts)
    assert alpha > 1e-3
    numbers = range(1, sum(histogram.values()))
    of_classes = math.fsum(1 / (theta + i * alpha) for i in numbers)
    of_people = math.fsum(1 / (theta + i) for i in range(1, people_of(histogram)))
    assert of_classes == pytest.approx(of_people, rel=1e-10)
    of_classes = math.fsum(i / (theta + i * alpha) for i in numbers)
    within = math.fsum(
        count / (i - alpha) for size, count in histogram.items() for i in range(1, size)
    )
    assert of_classes == pytest.approx(within, rel=2e-10)
    if uniques is not None:
        found = uniqueness.pitman(sizes, counts, population)
        assert found == pytest.approx(uniques, rel=1e-6)


@SETTINGS
@given(
    st.floats(0.05, 5.0), st.floats(0.02, 0.9), st.floats(0.02, 0.9), st.sampled_from([50, 5000])
)
def test_slide_negative_binomial_finds_the_parameters_of_its_own_sample(
    a: float, b: float, fraction: float, total: int
) -> None:
    """Expected numbers from the distribution itself, class size by class size."""
    ones = twos = 0.0
    chance = b**a
    for others in range(4000):
        size = others + 1
        ones += total * chance * size * fraction * (1 - fraction) ** (size - 1)
        pairs = size * (size - 1) / 2 * fraction**2
        twos += total * chance * pairs * (1 - fraction) ** max(size - 2, 0)
        chance *= (a + others) / (others + 1) * (1 - b)
    fitted = uniqueness.fit_slide_negative_binomial(ones, twos, total, fraction)
    assert fitted is not None
    found_a, found_b = fitted
    # Different parameters may explain the same sample; the number of uniques is what is asked for.
    d = (1 - fraction) * (1 - found_b)
    base = (found_b / (1 - d)) ** found_a
    assert total * fraction * base * (1 + found_a * d / (1 - d)) == pytest.approx(ones, rel=1e-6)
    if math.isclose(found_a, a, rel_tol=1e-3):
        assert found_b == pytest.approx(b, rel=1e-2)


@SETTINGS
@given(HISTOGRAMS, FACTORS)
def test_shlosser_equals_its_sums(histogram: Histogram, factor: float) -> None:
    histogram = with_singles(histogram)
    people = people_of(histogram)
    f = people / (math.ceil(people * factor) + 1)
    items = histogram.items()
    first = sum(i * f**2 * (1 - f**2) ** (i - 1) * n for i, n in items)
    first /= sum((1 - f) ** i * ((1 + f) ** i - 1) * n for i, n in items)
    second = sum((1 - f) ** i * n for i, n in items)
    second /= sum(i * f * (1 - f) ** (i - 1) * n for i, n in items)
    expected = sum(histogram.values()) + histogram[1] * first * second**2
    assert uniqueness.shlosser(*arrays(histogram), f) == pytest.approx(expected, rel=1e-9)


@SETTINGS
@given(HISTOGRAMS, FACTORS, st.sampled_from(["zayatz", "pitman", "snb", "dankar"]))
def test_estimates_are_numbers_of_people(
    histogram: Histogram, factor: float, estimator: str
) -> None:
    people = people_of(histogram)
    population = math.ceil(people * factor)
    found = uniqueness.population_uniques(*arrays(histogram), population, estimator=estimator)
    assert 0.0 <= found <= population
    if 1 not in histogram:
        assert found == 0.0


@SETTINGS
@given(HISTOGRAMS, FACTORS)
def test_dankar_chooses_by_the_sampled_fraction(histogram: Histogram, factor: float) -> None:
    sizes, counts = arrays(with_singles(histogram))
    people = int(sizes @ counts)
    population = math.ceil(people * factor) + 1
    estimates = {
        name: uniqueness.population_uniques(sizes, counts, population, estimator=name)
        for name in ("zayatz", "pitman", "snb", "dankar")
    }
    if people <= 0.1 * population:
        assert estimates["dankar"] == estimates["pitman"]
    else:
        assert estimates["dankar"] == min(estimates["zayatz"], estimates["snb"])


def test_extreme_samples_have_an_estimate() -> None:
    for estimator in ("zayatz", "pitman", "snb", "dankar"):
        for sizes, counts, population in [
            ([1], [1], 10),
            ([1], [500], 10**9),
            ([1, 10**6], [1, 1], 10**9),
            ([1, 10**6], [1, 1], 10**6 + 2),
            ([1, 2], [10**6, 1], 10**8),
            ([1, 2, 3], [1, 10**6, 1], 10**8),
        ]:
            found = uniqueness.population_uniques(
                np.array(sizes), np.array(counts), population, estimator=estimator
            )
            assert 0.0 <= found <= population


def test_the_sample_is_the_population() -> None:
    found = uniqueness.population_uniques(np.array([1, 2]), np.array([3, 1]), 5)
    assert found == 3.0


@SETTINGS
@given(st.integers(1, 3000))
def test_grassbergers_function_equals_its_recursion(number: int) -> None:
    assert float(grassberger(np.array([number]))[0]) == pytest.approx(privacy.grassberger_g(number))


@SETTINGS
@given(
    st.integers(2, 40),
    st.integers(1, 500),
    st.integers(1, 400),
    st.sampled_from([0.001, 0.01, 0.1, 0.5]),
    st.sampled_from(["poisson", "zero_truncated_poisson"]),
)
def test_estimated_k_is_never_more_than_k_and_falls_with_the_population(
    k: int, people: int, factor: int, significance: float, estimator: str
) -> None:
    def at(population: int) -> int:
        return estimated_k(k, people, population, significance, estimator=estimator)

    assert 1 <= at(people * factor * 2) <= at(people * factor) <= min(k, people)
