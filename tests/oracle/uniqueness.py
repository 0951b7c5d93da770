"""Number of people unique in the population, estimated from the class sizes of a sample.

What the SQL of ``population_uniqueness`` is measured against, and what the rules of ARX about
uniqueness need.

A histogram says how many classes (``counts``) have each size (``sizes`` >= 1, ascending). N is the
number of people in the sample, M in the population, f = N / M, u the number of classes and f_i the
number of classes of size i. Dankar et al. 2012, "Estimating the re-identification risk of clinical
data sets", compares the estimators.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from scipy.special import digamma

from dbt_anonymize.arrays import Floats, Ints

# Sampled fraction up to which Dankar's rule trusts the Pitman model.
_SMALL_FRACTION = 0.1
# Logarithm below which a probability is 0 in double precision.
_NOTHING = -745.0
# Below, too many digits of the likelihood equations cancel.
_SMALLEST_ALPHA = 1e-5


def population_uniques(
    sizes: Ints, counts: Ints, population: int, *, estimator: str = "dankar"
) -> float:
    """Estimate the number of people who are unique in the population.

    Parameters
    ----------
    sizes, counts : int arrays
        The histogram of class sizes.
    population : int
        M >= N.
    estimator : {"dankar", "zayatz", "pitman", "snb"}
        Where the equations of ``snb`` have no solution, the result is that of ``zayatz``.

    Returns
    -------
    float
        In [0, M]; 0 if nobody is unique in the sample, the sample uniques if N = M.

    Examples
    --------
    >>> sizes, counts = np.array([1, 2, 3]), np.array([10, 5, 2])
    >>> round(population_uniques(sizes, counts, 260, estimator="zayatz"), 3)
    41.788
    """
    sizes, counts = sizes[counts > 0], counts[counts > 0]
    people = int(sizes @ counts)
    if not len(sizes) or sizes[0] != 1:
        return 0.0
    if people >= population:
        return float(counts[0])
    found = _ESTIMATORS[estimator](sizes, counts, population)
    if found is None:
        found = zayatz(sizes, counts, population)
    return min(max(found, 0.0), float(population))


def zayatz(sizes: Ints, counts: Ints, population: int) -> float:
    """Zayatz 1991: sample uniques times the chance that one is unique in the population.

    Each class is taken to be as large in the population as some class of the sample is there.
    """
    people = int(sizes @ counts)
    weights = counts * np.exp(_log_drawn_once(sizes, people, population))
    chance = weights[0] / weights.sum()
    return float(counts[0] * chance * population / people)


def _log_drawn_once(sizes: Ints, people: int, population: int) -> Floats:
    """Log of the hypergeometric chance that exactly one of a class is among the N of M drawn.

    For a class of size i that is i N / M times the product of (M - N - j) / (M - 1 - j) over
    j < i - 1: a running sum of logarithms, which does not cancel as log-factorials of M do.
    """
    fraction = people / population
    # From here on the chance is 0 (each factor is at most 1 - f).
    steps = min(int(sizes[-1]) - 1, int(_NOTHING / math.log1p(-fraction)) + 1)
    left = population - 1.0 - np.arange(steps)
    with np.errstate(divide="ignore"):
        factors = np.log1p(-np.minimum((people - 1.0) / left, 1.0))
    running = np.concatenate(([0.0], np.cumsum(factors)))
    reached = np.where(sizes - 1 <= steps, running[np.minimum(sizes - 1, steps)], -np.inf)
    return np.log(sizes) + math.log(fraction) + reached


def pitman(sizes: Ints, counts: Ints, population: int) -> float:
    """Pitman's sampling formula: U = Gamma(theta + 1) / Gamma(theta + alpha) M^alpha.

    Hoshino 2001, with maximum-likelihood parameters. Of a sample of uniques alone it is M.
    """
    if sizes[-1] == 1:
        return float(population)
    alpha, theta = pitman_parameters(sizes, counts)
    logarithm = math.lgamma(theta + 1.0) - math.lgamma(theta + alpha)
    return math.exp(logarithm + alpha * math.log(population))


def pitman_parameters(sizes: Ints, counts: Ints) -> tuple[float, float]:
    """Return (alpha, theta) with the largest likelihood, 1e-5 <= alpha < 1, theta > -alpha.

    For each alpha the likelihood equation of theta has one root above -alpha, and the remaining
    equation in alpha falls to minus infinity towards 1, so that both are bracketed; where it is
    negative from the start the best model of this family is, nearly, Ewens' (alpha = 0).
    """
    people, classes = int(sizes @ counts), int(counts.sum())
    theta = float(classes)

    def excess(alpha: float) -> float:
        nonlocal theta
        theta = _pitman_theta(alpha, people, classes, near=theta)
        # The sum of i / (theta + i alpha) over i < u. Writing it with the people's sum, to which
        # the other equation makes it equal, would divide the error of theta by alpha.
        ratio = theta / alpha
        of_classes = (classes - 1 - ratio * _reciprocals(ratio + 1.0, classes - 1)) / alpha
        ends = digamma(np.append(sizes - alpha, 1.0 - alpha))
        return float(of_classes - counts @ (ends[:-1] - ends[-1]))

    low, high = _SMALLEST_ALPHA, 1.0 - 1e-9
    alpha = low if excess(low) <= 0.0 else _root(excess, low, high, 1e-11)
    return alpha, _pitman_theta(alpha, people, classes, near=theta)


def _pitman_theta(alpha: float, people: int, classes: int, *, near: float) -> float:
    """Solve sum_{i<u} 1 / (theta + i alpha) = sum_{i<N} 1 / (theta + i) for theta > -alpha.

    Searched for in log(theta + alpha), outwards from a value that it may be ``near``.
    """

    def excess(logarithm: float) -> float:
        above = math.exp(logarithm)
        of_classes = _reciprocals(above / alpha, classes - 1) / alpha
        return of_classes - _reciprocals(above - alpha + 1.0, people - 1)

    if classes == 1:
        return -alpha
    start = math.log(max(near + alpha, 1e-12))
    step = 0.25
    while excess(start + step) > 0.0 and step < 100.0:
        step *= 4.0
    high, step = start + step, 0.25
    while excess(start - step) < 0.0 and step < 100.0:
        step *= 4.0
    return math.exp(_root(excess, start - step, high, 1e-11)) - alpha


def slide_negative_binomial(sizes: Ints, counts: Ints, population: int) -> float | None:
    """Slide negative binomial model (Chen & Keller-McNulty 1998); None where it has no solution.

    The size of a class in the population is 1 plus a negative binomial number with parameters
    (a, b); their number K is estimated as Shlosser does, and (a, b) such that the expected numbers
    of sample classes of size 1 and 2 are those observed. U = K b^a. The equations follow from the
    generating function s (b / (1 - (1 - b) s))^a; ARX has two of them wrong and never converges.
    """
    fraction = int(sizes @ counts) / population
    total = shlosser(sizes, counts, fraction)
    ones, twos = int(counts[0]), int(counts[sizes == 2].sum())
    fitted = fit_slide_negative_binomial(ones, twos, total, fraction)
    if fitted is None:
        return None
    a, b = fitted
    return total * math.exp(a * math.log(b))


def fit_slide_negative_binomial(
    ones: float, twos: float, total: float, fraction: float
) -> tuple[float, float] | None:
    """Return (a, b) for which a sample of so many classes has these of size 1 and 2."""
    if twos == 0 or not math.isfinite(total):
        return None

    def solved_a(b: float) -> float:
        """Solve expected twos / expected ones for a: a quadratic with one positive root."""
        d = (1.0 - fraction) * (1.0 - b)
        ratio = twos / ones * 2.0 * (1.0 - d) / (fraction * (1.0 - b))
        linear = 2.0 - d - ratio * d
        constant = ratio * (1.0 - d)
        root = math.sqrt(linear * linear + 4.0 * d * constant)
        # The form that does not cancel.
        return 2.0 * constant / (linear + root) if linear > 0 else (root - linear) / (2.0 * d)

    def excess(logit: float) -> float:
        b = 1.0 / (1.0 + math.exp(-logit))
        a, d = solved_a(b), (1.0 - fraction) * (1.0 - b)
        logarithm = a * (math.log(b) - math.log1p(-d)) + math.log1p(a * d / (1.0 - d))
        return logarithm - math.log(ones / (total * fraction))

    # Negative towards b = 0; the first change of sign is the solution.
    grid = np.linspace(-30.0, 30.0, 121)
    values = [excess(float(logit)) for logit in grid]
    for position in range(len(grid) - 1):
        if values[position] <= 0.0 < values[position + 1]:
            logit = _root(excess, float(grid[position]), float(grid[position + 1]), 1e-12)
            b = 1.0 / (1.0 + math.exp(-logit))
            return solved_a(b), b
    return None


def shlosser(sizes: Ints, counts: Ints, fraction: float) -> float:
    """Shlosser's estimate of the number of classes in the population."""
    stay = math.log1p(-fraction)
    missed = counts @ np.exp(sizes * stay)
    once = counts @ (sizes * fraction * np.exp((sizes - 1) * stay))
    square = math.log1p(-(fraction**2))
    twice = counts @ (sizes * fraction**2 * np.exp((sizes - 1) * square))
    # (1 - f)^i ((1 + f)^i - 1), without a power that overflows.
    base = -counts @ (np.exp(sizes * square) * np.expm1(-sizes * math.log1p(fraction)))
    return float(counts.sum() + counts[0] * (twice / base) * (missed / once) ** 2)


def dankar(sizes: Ints, counts: Ints, population: int) -> float | None:
    """Dankar's rule: Pitman for small samples, else the smaller of SNB and Zayatz."""
    if int(sizes @ counts) <= _SMALL_FRACTION * population:
        return pitman(sizes, counts, population)
    other = slide_negative_binomial(sizes, counts, population)
    estimate = zayatz(sizes, counts, population)
    return estimate if other is None else min(estimate, other)


_ESTIMATORS: Mapping[str, Callable[[Ints, Ints, int], float | None]] = MappingProxyType(
    {
        "zayatz": zayatz,
        "pitman": pitman,
        "snb": slide_negative_binomial,
        "dankar": dankar,
    }
)


def _reciprocals(start: float, count: int) -> float:
    """Add up 1 / (start + i) over i < count, exact also where all of them are nearly equal.

    A difference of two digamma functions, whose leading terms are subtracted before rounding.
    """
    added = 0.0
    while count > 0 and start < 10.0:
        added += 1.0 / start
        start += 1.0
        count -= 1
    if count == 0:
        return added
    end = start + count
    return (
        added + math.log1p(count / start) + 0.5 * count / (start * end) + _tail(start) - _tail(end)
    )


def _tail(value: float) -> float:
    """Return what follows the logarithm and -1 / 2x in the digamma function, with its sign."""
    square = 1.0 / (value * value)
    return square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))


def _root(function: Callable[[float], float], low: float, high: float, accuracy: float) -> float:
    """Return a root between two points of opposite sign (Ridders 1979): it never leaves them."""
    at_low, at_high = function(low), function(high)
    for _ in range(200):
        middle = 0.5 * (low + high)
        at_middle = function(middle)
        scale = math.sqrt(at_middle * at_middle - at_low * at_high)
        if scale == 0.0:
            return middle
        point = middle + (middle - low) * math.copysign(1.0, at_low - at_high) * at_middle / scale
        at_point = function(point)
        if at_point == 0.0:
            return point
        low, at_low, high, at_high = _bracket(
            (low, at_low), (middle, at_middle), (point, at_point), (high, at_high)
        )
        if abs(high - low) <= accuracy * max(1.0, abs(point)):
            break
    return 0.5 * (low + high)


def _bracket(*points: tuple[float, float]) -> tuple[float, float, float, float]:
    """Return the neighbouring points, of those given, between which the sign changes."""
    ordered = sorted(points)
    for (left, at_left), (right, at_right) in pairwise(ordered):
        if (at_left < 0.0) != (at_right < 0.0):
            return left, at_left, right, at_right
    return (*ordered[0], *ordered[-1])
