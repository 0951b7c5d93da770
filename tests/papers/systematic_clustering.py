"""The page of the thesis: what would be needed for the gain that its table 4.1 has.

Its computed tables hold the rows of `baselines` and of `draws`; losses are those of
`tests.case_studies.clusters`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dbt_anonymize.arrays import Ints
from dbt_anonymize.extensions.recoding import systematic
from dbt_anonymize.extensions.recoding.grouping import distinct_tuples
from dbt_anonymize.extensions.recoding.mondrian import mondrian
from dbt_anonymize.extensions.recoding.records import Records
from dbt_anonymize.extensions.recoding.tuples import Number, Tuples
from dbt_anonymize.hierarchies import Hierarchy, IntervalHierarchy
from tests.case_studies.clusters import SIZES, TABLES, lost, read, row
from tests.docs.pages import DOCS
from tests.papers.pages import with_tables

PAGE = DOCS / "papers" / "systematic_clustering.md"
# Table 4.1: traditional and proposed information loss by k.
PUBLISHED = {
    10: (118.0625, 37.10409),
    20: (258.3561, 84.45095),
    30: (358.0526, 113.753),
    40: (518.9251, 169.8436),
    50: (648.6753, 214.7358),
}
SEEDS = range(1, 21)
DRAWN = (("adult", 50), ("wdbc", 10), ("wdbc", 50))


def baselines(name: str, size: int) -> dict[str, Any]:
    """Return how often the loss of halved clusters is in that of simpler ways.

    ``third_size``: the largest size whose clusters, and all smaller ones, lose in one pass at most
    a third of those of ``size``; None where none does.
    """
    halved, one_pass = row(name, size)["halved"], row(name, size)["one_pass"]
    parts = {"blocks": blocks, "datafly": datafly, "mondrian": mondrian_parts}
    gains = {way: find(name, size) / halved for way, find in parts.items()}
    fitting = 1
    while _one_pass(name, fitting + 1) <= one_pass / 3:
        fitting += 1
    return {
        "table": name,
        "cluster_size": size,
        **gains,
        "third_size": fitting if fitting > 1 else None,
    }


def blocks(name: str, size: int) -> float:
    """Return the loss of the sorted records in blocks of ``size``; the last has the rest."""
    records, people = read(name)
    _, tuple_of_row = distinct_tuples(records)
    ranks = pd.Series(tuple_of_row[people["row"]], index=people.index).rank(method="first")
    parts = ((ranks - 1) // size).clip(upper=len(people) // size - 1).astype(int)
    return lost(people.assign(part=parts), TABLES[name]().hierarchies)


def mondrian_parts(name: str, size: int) -> float:
    """Return the loss of the parts of strict Mondrian."""
    records, people = read(name)
    weights = records.table.records
    parts = mondrian(records.leaves, records.codes, weights, size, is_strict=True, violating=None)
    return lost(people.assign(part=parts[people["row"]]), TABLES[name]().hierarchies)


def datafly(name: str, size: int) -> float:
    """Return the loss of Datafly's classes, and all columns of the records that it suppresses.

    Nothing is suppressed beyond ``size`` records: L. Sweeney, IJUFKS 10(5), 2002. Of equally many
    values the first column is raised.
    """
    people, trees = read(name)[1], TABLES[name]().hierarchies
    levels = dict.fromkeys(trees, 0)
    shown = people[list(trees)].copy()
    while True:
        sizes = shown.groupby(list(trees))[shown.columns[0]].transform("size")
        is_rare = sizes < size
        if is_rare.sum() <= size:
            break
        counts = {column: shown[column].nunique() for column in trees}
        raised = max(trees, key=counts.__getitem__)
        levels[raised] += 1
        shown[raised] = _generalized(people[raised], trees[raised], levels[raised])
    kept = people[~is_rare].assign(part=shown[~is_rare].groupby(list(trees)).ngroup())
    return lost(kept, trees) + int(is_rare.sum()) * len(trees)


def _generalized(values: pd.Series[Any], tree: Hierarchy, level: int) -> pd.Series[Any]:
    labels = tree.labels[level - 1]
    if isinstance(tree, IntervalHierarchy):
        bounds = np.array([float(bound) for bound in tree.lower_bounds])  # type: ignore[arg-type]
        places = np.searchsorted(bounds, values.astype(float), side="right") - 1
        return pd.Series(np.array(labels)[places], index=values.index)
    return values.map(dict(zip(tree.values, labels, strict=True)))


@cache
def _one_pass(name: str, size: int) -> float:
    records, people = read(name)
    tuples, tuple_of_row = distinct_tuples(records)
    parts = systematic.systematic_clusters(tuples, size)[tuple_of_row]
    return lost(people.assign(part=parts[people["row"]]), TABLES[name]().hierarchies)


def draws(name: str, size: int, seeds: Sequence[int] = SEEDS) -> dict[str, Any]:
    """Return loss of one pass and gain of halves with drawn orders of columns and first seeds."""
    losses = np.array(
        [[drawn(name, size, seed, halve=halve) for halve in (False, True)] for seed in seeds]
    )
    gains = losses[:, 0] / losses[:, 1]
    return {
        "table": name,
        "cluster_size": size,
        "one_pass": _spread(losses[:, 0], 0),
        "halved_gain": _spread(gains, 3),
    }


def _spread(values: NDArray[np.float64], digits: int) -> str:
    low, middle, high = np.quantile(values, [0, 0.5, 1])
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


@cache
def drawn(name: str, size: int, seed: int, *, halve: bool) -> float:
    """Return the loss of clusters with a drawn order of columns and a drawn first seed."""
    chance = np.random.default_rng(seed)
    records, people = read(name)
    tuples, tuple_of_row = _reordered(records, chance)

    def first(tuples: Tuples, k: int, _: int) -> Ints:
        return seeds_from(tuples, k, int(chance.integers(k)))

    seeds_from = systematic._seeds
    with mock.patch.object(systematic, "_seeds", first):
        parts = systematic.systematic_clusters(tuples, size, halve=halve)[tuple_of_row]
    return lost(people.assign(part=parts[people["row"]]), TABLES[name]().hierarchies)


def _reordered(records: Records, chance: np.random.Generator) -> tuple[Tuples, Ints]:
    """Return the distinct tuples, sorted by the columns in a drawn order."""
    tuples, tuple_of_row = distinct_tuples(records)
    columns = chance.permutation(len(tuples.attributes))
    keys = [a.numbers if isinstance(a, Number) else a.leaves for a in tuples.attributes]
    order = np.lexsort([keys[column] for column in reversed(columns)])
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return tuples.take(order), place[tuple_of_row]


def confirmed(text: str) -> str:
    """Return a page with what is computed in place of what it shows."""
    needed = [shown(baselines(name, size)) for name in TABLES for size in SIZES]
    return with_tables(text, {"needed": needed, "draws": [draws(*drawn) for drawn in DRAWN]})


def shown(row: Mapping[str, Any]) -> dict[str, str]:
    """Return a row as the page shows it."""
    return {
        name: "-" if v is None else f"{v:.2f}" if isinstance(v, float) else str(v)
        for name, v in row.items()
    }
