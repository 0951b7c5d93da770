"""Time of microaggregation and clustering to find groups, beside all distances alone.

usage: python benchmarks/grouping.py [--rows ROWS] [--k K]

Groups ROWS seeded records of 8 quasi-identifiers (2 numbers, 6 categories) by MDAV and by
systematic clustering, in this process and on one core, and one number of as many records by the
optimum. The reference in the same run is the least that MDAV needs: one distance of every record
from two centers for each pair of groups.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from dbt_anonymize.extensions.recoding.mdav import mdav
from dbt_anonymize.extensions.recoding.optimum import optimal_groups
from dbt_anonymize.extensions.recoding.systematic import systematic_clusters
from dbt_anonymize.extensions.recoding.tuples import Category, Number, Tuples


def table(rows: int) -> Tuples:
    """Return seeded distinct records."""
    chance = np.random.default_rng(7)
    attributes: list[Number | Category] = [
        Number(chance.beta(2, 5, rows)),
        Number(chance.normal(0.5, 0.1, rows)),
    ]
    for leaves in (2, 5, 7, 14, 16, 41):
        tree = np.vstack([np.arange(leaves + 1), np.arange(leaves + 1) // 3])
        attributes.append(Category(chance.integers(0, leaves, rows), tree))
    return Tuples(attributes, np.ones(rows, dtype=np.int64))


def floor(rows: int, k: int) -> float:
    """Return the seconds of the distances alone, over the records that are left."""
    chance = np.random.default_rng(7)
    points = np.asfortranarray(chance.random((rows, 8)))
    started = time.process_time()
    for left in range(rows, 2 * k, -2 * k):
        for _ in range(3):
            ((points[:left] - points[0]) ** 2).sum(axis=1).argmax()
    return time.process_time() - started


def main() -> None:
    """Print CPU seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--k", type=int, default=10)
    given = parser.parse_args()
    tuples = table(given.rows)
    for method in (mdav, systematic_clusters):
        started = time.process_time()
        groups = method(tuples, given.k)
        seconds = time.process_time() - started
        sizes = np.bincount(groups)
        shown = f"{len(sizes)} groups of {sizes.min()} to {sizes.max()}"
        print(f"{method.__name__}: {seconds:.1f} s, {shown}")
    print(f"distances alone: {floor(given.rows, given.k):.1f} s")
    values = np.sort(np.random.default_rng(7).random(given.rows))
    started = time.process_time()
    optimal_groups(values, np.ones(given.rows, dtype=np.int64), given.k)
    print(f"optimal: {time.process_time() - started:.1f} s")


if __name__ == "__main__":
    main()
