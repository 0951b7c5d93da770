"""Comparisons with declared limits, exact where the numbers are: 0.29 of 100 is 29."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Nearer than this a quotient of doubles does not tell on which side of a limit it lies.
_CLOSE = 1e-9
# Products of counts that are smaller fit into 64 bits.
_FITS = 1 << 62


def declared(number: float) -> Fraction:
    """Return a declared number as it is written: a decimal, not the nearest double.

    Examples
    --------
    >>> declared(0.29) * 100
    Fraction(29, 1)
    """
    return Fraction(repr(number))


def exceeds(parts: NDArray[Any], wholes: NDArray[Any], limit: Fraction) -> NDArray[Any]:
    """Tell where ``parts / wholes > limit``, in whole numbers (Python's own beyond 64 bits).

    Examples
    --------
    >>> exceeds(np.array([29, 30]), np.array([100, 100]), declared(0.29)).tolist()
    [False, True]
    """
    quotients = parts.astype(np.float64) / wholes.astype(np.float64)
    more: NDArray[Any] = quotients > float(limit)
    near = np.abs(quotients - float(limit)) <= _CLOSE * np.maximum(1.0, np.abs(quotients))
    for place in np.flatnonzero(near):
        exact = int(parts[place]) * limit.denominator > limit.numerator * int(wholes[place])
        more[place] = exact
    return more


def wide(*factors: int) -> type[Any]:
    """Return the number type that holds a product: 64 bits, or Python's own numbers.

    Examples
    --------
    >>> wide(10**8, 10**8), wide(10**8, 10**8, 10**8)
    (<class 'numpy.int64'>, <class 'object'>)
    """
    product = 1
    for factor in factors:
        product *= max(1, int(factor))
    return np.int64 if product < _FITS else object
