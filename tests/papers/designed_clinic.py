"""A synthetic clinic of which k of every effort follows from the number of patients per cell.

A cell is two years of age by 10 pg/ml of estradiol; it holds ``AGES[age] * ESTRADIOL[level]``
patients, whatever the seed. Seeds decide values within a cell, the other columns, and by chance
who needs the medication.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal

import numpy as np

from dbt_anonymize.extensions.hierarchy_builders.intervals import equal_width_intervals
from dbt_anonymize.hierarchies import IntervalHierarchy
from tests.case_studies.preparation import Study

NAME = "designed_clinic"
YEARS, PG_PER_ML = 2, 10
# Patients by where an interval begins; the others have none.
AGES: Mapping[int, int] = dict(
    zip(range(26, 50, YEARS), (2, 2, 2, 3, 3, 3, 2, 2, 2, 2, 2, 2), strict=True)
)
ESTRADIOL: Mapping[int, int] = dict(
    zip(
        range(20, 200, PG_PER_ML),
        (4, 4, 8, 8, 8, 8, 7, 7, 6, 6, 4, 4, 3, 3, 5, 4, 3, 2),
        strict=True,
    )
)
# Below this level patients need the medication with the probability `SURE`, others with the rest.
LOW, SURE = 80, 0.9
# Levels of age and estradiol, from effort 1 on.
EFFORTS = ((1, 1), (2, 1), (2, 2), (3, 2), (3, 3), (3, 4), (4, 4))
K = (4, 4, 10, 10, 16, 28, 28)
WIDTHS: Mapping[str, Sequence[int]] = {"age": (2, 4, 8, 16), "estradiol": (10, 20, 40, 160)}
TREATMENTS = ("IVF", "ICSI", "IUI", "ovulation_induction")


def hierarchies() -> dict[str, IntervalHierarchy]:
    """Return the hierarchies of both quasi-identifiers, which go further than the patients."""
    return {
        "age": equal_width_intervals(16, 56, widths=WIDTHS["age"]),
        "estradiol": equal_width_intervals(0, 320, widths=WIDTHS["estradiol"]),
    }


def patients(seed: int, sure: float = SURE) -> list[dict[str, str]]:
    """Draw the table, in an order that carries nothing."""
    rng = np.random.default_rng(seed)
    cells = [
        (age, level)
        for age, ages in AGES.items()
        for level, levels in ESTRADIOL.items()
        for _ in range(ages * levels)
    ]
    size = len(cells)
    age, level = np.array(cells)[rng.permutation(size)].T
    draws = {
        "age": age + rng.integers(YEARS, size=size),
        "estradiol": np.round(level + rng.integers(10 * PG_PER_ML, size=size) / 10, 1),
        "previous_treatments": np.minimum(5, rng.poisson(1, size)),
        "treatment": rng.choice(TREATMENTS, size),
        "fsh": np.round(rng.lognormal(1.95, 0.25, size), 1),
        "lh": np.round(rng.lognormal(1.7, 0.3, size), 1),
        "needs_medication": np.where(
            rng.random(size) < np.where(level < LOW, sure, 1 - sure), "yes", "no"
        ),
    }
    rows = zip(*draws.values(), strict=True)
    people = (dict(zip(draws, map(str, row), strict=True)) for row in rows)
    return [_identity(n) | person for n, person in enumerate(people, start=1)]


def study(seed: int) -> Study:
    """Return the table of a seed with its hierarchies."""
    return Study(NAME, patients(seed), hierarchies())


def labels(rows: Sequence[Mapping[str, str]], levels: tuple[int, int]) -> list[tuple[str, ...]]:
    """Return the class of each patient: the labels of age and estradiol at two levels."""
    columns = []
    for (column, tree), level in zip(hierarchies().items(), levels, strict=True):
        leaves = (tree.leaf(Decimal(row[column])) for row in rows)
        columns.append([tree.labels[level - 1][leaf] for leaf in leaves if leaf is not None])
    return list(zip(*columns, strict=True))


def k_of(rows: Sequence[Mapping[str, str]], levels: tuple[int, int]) -> int:
    """Count the patients of the smallest class."""
    return min(Counter(labels(rows, levels)).values())


def _identity(number: int) -> dict[str, str]:
    # What the paper removes before it begins.
    return {
        "name": f"Name {number}",
        "surname": f"Surname {number}",
        "contact": f"patient.{number}@example.org",
        "address": f"{number} Example Street",
    }
