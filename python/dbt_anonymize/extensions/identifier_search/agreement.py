"""Compare columns: equal, or one-to-one functions of each other, in more rows than by chance.

Two columns are compared in the rows of a sample. Chance is the same comparison with the rows of one
of them shuffled; the agreement beyond it is Cohen's kappa (Cohen 1960, Educational and
Psychological Measurement 20(1):37-46). It counts where values are hardly paired so by accident: of
columns of few values it takes more rows than of columns of many.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, lgamma, log, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.extensions.identifier_search.digests import is_digest_of
from dbt_anonymize.extensions.identifier_search.text_variants import digits, folded

Agrees = NDArray[np.bool_]

# Kappa from which a column is a function of the other; the rest are rows that somebody corrected.
_LEAST_KAPPA = 0.9
# Probability of the pairs that were found, if values were paired at random.
_MOST_LIKELY = log(1e-9)
# A column holds values that find a record in such a share of the rows, in so many at least, and so
# many times as often as by chance.
_LEAST_COPIED, _FEWEST_COPIED, _TIMES = 0.1, 20, 10
_SHUFFLES = 5
# The rule of three, for what no shuffle shows: see `coincidence`.
_RULE_OF_THREE = 3
# How near a value must be to the one computed: a share of the distance between values.
_NEAR = 0.01
# Digests take a while: if none of so many rows has one, others are not looked at.
_FIRST = 10
_DIGITS = re.compile("[1-9]")


@dataclass(frozen=True)
class SampledColumn:
    """Values of a column in the rows of a sample: as text, empty for NULL, and as numbers or NaN.

    Numbers are less one of them, so that doubles tell them apart.
    """

    written: NDArray[Any]
    numbers: NDArray[np.float64]

    @classmethod
    def of(cls, texts: Sequence[str | None], numbers: Sequence[Any]) -> SampledColumn:
        """Return what was read of a column, numbers exactly as they are."""
        known = [one for one in numbers if one is not None and isfinite(one)]
        shifted = [
            float(one - known[0]) if one is not None and isfinite(one) else nan for one in numbers
        ]
        written = np.array([text or "" for text in texts], dtype=object)
        return cls(written, np.array(shifted, dtype=float))

    @cached_property
    def texts(self) -> NDArray[Any]:
        """Each value as it is compared."""
        return _each(lambda text: folded(text).strip(), self.written)

    @cached_property
    def digits(self) -> NDArray[Any]:
        """The digits of each value, without zeros before them."""
        return _each(lambda text: digits(text).lstrip("0"), self.written)

    @cached_property
    def sorted_digits(self) -> NDArray[Any]:
        """The digits of each value in their order, without zeros."""
        return _each(lambda text: "".join(sorted(_DIGITS.findall(text))), self.written)

    def taken(self, rows: NDArray[Any]) -> SampledColumn:
        """Return the column in other rows, with all that is known of it."""
        column = SampledColumn(self.written[rows], self.numbers[rows])
        known = ("texts", "digits", "sorted_digits")
        column.__dict__.update((n, self.__dict__[n][rows]) for n in known if n in self.__dict__)
        return column


@dataclass(frozen=True)
class Agreement:
    """In how many of the rows with both values a column follows from another, and by chance."""

    relation: str
    found: int
    rows: int
    by_chance: float


def agreement(column: SampledColumn, secret: SampledColumn) -> Agreement | None:
    """Return the first relation in which a column agrees with a secret beyond chance, if any.

    Examples
    --------
    >>> numbers = [n * n % 101 + 200 for n in range(50)]
    >>> secret = SampledColumn.of([f"P{n}" for n in numbers], numbers)
    >>> column = SampledColumn.of([f"{n + 7}" for n in numbers], [n + 7 for n in numbers])
    >>> agreement(column, secret).relation
    'is it but for a shift or a factor'
    >>> agreement(column.taken(np.arange(49, -1, -1)), secret) is None
    True
    """
    known = (column.texts != "") & (secret.texts != "")
    if not known.all():
        column, secret = column.taken(known), secret.taken(known)
    for relation, (agrees, must_be_one_to_one) in _RELATIONS.items():
        same = agrees(column, secret)
        if same.sum() < max(1, _LEAST_COPIED * len(same)):
            continue
        agreed = column.taken(same), secret.taken(same)
        if must_be_one_to_one and not _is_one_to_one(*agreed):
            continue
        by_chance = _by_chance(agrees, column, secret)
        if _is_function(same, by_chance, agreed[1]) or (
            relation == _EQUAL and _is_copied(same, by_chance, secret)
        ):
            return Agreement(relation, int(same.sum()), len(same), by_chance)
    return None


def _by_chance(
    agrees: Callable[..., Agrees], column: SampledColumn, secret: SampledColumn
) -> float:
    """Return in how many rows they agree if rows are shuffled, always in the same way."""
    draw, rows = np.random.default_rng(0), len(column.written)
    shuffled = (secret.taken(draw.permutation(rows)) for _ in range(_SHUFFLES))
    return float(np.mean([agrees(column, one).sum() for one in shuffled]))


def _is_function(same: Agrees, by_chance: float, agreed: SampledColumn) -> bool:
    matches = int(same.sum())
    if matches - by_chance < _LEAST_KAPPA * (len(same) - by_chance) or matches == by_chance:
        return False
    alike = Counter(agreed.texts.tolist()).values()
    return sum(lgamma(records + 1) for records in alike) - lgamma(matches + 1) < _MOST_LIKELY


def _is_copied(same: Agrees, by_chance: float, secret: SampledColumn) -> bool:
    """Tell whether many values are those of another column, where each finds a record or nearly."""
    rows = len(same)
    least = (
        _LEAST_COPIED * rows,
        _FEWEST_COPIED,
        _TIMES * (by_chance + _RULE_OF_THREE / _SHUFFLES),
    )
    return 2 * _distinct(secret.texts) >= rows and bool(same.sum() >= max(least))


def _is_one_to_one(column: SampledColumn, secret: SampledColumn) -> bool:
    pairs = len(set(zip(column.texts.tolist(), secret.texts.tolist(), strict=True)))
    return min(_distinct(column.texts), _distinct(secret.texts)) >= _LEAST_KAPPA * pairs


def _is_equal(column: SampledColumn, secret: SampledColumn) -> Agrees:
    return np.asarray(column.texts == secret.texts, dtype=bool)


def _has_its_digits(column: SampledColumn, secret: SampledColumn) -> Agrees:
    return np.asarray((column.digits == secret.digits) & (column.digits != ""), dtype=bool)


def _has_its_digits_reordered(column: SampledColumn, secret: SampledColumn) -> Agrees:
    one, other = column.sorted_digits, secret.sorted_digits
    return np.asarray((one == other) & (one != ""), dtype=bool)


def _contains_it(column: SampledColumn, secret: SampledColumn) -> Agrees:
    forms = zip(column.texts, column.digits, secret.texts, secret.digits, strict=True)
    contained = [value in text or (n != "" and n in number) for text, number, value, n in forms]
    return np.array(contained, dtype=bool)


def _is_part_of_it(column: SampledColumn, secret: SampledColumn) -> Agrees:
    return _contains_it(secret, column)


def _is_linear(column: SampledColumn, secret: SampledColumn) -> Agrees:
    """Lay a line through most of the rows: the median slope between two, and the median rest."""
    agrees = np.zeros(len(column.written), dtype=bool)
    known = np.flatnonzero(np.isfinite(column.numbers) & np.isfinite(secret.numbers))
    values, given = column.numbers[known], secret.numbers[known]
    others = np.random.default_rng(0).permutation(len(known))
    steps, distances = given - given[others], np.diff(np.unique(values))
    if not steps.any() or not len(distances):
        return agrees
    slope = np.median((values - values[others])[steps != 0] / steps[steps != 0])
    if slope:
        rest = values - slope * given
        agrees[known] = np.abs(rest - np.median(rest)) <= _NEAR * np.median(distances)
    return agrees


def _is_hash_of_it(column: SampledColumn, secret: SampledColumn) -> Agrees:
    pairs = list(zip(column.written.tolist(), secret.written.tolist(), strict=True))
    hashed = [is_digest_of(text, value) for text, value in pairs[:_FIRST]]
    if any(hashed):
        hashed += [is_digest_of(text, value) for text, value in pairs[_FIRST:]]
    return np.array(hashed + [False] * (len(pairs) - len(hashed)), dtype=bool)


def _has_it_as_hash(column: SampledColumn, secret: SampledColumn) -> Agrees:
    return _is_hash_of_it(secret, column)


def _each(form: Callable[[str], str], texts: NDArray[Any]) -> NDArray[Any]:
    return np.array([form(text) for text in texts.tolist()], dtype=object)


def _distinct(texts: NDArray[Any]) -> int:
    return len(set(texts.tolist()))


_EQUAL = "equals it"
# What is said of a column, and whether it counts only where neither merges values of the other.
_RELATIONS: dict[str, tuple[Callable[[SampledColumn, SampledColumn], Agrees], bool]] = {
    _EQUAL: (_is_equal, False),
    "has its digits": (_has_its_digits, True),
    "contains it": (_contains_it, False),
    "is a part of it": (_is_part_of_it, True),
    "is it but for a shift or a factor": (_is_linear, True),
    "has its digits in another order": (_has_its_digits_reordered, True),
    "is a plain hash of it": (_is_hash_of_it, True),
    "is what it is a plain hash of": (_has_it_as_hash, True),
}
