"""Random rounding of counts that is the same wherever the same cell is published.

A count n becomes one of the two neighbouring multiples of the base, so that its mean is right: the
upper one with probability (n mod base) / base. The cell key decides, so that asking again,
elsewhere or next month gives nothing new. It is mixed first, so that rounding does not follow the
noise of `cell_keys`, which uses the same keys.

References
----------
.. [1] Fraser and Wooton 2005, A proposed method for confidentialising tabular output to protect
   against differencing. Joint UNECE/Eurostat work session on statistical data confidentiality
   (keys of cells from those of records).
.. [2] Appleby, MurmurHash3, public domain (its finalizer ``fmix32``).
"""

from __future__ import annotations

import numpy as np

from dbt_anonymize.arrays import Ints
from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.tables.cell_keys import KEYS, cell_keys, whole_numbers

# 2^32 divided by the golden ratio: the keys of rounding are no longer those of the noise.
_ROUNDING = 0x9E3779B9


def rounded(counts: Ints, key_sums: Ints, base: int) -> Ints:
    """Return counts rounded to multiples of a base, without bias.

    Multiples of the base, and so zeros, stay. Of a count n with r = n mod base, the mean is right
    to ``base`` / 2^32 and the variance is r (base - r).

    Parameters
    ----------
    counts : array of int >= 0
        Records, or subjects, of each cell.
    key_sums : array of int >= 0, of the same shape
        Sums of their keys, integers uniform in [0, 2^32), not reduced; 0 of empty cells.
    base : int
        From 2 to 2^31 - 1, in records or subjects.

    Returns
    -------
    array of int
        Multiples of the base, less than one base away; of the same shape. They do not add up.

    Raises
    ------
    SpecError
        If the base is out of its range.

    Examples
    --------
    >>> rounded(np.array([0, 5, 7, 7, 7]), np.array([0, 1, 2, 2, 1]), 5).tolist()
    [0, 5, 5, 5, 10]
    """
    if not 2 <= base < 2**31:
        raise SpecError(f"rounding: base must be an int from 2 to {2**31 - 1}; got {base}.")
    counts = whole_numbers("counts", counts)
    levels = mixed(cell_keys(key_sums) ^ _ROUNDING)
    if counts.shape != levels.shape:
        raise ValueError(
            f"counts and key_sums must have one shape; got {counts.shape} and {levels.shape}."
        )
    rests = counts % base
    # level / 2^32 < rest / base, in whole numbers.
    is_up = levels * base < rests * KEYS
    return counts - rests + base * is_up


def mixed(keys: Ints) -> Ints:
    """Return the keys mixed by ``fmix32`` of MurmurHash3 [2]_.

    It maps [0, 2^32) onto itself one to one: uniform keys remain exactly uniform. It is not
    encryption: keys, and those of cells, remain secret.

    Examples
    --------
    >>> [hex(key) for key in mixed(np.array([0, 1, 2**32 - 1]))]
    ['0x0', '0x514e28b7', '0x81f16f39']
    """
    # A product of two numbers below 2^32 fits.
    mixing = keys.astype(np.uint64)
    mixing ^= mixing >> 16
    mixing = mixing * 0x85EBCA6B % KEYS
    mixing ^= mixing >> 13
    mixing = mixing * 0xC2B2AE35 % KEYS
    mixing ^= mixing >> 16
    return mixing.astype(np.int64)
