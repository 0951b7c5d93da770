"""Cell keys: noise of counts that is the same wherever the same cell is published.

Each record has a random key. The key of a cell is the sum of those of its records, modulo the
number of keys; a perturbation table says how a count changes by its cell key. So the noise of a
cell depends on nothing but its records: asking again, elsewhere or next month gives nothing new.

All of it is whole numbers. Keys are uniform integers in [0, 2^32), and the changes of a count,
from the smallest to the largest, own one interval of cell keys each, in this order: its first key
belongs to it, the first key of the next one does not. In other words: with the cell key divided by
2^32 as u in [0, 1) and F the cumulated distribution of changes, the change is the smallest v with
u < F(v). Every engine that can add and divide with remainder finds the same noise.

References
----------
.. [1] Fraser and Wooton 2005, A proposed method for confidentialising tabular output to protect
   against differencing. Joint UNECE/Eurostat work session on statistical data confidentiality
   (cell keys).
.. [2] Thompson, Broadfoot and Elazar 2013, Methodology for the automatic confidentialisation of
   statistical outputs from remote servers at the Australian Bureau of Statistics. Joint
   UNECE/Eurostat work session on statistical data confidentiality (perturbation tables).
.. [3] Giessing 2016, Computational issues in the design of transition probabilities and disclosure
   risk estimation for additive noise. Privacy in Statistical Databases,
   doi:10.1007/978-3-319-45381-1_18 (tables of maximum entropy).
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.errors import SpecError

# Keys of records are below it.
KEYS = 2**32
# Below it a difference of moments is lost where probabilities are rounded to keys.
_NEGLIGIBLE = 1e-9
_COLUMNS = ("pcv", "ckey", "pvalue")
# An office that gives rows up to the first number reuses as many of the last ones as the second.
_LAST_ROW, _REUSED_ROWS = 750, 250


@dataclass(frozen=True, eq=False)
class PerturbationTable:
    """Changes of counts by count and cell key.

    Row i is of count i. Its cell keys fall into runs with the same change: ``starts`` has the
    number ``i * keys + first key`` of each run, ascending, ``changes`` its change. Counts beyond
    the last row use the last ``period`` rows in turn.
    """

    starts: Ints
    changes: Ints
    keys: int = KEYS
    period: int = 1

    @property
    def rows(self) -> int:
        """Number of rows: one more than the largest count with one of its own."""
        return int(self.starts[-1]) // self.keys + 1

    def row_of(self, counts: Ints) -> Ints:
        """Return the row of each count."""
        beyond = self.rows - self.period + (counts - self.rows) % self.period
        return np.where(counts < self.rows, counts, beyond)

    @property
    def largest(self) -> int:
        """Largest absolute change that some count has for some key."""
        return int(np.abs(self.changes).max())

    @cached_property
    def probabilities(self) -> Floats:
        """Probabilities of changes, as shares of keys: rows by changes, -largest to largest."""
        lengths = np.diff(self.starts, append=self.rows * self.keys)
        shares = np.zeros((self.rows, 2 * self.largest + 1))
        place = (self.starts // self.keys, self.changes + self.largest)
        np.add.at(shares, place, lengths / self.keys)
        return shares

    @property
    def means(self) -> Floats:
        """Mean change of each row."""
        return self.probabilities @ np.arange(-self.largest, self.largest + 1)

    @property
    def variances(self) -> Floats:
        """Variance of the change of each row."""
        squares = np.arange(-self.largest, self.largest + 1) ** 2
        return self.probabilities @ squares - self.means**2

    def unreached(self, variance: float) -> dict[int, float]:
        """Return the variances of the positive counts that have another one than was asked for.

        Examples
        --------
        >>> table = perturbation_table(variance=2.5, largest=2)
        >>> {count: round(reached, 6) for count, reached in table.unreached(2.5).items()}
        {1: 2.0}
        """
        reached = self.variances
        is_other = np.abs(reached - variance) > 1e-4 * variance
        return {int(count): float(reached[count]) for count in np.flatnonzero(is_other) if count}


def perturbed(counts: Ints, key_sums: Ints, table: PerturbationTable) -> Ints:
    """Return counts with noise.

    Parameters
    ----------
    counts : array of int >= 0
        Records, or subjects, of each cell.
    key_sums : array of int >= 0, of the same shape
        Sums of their keys, not reduced; below 2^63, so of up to 2^31 records. 0 of empty cells.
    table : PerturbationTable
        Changes by count and cell key.

    Returns
    -------
    array of int
        Of the same shape. They do not add up.

    Examples
    --------
    >>> table = perturbation_table(variance=2, largest=2, forbidden=[1])
    >>> perturbed(np.array([0, 1, 1, 7]), np.array([0, 7, 2**32 - 1, 2**31]), table).tolist()
    [0, 0, 3, 7]
    """
    counts = whole_numbers("counts", counts)
    keys = cell_keys(key_sums, table.keys)
    if counts.shape != keys.shape:
        raise ValueError(
            f"counts and key_sums must have one shape; got {counts.shape} and {keys.shape}."
        )
    runs = np.searchsorted(table.starts, table.row_of(counts) * table.keys + keys, side="right") - 1
    return counts + table.changes[runs]


def cell_keys(key_sums: Ints, keys: int = KEYS) -> Ints:
    """Return the keys of cells, uniform in [0, ``keys``) if those of the records are.

    Examples
    --------
    >>> cell_keys(np.array([5, 2**32 + 5, 2**33])).tolist()
    [5, 5, 0]
    """
    return whole_numbers("key_sums", key_sums) % keys


def whole_numbers(name: str, values: Ints) -> Ints:
    """Return non-negative integers as int64; refuse all else, floats too, which are not exact."""
    values = np.asarray(values)
    if values.dtype.kind not in "iu":
        raise ValueError(f"{name} must be integers; got {values.dtype}. Convert them exactly.")
    if values.size and (values.min() < 0 or values.max() >= 2**63):
        raise ValueError(f"{name} must be at least 0 and below 2^63.")
    return values.astype(np.int64)


def perturbation_table(
    *, variance: float, largest: int, forbidden: Collection[int] = ()
) -> PerturbationTable:
    """Return the table of maximum entropy: the least regular noise of this size [3]_.

    The changes v of a count i have the largest entropy among all distributions on -``largest`` to
    ``largest`` with mean 0, the variance, i + v >= 0, and i + v not forbidden. Zeros stay zero.
    Where no distribution has the variance, that with the nearest is taken: see `unreached`. The
    last row is of all larger counts. Rounding to whole keys moves a mean by at most
    ``largest`` / 2^32.

    Parameters
    ----------
    variance : float > 0
        Of the change of each positive count, in squared records.
    largest : int >= 1
        Largest change up or down.
    forbidden : collection of int >= 1
        Results that no cell may show.

    Raises
    ------
    SpecError
        If an argument is out of its range, or a count has no noise with mean 0.

    Examples
    --------
    >>> table = perturbation_table(variance=1, largest=2)
    >>> table.probabilities.round(3)
    array([[0.   , 0.   , 1.   , 0.   , 0.   ],
           [0.   , 0.398, 0.306, 0.194, 0.102],
           [0.064, 0.245, 0.383, 0.245, 0.064]])
    """
    _check_arguments(variance, largest, forbidden)
    rows = [np.array([1.0])]
    supports = [np.array([0])]
    for count in range(1, max(forbidden, default=-1) + largest + 2):
        results = np.arange(max(count - largest, 0), count + largest + 1)
        changes = results[~np.isin(results, list(forbidden))] - count
        if changes.size == 0 or changes[0] > 0 or changes[-1] < 0:
            raise SpecError(
                f"cell_key: largest must let every count move both up and down, or stay; with "
                f"largest {largest} and forbidden {sorted(forbidden)} a count of {count} cannot. "
                f"Set largest to {max(forbidden)} or forbid less."
            )
        rows.append(most_even(changes, variance))
        supports.append(changes)
    return _table(supports, rows)


def _check_arguments(variance: float, largest: int, forbidden: Collection[int]) -> None:
    """Refuse arguments out of their range."""
    problems = []
    if not (np.isfinite(variance) and variance > 0):
        problems.append(f"variance must be a number > 0; got {variance}.")
    if largest < 1:
        problems.append(f"largest must be an int >= 1; got {largest}.")
    if any(result < 1 for result in forbidden):
        problems.append(
            f"forbidden must have ints >= 1, since a zero stays zero; got {sorted(forbidden)}."
        )
    if problems:
        raise SpecError(f"cell_key: {' '.join(problems)}")


def _table(supports: list[Ints], rows: list[Floats]) -> PerturbationTable:
    """Give each change of each row its interval of keys."""
    starts = list[Ints]()
    changes = list[Ints]()
    for row, (support, probabilities) in enumerate(zip(supports, rows, strict=True)):
        ends = np.rint(np.cumsum(probabilities) * KEYS).astype(np.int64)
        firsts = np.concatenate([[0], ends[:-1]])
        is_possible = firsts < ends
        starts.append(row * KEYS + firsts[is_possible])
        changes.append(support[is_possible])
    return PerturbationTable(np.concatenate(starts), np.concatenate(changes))


def most_even(changes: Ints, variance: float) -> Floats:
    """Return the distribution of maximum entropy with mean 0, and the variance or the nearest.

    With mean 0, the variance is smallest where only the two changes next to 0 are possible (or 0
    alone), and largest where only the two outermost are. Strictly between, all changes are
    possible, and the distribution is of the exponential family with v and v^2.

    Parameters
    ----------
    changes : array of int
        Different changes, ascending, the first at most 0, the last at least 0.
    variance : float > 0
        Squared records.

    Returns
    -------
    array of float
        Probabilities of the changes.

    Examples
    --------
    >>> most_even(np.array([-1, 2, 3]), 2.5).round(3).tolist()
    [0.708, 0.167, 0.125]
    >>> most_even(np.array([-1, 2, 3]), 1).round(3).tolist()  # it cannot be below 2
    [0.667, 0.333, 0.0]
    """
    inner = (changes[changes <= 0][-1], changes[changes >= 0][0])
    outer = (changes[0], changes[-1])
    if variance <= -inner[0] * inner[1] + _NEGLIGIBLE:
        return _two_points(changes, *inner)
    if variance >= -outer[0] * outer[1] * (1 - _NEGLIGIBLE):
        return _two_points(changes, *outer)
    return _exponential_family(changes, variance)


def _two_points(changes: Ints, below: int, above: int) -> Floats:
    """Return the only distribution on two changes, below and above 0 or 0 itself, with mean 0."""
    share = above / (above - below) if above > below else 1.0
    return np.where(changes == below, share, np.where(changes == above, 1 - share, 0.0))


def _exponential_family(changes: Ints, variance: float) -> Floats:
    """Return the distribution p ~ exp(a v + b v^2) with mean 0 and the variance.

    The convex dual of maximum entropy: a and b minimize the logarithm of the normalizing sum. Steps
    of Newton are halved until they descend; near the minimum, where rounding hides a descent, whole
    ones are taken as long as the moments get closer. The first guess is the normal distribution.
    """
    scale = max(-changes[0], changes[-1])
    scaled = changes / scale
    features = np.column_stack([scaled, scaled**2 - variance / scale**2])
    at = np.array([0.0, -min(1 / (2 * variance), 4.0) * scale**2])
    closest, best = np.inf, np.empty(0)
    for _ in range(500):
        value = np.logaddexp.reduce(features @ at)
        weights = np.exp(features @ at - value)
        gradient = weights @ features
        distance = np.abs(gradient).max()
        if distance >= closest and closest < _NEGLIGIBLE:
            break
        closest, best = distance, weights
        centred = features - gradient
        step = np.linalg.solve((centred.T * weights) @ centred, -gradient)
        while (
            distance > 1e-6
            and np.logaddexp.reduce(features @ (at + step)) >= value
            and any(at + step != at)
        ):
            step /= 2
        at = at + step
    return np.asarray(best / best.sum())


def read_perturbation_table(path: Path, period: int | None = None) -> PerturbationTable:
    """Read the table of an office from CSV.

    Its columns are ``pcv`` (count), ``ckey`` (cell key, from 0) and ``pvalue`` (change), in any
    order and beside others: the format of the package `cell-key-perturbation` of the Office for
    National Statistics. The number of keys is one more than the largest; a cell has the key that
    is the sum of its record keys modulo it.

    Parameters
    ----------
    path : Path
        CSV with commas and a header, one line for each count, from 1, and key.
    period : int, optional
        How many of the last rows are used in turn by larger counts. As that package does, 250
        where the last row is of 750; else 1: the last row is of all larger counts.

    Raises
    ------
    SpecError
        If the file cannot be read or is no such table, counts become negative, or zeros change.
    """
    counts, keys, changes = _read_columns(path)
    number, first, last = int(keys.max()) + 1, int(counts.min()), int(counts.max())
    order, place = np.lexsort((keys, counts)), np.arange(len(counts))
    if not (
        first in (0, 1)
        and last >= 1
        and len(counts) == (last + 1 - first) * number
        and np.array_equal(keys[order], place % number)
        and np.array_equal(counts[order], first + place // number)
    ):
        raise SpecError(
            f"{path} must have every ckey from 0 to {number - 1} once for every pcv from 1 to "
            f"{last}; its {len(counts)} lines have not. Export the table again."
        )
    if np.any(counts + changes < 0) or np.any(changes[counts == 0] != 0):
        raise SpecError(
            f"{path} must leave zeros as they are and make no count negative: pvalue must be at "
            "least -pcv, and 0 where pcv is 0. Correct the table."
        )
    if period is None:
        period = _REUSED_ROWS if last == _LAST_ROW else 1
    if not 1 <= period <= last:
        raise SpecError(f"{path}: period must be an int from 1 to {last}; got {period}.")
    # Zeros stay zero, if the file says so or not.
    table = np.concatenate([np.zeros(first * number, dtype=np.int64), changes[order]])
    is_start = np.diff(table, prepend=table[0]) != 0
    is_start[::number] = True
    return PerturbationTable(np.flatnonzero(is_start), table[is_start], number, period)


def _read_columns(path: Path) -> Ints:
    """Return the three columns of the file: columns by lines."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            names = next(csv.reader(file), [])
            if missing := [name for name in _COLUMNS if name not in names]:
                raise SpecError(
                    f"{path} must have the columns {', '.join(_COLUMNS)}; it lacks "
                    f"{', '.join(missing)}. Name them so, and separate them by commas."
                )
            places = [names.index(name) for name in _COLUMNS]
            with warnings.catch_warnings(action="ignore"):  # of no lines, which are refused below
                lines = np.loadtxt(
                    file, dtype=np.int64, delimiter=",", quotechar='"', usecols=places, ndmin=2
                )
    except SpecError:
        raise
    except OSError as error:
        raise SpecError(f"{path} cannot be read: {error.strerror}. Correct the path.") from error
    except (ValueError, csv.Error) as error:
        raise SpecError(f"{path} must have integers alone: {error} Correct the table.") from error
    if not len(lines):
        raise SpecError(f"{path} must have lines; it has a header alone. Export the table again.")
    return lines.T
