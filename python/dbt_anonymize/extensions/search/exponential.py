"""Draw levels by the exponential mechanism.

Every node of the lattice has a score of sensitivity 1, and one is drawn with a probability
proportional to exp(epsilon * score / 2): this is epsilon-differentially private (McSherry and
Talwar 2007). Nothing else of the data is released. One draw among all nodes replaces the walk of
SafePub, which does not account for its last choice, the best of all visited nodes.
"""

from __future__ import annotations

import itertools
import math
import secrets
from collections.abc import Collection

import numpy as np

from dbt_anonymize.arrays import Floats
from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.rollup import Grouper
from dbt_anonymize.privacy.model import Mechanism
from dbt_anonymize.privacy.table import Node, Table

MOST_NODES = 100_000
_BITS = 53


def node_scores(
    table: Table, size: int, fixed: Collection[str] = ()
) -> tuple[tuple[Node, ...], Floats]:
    """Return all nodes within the search bounds, and the score of each: higher is better.

    A record costs the weighted mean share of the hierarchies that its labels cover, 0 to 1, and 1
    in a class of fewer than ``size`` people (>= 2), which would be suppressed. The score is the sum
    over all records, negated and divided by ``size - 1``. Its sensitivity is 1: a further record
    adds a cost of at most 1, and where it makes a class large enough, size - 1 others cost up to 1
    less each. ``fixed`` are attributes that stay at level 0. More nodes than `MOST_NODES` are a
    `SearchError`.
    """
    lattice = Lattice.of(table)
    if lattice.size > MOST_NODES:
        raise SearchError(
            f"a private search draws among at most {MOST_NODES:,} combinations of levels; got "
            f"{lattice.size:,}. Bound search.levels, without looking at the data."
        )
    levels = [
        range(1) if attribute.name in fixed else range(low, high + 1)
        for attribute, low, high in zip(
            table.attributes, lattice.lowest, lattice.highest, strict=True
        )
    ]
    lowest = tuple(min(levels_of_attribute) for levels_of_attribute in levels)
    nodes = tuple(node for node in itertools.product(*levels) if any(node))
    if not nodes:
        raise SearchError("a private search needs levels to draw from; search.levels has none.")
    weights = np.array([attribute.weight for attribute in table.attributes])
    weights = weights / weights.sum()
    grouper = Grouper(table, lowest)
    scores = np.empty(len(nodes))
    for place, node in enumerate(nodes):
        classes = grouper.classes(node)
        cost = np.zeros(len(classes.records))
        for column, attribute in enumerate(table.attributes):
            cost += weights[column] * attribute.shares[node[column]][classes.codes[:, column]]
        cost[classes.people < size] = 1.0
        scores[place] = -float((classes.records * cost).sum()) / (size - 1)
    return nodes, scores


def draw(scores: Floats, epsilon: float) -> int:
    """Draw a position with a probability proportional to exp(epsilon * score / 2).

    Uses the random generator of the operating system, in double precision.

    Examples
    --------
    >>> draw(np.array([0.0, -10_000.0]), epsilon=1.0)
    0
    """
    weights = np.cumsum(np.exp(epsilon * (scores - scores.max()) / 2))
    point = secrets.randbits(_BITS) / 2**_BITS * weights[-1]
    return int(min(np.searchsorted(weights, point, side="right"), len(scores) - 1))


def draw_levels(table: Table, private: Mechanism, fixed: Collection[str] = ()) -> dict[str, int]:
    """Draw the level of each quasi-identifier within ``search_epsilon``.

    The table is the whole source: the sample protects people in the release, and must not be read
    twice. A class of the source needs enough people for an expected k of them in the sample.
    """
    assert private.search_epsilon is not None  # the caller refuses a search without
    nodes, scores = node_scores(table, max(2, math.ceil(private.k / private.share)), fixed)
    node = nodes[draw(scores, private.search_epsilon)]
    names = (attribute.name for attribute in table.attributes)
    return dict(zip(names, node, strict=True))
