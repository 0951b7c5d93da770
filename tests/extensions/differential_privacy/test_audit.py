"""An audit: releases of neighbouring tables, drawn many times, bound epsilon from below.

Two tables differ in one person of one class. If an event is likely with her and unlikely without,
epsilon is at least ln((p - delta) / q), with Clopper-Pearson bounds of both probabilities. An
honest mechanism stays below its epsilon; planted bugs do not.
"""

from __future__ import annotations

import math

import duckdb
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta as beta_distribution

from dbt_anonymize.extensions.differential_privacy.model import k_of, largest_beta
from dbt_anonymize.vault.tokens import append_draws
from tests.sampling import number_of

EPSILON, DELTA = 1.0, 1e-2
BETA = largest_beta(EPSILON)
K = k_of(EPSILON, DELTA, BETA)
DRAWS = number_of("draws of an audit", 200_000, 4_000)
# One in a million audits of an honest mechanism may fail, over all events.
ERROR = 1e-6


def released(people: int, share: float, k: int) -> NDArray[np.int64]:
    """Return the released size of a class of so many people of the source, many times."""
    with duckdb.connect() as connection:
        connection.execute("create table d (person bigint, draw double, identified_by text)")
        query = f"select range as person from range({people * DRAWS})"
        append_draws(connection, relation="d", people=query, identified_by="person")
        found = connection.execute(
            "select count(*) filter (where draw < ?) as size from d group by person // ?",
            [share, people],
        ).fetchnumpy()["size"]
    sizes = np.asarray(found, dtype=np.int64)
    assert len(sizes) == DRAWS
    return np.where(sizes >= k, sizes, 0)


def observed_epsilon(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Return the largest lower bound of epsilon over all events `at least so many` and the rest."""
    error = ERROR / (4 * (max(one.max(), other.max()) + 1))
    bounds = [0.0]
    for size in range(1, int(max(one.max(), other.max())) + 1):
        for p, q in ((one >= size, other >= size), (one < size, other < size)):
            for likely, rare in ((int(p.sum()), int(q.sum())), (int(q.sum()), int(p.sum()))):
                if not likely:
                    continue
                low = beta_distribution.ppf(error, likely, DRAWS - likely + 1)
                high = beta_distribution.ppf(1 - error, rare + 1, DRAWS - rare)
                if low > DELTA:
                    bounds.append(math.log((low - DELTA) / (1.0 if math.isnan(high) else high)))
    return max(bounds)


def audited(share: float, k: int, people: int) -> float:
    """Return the observed epsilon of a mechanism around one size of a class."""
    return observed_epsilon(released(people + 1, share, k), released(people, share, k))


@pytest.mark.parametrize("people", [1, K, round(K / BETA)])
def test_neighbours_are_as_close_as_epsilon_says(people: int) -> None:
    assert audited(BETA, K, people) <= EPSILON


@pytest.mark.parametrize(
    ("bug", "share", "k", "people"),
    [("everybody is in the sample", 1.0, K, K - 1), ("k is too small", BETA, 2, 2)],
)
def test_a_planted_bug_is_found(bug: str, share: float, k: int, people: int) -> None:
    assert audited(share, k, people) > EPSILON, bug
