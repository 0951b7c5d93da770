"""Compare columns: equal, or one-to-one functions of each other, in more rows than by chance.

Two columns are compared in the rows of a sample. Chance is the same comparison with the rows of one
of them shuffled; the agreement beyond it is Cohen's kappa (Cohen 1960, Educational and
Psychological Measurement 20(1):37-46). It counts if random pairing would hardly give it: columns
with few values need more rows than columns with many.
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

from dbt_anonymize.arrays import Bools
from dbt_anonymize.extensions.identifier_search.digests import is_digest_of
from dbt_anonymize.extensions.identifier_search.text_variants import digits, fold

# Kappa from which a column is a function of the other; the remaining rows may be corrections.
_LEAST_KAPPA = 0.9
# Largest log probability of the observed pairs under random pairing.
_MOST_LIKELY = log(1e-9)
# A column copies another if it agrees in this share of rows, in this many rows, and this many times
# as often as by chance.
_LEAST_COPIED, _FEWEST_COPIED, _TIMES = 0.1, 20, 10
_SHUFFLES = 5
# The rule of three, for agreement that no shuffle shows: see `coincidence`.
_RULE_OF_THREE = 3
# Tolerance of a computed value, as a share of the distance between values.
_NEAR = 0.01
# Digests are slow: if none of the first rows has one, the others are skipped.
_FIRST = 10
_DIGITS = re.compile("[1-9]")


@dataclass(frozen=True)
class SampledColumn:
    """Values of a column in the rows of a sample: as text, empty for NULL, and as numbers or NaN.

    Numbers are relative to the first one, so that doubles keep them distinct.
    """

    raw_texts: NDArray[Any]
    numbers: NDArray[np.float64]

    @classmethod
    def of(cls, texts: Sequence[str | None], numbers: Sequence[Any]) -> SampledColumn:
        """Return a column from its texts and exact numbers."""
        known = [number for number in numbers if number is not None and isfinite(number)]
        shifted = [
            float(number - known[0]) if number is not None and isfinite(number) else nan
            for number in numbers
        ]
        raw_texts = np.array([text or "" for text in texts], dtype=object)
        return cls(raw_texts, np.array(shifted, dtype=float))

    @cached_property
    def texts(self) -> NDArray[Any]:
        """Each value, folded for comparison."""
        return _each(lambda text: fold(text).strip(), self.raw_texts)

    @cached_property
    def digits(self) -> NDArray[Any]:
        """The digits of each value, without zeros before them."""
        return _each(lambda text: digits(text).lstrip("0"), self.raw_texts)

    @cached_property
    def sorted_digits(self) -> NDArray[Any]:
        """The digits of each value in their order, without zeros."""
        return _each(lambda text: "".join(sorted(_DIGITS.findall(text))), self.raw_texts)

    def take(self, rows: NDArray[Any]) -> SampledColumn:
        """Return the column in other rows, cached properties included."""
        column = SampledColumn(self.raw_texts[rows], self.numbers[rows])
        cached_names = ("texts", "digits", "sorted_digits")
        column.__dict__.update(
            (n, self.__dict__[n][rows]) for n in cached_names if n in self.__dict__
        )
        return column


@dataclass(frozen=True)
class Agreement:
    """Number of rows in which a column agrees with another: of all with both values, by chance."""

    relation: str
    matches: int
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
    >>> agreement(column.take(np.arange(49, -1, -1)), secret) is None
    True
    """
    both = (column.texts != "") & (secret.texts != "")
    if not both.all():
        column, secret = column.take(both), secret.take(both)
    for relation, (agrees, must_be_one_to_one) in _RELATIONS.items():
        same = agrees(column, secret)
        if same.sum() < max(1, _LEAST_COPIED * len(same)):
            continue
        agreed = column.take(same), secret.take(same)
        if must_be_one_to_one and not _is_one_to_one(*agreed):
            continue
        by_chance = _chance_agreement(agrees, column, secret)
        if _is_function(same, by_chance, agreed[1]) or (
            relation == _EQUAL and _is_copied(same, by_chance, secret)
        ):
            return Agreement(relation, int(same.sum()), len(same), by_chance)
    return None


def _chance_agreement(
    agrees: Callable[..., Bools], column: SampledColumn, secret: SampledColumn
) -> float:
    """Return the mean number of agreeing rows over seeded shuffles."""
    rng, rows = np.random.default_rng(0), len(column.raw_texts)
    shuffles = (secret.take(rng.permutation(rows)) for _ in range(_SHUFFLES))
    return float(np.mean([agrees(column, shuffled).sum() for shuffled in shuffles]))


def _is_function(same: Bools, by_chance: float, agreed: SampledColumn) -> bool:
    matches = int(same.sum())
    if matches - by_chance < _LEAST_KAPPA * (len(same) - by_chance) or matches == by_chance:
        return False
    alike = Counter(agreed.texts.tolist()).values()
    return sum(lgamma(records + 1) for records in alike) - lgamma(matches + 1) < _MOST_LIKELY


def _is_copied(same: Bools, by_chance: float, secret: SampledColumn) -> bool:
    """Tell whether many values are those of a column in which values are nearly unique."""
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


def _is_equal(column: SampledColumn, secret: SampledColumn) -> Bools:
    return np.asarray(column.texts == secret.texts, dtype=bool)


def _has_its_digits(column: SampledColumn, secret: SampledColumn) -> Bools:
    return np.asarray((column.digits == secret.digits) & (column.digits != ""), dtype=bool)


def _has_its_digits_reordered(column: SampledColumn, secret: SampledColumn) -> Bools:
    first, second = column.sorted_digits, secret.sorted_digits
    return np.asarray((first == second) & (first != ""), dtype=bool)


def _contains_it(column: SampledColumn, secret: SampledColumn) -> Bools:
    forms = zip(column.texts, column.digits, secret.texts, secret.digits, strict=True)
    contained = [value in text or (n != "" and n in number) for text, number, value, n in forms]
    return np.array(contained, dtype=bool)


def _is_part_of_it(column: SampledColumn, secret: SampledColumn) -> Bools:
    return _contains_it(secret, column)


def _is_linear(column: SampledColumn, secret: SampledColumn) -> Bools:
    """Fit a robust line: the median slope between pairs, and the median residual."""
    agrees = np.zeros(len(column.raw_texts), dtype=bool)
    rows = np.flatnonzero(np.isfinite(column.numbers) & np.isfinite(secret.numbers))
    values, secrets = column.numbers[rows], secret.numbers[rows]
    pairing = np.random.default_rng(0).permutation(len(rows))
    steps, distances = secrets - secrets[pairing], np.diff(np.unique(values))
    if not steps.any() or not len(distances):
        return agrees
    slope = np.median((values - values[pairing])[steps != 0] / steps[steps != 0])
    if slope:
        residual = values - slope * secrets
        agrees[rows] = np.abs(residual - np.median(residual)) <= _NEAR * np.median(distances)
    return agrees


def _is_hash_of_it(column: SampledColumn, secret: SampledColumn) -> Bools:
    pairs = list(zip(column.raw_texts.tolist(), secret.raw_texts.tolist(), strict=True))
    hashed = [is_digest_of(text, value) for text, value in pairs[:_FIRST]]
    if any(hashed):
        hashed += [is_digest_of(text, value) for text, value in pairs[_FIRST:]]
    return np.array(hashed + [False] * (len(pairs) - len(hashed)), dtype=bool)


def _has_it_as_hash(column: SampledColumn, secret: SampledColumn) -> Bools:
    return _is_hash_of_it(secret, column)


def _each(form: Callable[[str], str], texts: NDArray[Any]) -> NDArray[Any]:
    return np.array([form(text) for text in texts.tolist()], dtype=object)


def _distinct(texts: NDArray[Any]) -> int:
    return len(set(texts.tolist()))


_EQUAL = "equals it"
# Each relation's predicate; True: it counts only if one-to-one.
_RELATIONS: dict[str, tuple[Callable[[SampledColumn, SampledColumn], Bools], bool]] = {
    _EQUAL: (_is_equal, False),
    "has its digits": (_has_its_digits, True),
    "contains it": (_contains_it, False),
    "is a part of it": (_is_part_of_it, True),
    "is it but for a shift or a factor": (_is_linear, True),
    "has its digits in another order": (_has_its_digits_reordered, True),
    "is a plain hash of it": (_is_hash_of_it, True),
    "is what it is a plain hash of": (_has_it_as_hash, True),
}
