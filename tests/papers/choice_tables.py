"""Tables of the study of choices: two numbers that could identify, and what is predicted of them.

Tables that do not come with scikit-learn are read from ``DBT_ANONYMIZE_DATA``.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets

from tests.projects import DATA

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

# Intervals of the first and of the second number, by effort.
BINS = ((8, 8), (8, 4), (4, 4), (4, 2), (2, 2), (2, 1))
REQUIRED_K, SUPPRESSION_LIMIT = 2, 0.05
LARGE, SPLITS, SPLITS_OF_LARGE = 20_000, 50, 20
RANDOM_STATE = 1

# Attended school the longest last.
_SCHOOL = (
    *("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad"),
    *("Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school"),
    "Doctorate",
)


@dataclass(frozen=True)
class Released:
    """An effort: the ranks of its intervals, shape (records, 2), who is left out, and its k."""

    values: Floats
    is_suppressed: Bools
    k: int

    @property
    def keeps_guarantees(self) -> bool:
        """True if no more records are left out than may be."""
        return float(self.is_suppressed.mean()) <= SUPPRESSION_LIMIT


@dataclass(frozen=True)
class Table:
    """Two numbers of each record, shape (records, 2), and whether it is of the class."""

    values: Floats
    is_positive: Bools

    @property
    def splits(self) -> int:
        """Number of splits; fewer where they cost more."""
        return SPLITS_OF_LARGE if len(self.values) >= LARGE else SPLITS

    @cached_property
    def efforts(self) -> tuple[Released, ...]:
        """All efforts, the untouched table first."""
        untouched = Released(self.values, np.zeros(len(self.values), dtype=bool), 1)
        return (untouched, *(self._released(bins) for bins in BINS))

    def _released(self, bins: tuple[int, int]) -> Released:
        ranks = np.column_stack(
            [ranks_of_intervals(v, n) for v, n in zip(self.values.T, bins, strict=True)]
        )
        _, of, sizes = np.unique(ranks, axis=0, return_inverse=True, return_counts=True)
        is_small = sizes < REQUIRED_K
        return Released(ranks, is_small[of.reshape(-1)], int(sizes[~is_small].min()))


def ranks_of_intervals(values: Floats, number: int) -> Floats:
    """Return the ranks of intervals between quantiles; equal quantiles make fewer of them.

    Examples
    --------
    >>> ranks_of_intervals(np.array([1.0, 2.0, 3.0, 4.0]), 2).tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    bounds = np.unique(np.quantile(values, np.arange(1, number) / number))
    return np.searchsorted(bounds, values, side="right").astype(np.float64)


def _table(first: object, second: object, is_positive: object) -> Table:
    values = np.column_stack([np.asarray(v, dtype=np.float64) for v in (first, second)])
    return Table(values, np.asarray(is_positive, dtype=bool))


def _wdbc() -> Table:
    data = datasets.load_breast_cancer()
    names = list(data.feature_names)
    radius, symmetry = (data.data[:, names.index(n)] for n in ("mean radius", "mean symmetry"))
    return _table(radius, symmetry, data.target == 0)


def _wine() -> Table:
    data = datasets.load_wine()
    return _table(data.data[:, 0], data.data[:, 1], data.target == 0)


def _diabetes() -> Table:
    data = datasets.load_diabetes(scaled=False)
    age, bmi = (data.data[:, data.feature_names.index(n)] for n in ("age", "bmi"))
    return _table(age, bmi, data.target > np.median(data.target))


def _medical() -> Table:
    rows = list(_rows("medical_cost/insurance.csv"))
    return _table(*_columns(rows, "charges", "bmi"), [row["smoker"] == "yes" for row in rows])


def _wisconsin() -> Table:
    rows = list(_rows("breast_cancer_wisconsin_original/breast-cancer-wisconsin.data"))
    return _table(*_columns(rows, "a", "b"), [row["class"] == "4" for row in rows])


def _methods() -> Table:
    rows = list(_rows("contraceptive_method_choice/cmc.data"))
    is_used = [row["contraceptive_method_use"] != "1" for row in rows]
    return _table(*_columns(rows, "wife_age", "children_born"), is_used)


def _adult() -> Table:
    rows = _drawn(list(_rows("adult/adult.csv", ";")))
    school = [_SCHOOL.index(row["education"]) for row in rows]
    return _table(*_columns(rows, "age"), school, [row["salary-class"] == ">50K" for row in rows])


def _cup() -> Table:
    rows = _drawn(list(_rows("cup/cup.csv", ";")))
    age, gifts, given = _columns(rows, "AGE", "NGIFTALL", "RAMNTALL")
    return _table(age, gifts, given > np.median(given))


_OF_SCIKIT_LEARN: Mapping[str, Callable[[], Table]] = {
    "wine": _wine,
    "diabetes": _diabetes,
    "wdbc": _wdbc,
}
_OF_FILES: Mapping[str, Callable[[], Table]] = {
    "wisconsin": _wisconsin,
    "medical": _medical,
    "methods": _methods,
    "adult": _adult,
    "cup": _cup,
}
TABLES: Mapping[str, Callable[[], Table]] = {**_OF_SCIKIT_LEARN, **_OF_FILES}
_FOLDERS = (
    *("breast_cancer_wisconsin_original", "medical_cost", "contraceptive_method_choice"),
    *("adult", "cup"),
)
ARE_AVAILABLE = all((DATA / folder).is_dir() for folder in _FOLDERS)


def _rows(file: str, delimiter: str = ",") -> Iterator[dict[str, str]]:
    lines = (DATA / file).read_text(encoding="utf-8").splitlines()
    return csv.DictReader(lines, delimiter=delimiter)


def _columns(rows: list[dict[str, str]], *names: str) -> list[Floats]:
    return [np.array([float(row[name]) for row in rows]) for name in names]


def _drawn(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return as many records as a large table has here, in their order."""
    places = np.random.default_rng(RANDOM_STATE).choice(len(rows), LARGE, replace=False)
    return [rows[place] for place in np.sort(places)]
