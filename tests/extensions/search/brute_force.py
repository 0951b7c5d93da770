"""Expected results of the search, by looking at every node in the plainest way; random tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
from hypothesis import strategies as st

from dbt_anonymize.arrays import Ints
from dbt_anonymize.extensions.search.losses.base import InformationLoss
from dbt_anonymize.extensions.search.results import CheckedNode
from dbt_anonymize.extensions.search.unavoidable import is_impossible
from dbt_anonymize.privacy.grouping import classes_of
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.table import Attribute, Node, SensitiveAttribute, Table


def nodes_of(table: Table) -> Iterator[Node]:
    """Give every node within the level bounds."""
    return itertools.product(*(range(a.lowest, a.top + 1) for a in table.attributes))


def check_plainly(
    node: Node,
    *,
    table: Table,
    guarantees: Guarantees,
    loss: InformationLoss,
    limit: Decimal,
    k: int = 0,
) -> CheckedNode:
    """Check a node as the definitions say."""
    classes = classes_of(table, node)
    most = math.floor(limit * table.total)
    has_records = classes.records > 0
    violating = guarantees.violating(classes) | ((classes.people < k) & has_records)
    infeasible = CheckedNode(node, 0, 0, math.nan, False)
    if is_impossible(guarantees, classes) or classes.records[violating].sum() > most:
        return infeasible
    suppressed = guarantees.suppress(classes, violating, loss.per_class(table, classes))
    count = int(classes.records[suppressed].sum())
    if count > most:
        return infeasible
    released = classes.people[has_records & ~suppressed]
    smallest = int(released.min()) if len(released) else 0
    return CheckedNode(node, smallest, count, loss.loss(table, classes, suppressed), True)


def feasible_nodes(
    table: Table, guarantees: Guarantees, loss: InformationLoss, limit: Decimal, k: int = 0
) -> list[CheckedNode]:
    """Return all feasible nodes."""
    checked = (
        check_plainly(node, table=table, guarantees=guarantees, loss=loss, limit=limit, k=k)
        for node in nodes_of(table)
    )
    return [found for found in checked if found.is_feasible]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Draw a table, perhaps with subjects and a population.

    Hypothesis prefers tables so small that nearly every search finds their optimum by chance: it
    only draws the seed and what to leave out.
    """
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    attributes = tuple(_attribute(random, f"a{i}") for i in range(draw(st.integers(1, 3))))
    count = draw(st.sampled_from([2, 8, 20, 40, 60]))
    columns = [_skewed(random, len(a.levels[0]), count) for a in attributes]
    values = _skewed(random, 3, count)
    target = random.integers(0, 2, count)
    weight = float(random.choice([0.0, 0.5, 2.0]))
    further = random.integers(0, 3, count) * (weight > 0)
    has_subject, has_population = draw(st.booleans()), draw(st.booleans())
    subject = random.integers(0, 1 + count // 2, count)
    rows = np.stack([*columns, values, target, further, *([subject] * has_subject)], axis=1)
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    weights = random.integers(1, 4, count)
    records = np.bincount(inverse.reshape(-1), weights=weights).astype(np.int64)
    population = None
    if has_population:
        records[1:][random.random(len(records) - 1) < 0.2] = 0
        population = records + random.integers(1, 4, len(records))
    occurring, codes = np.unique(values[first][records > 0], return_inverse=True)
    sensitive = np.zeros(len(records), dtype=np.int64)
    sensitive[records > 0] = codes.reshape(-1)
    return Table(
        attributes=attributes,
        leaves=np.stack(columns, axis=1)[first],
        records=records,
        sensitive=((SensitiveAttribute("s", len(occurring)), sensitive),),
        subject=subject[first] if has_subject else None,
        population=population,
        population_size=None if population is None else int(population.sum()),
        targets=((target[first], 1.0), (further[first], weight))[: 1 + (weight > 0)],
    )


def _attribute(random: np.random.Generator, name: str) -> Attribute:
    """Make a hierarchy; perhaps with a NULL, whose label is the root's at every level."""
    size = int(random.integers(2, 7))
    levels = [np.arange(size)]
    while (labels := int(levels[-1].max()) + 1) > 2 and random.random() < 0.8:
        merged = np.sort(random.integers(0, max(2, labels - 1), labels))
        levels.append(np.unique(merged[levels[-1]], return_inverse=True)[1].reshape(-1))
    levels.append(np.zeros(size, dtype=np.int64))
    shares = [np.bincount(level) / size for level in levels]
    if random.random() < 0.3:
        for level in range(len(levels) - 1):
            levels[level] = np.append(levels[level], levels[level].max() + 1)
            shares[level] = np.append(shares[level], 1.0)
        levels[-1] = np.append(levels[-1], 0)
    top = len(levels) - 1
    return Attribute(
        name=name,
        levels=tuple(levels),
        shares=tuple(shares),
        domain_size=size,
        smallest_share=float(random.choice([1 / size, 0.0])),
        weight=float(random.choice([1.0, 0.5])),
        lowest=int(random.random() < 0.2),
        highest=max(1, top - 1) if random.random() < 0.2 else None,
    )


def _skewed(random: np.random.Generator, size: int, count: int) -> Ints:
    """Draw values of which the first ones are frequent."""
    values: Ints = np.minimum(random.geometric(0.45, count) - 1, size - 1)
    return values


@st.composite
def guarantees_for(draw: st.DrawFn, table: Table) -> list[dict[str, Any]]:
    """Draw k-anonymity and up to two more guarantees that the table can be checked for."""

    def share(low: float, high: float) -> float:
        return draw(st.integers(0, 10)) / 10 * (high - low) + low

    models: list[dict[str, Any]] = [
        {"model": "t_closeness", "attribute": "s", "t": share(0.1, 0.5), "distance": "equal"},
        {"model": "beta_likeness", "attribute": "s", "beta": share(0.2, 2), "variant": "basic"},
        {"model": "delta_disclosure", "attribute": "s", "delta": share(0.5, 3)},
        {"model": "alpha_k_anonymity", "attribute": "s", "alpha": share(0.5, 0.9), "k": 2},
        {"model": "reidentification_risk", "average": share(0.05, 0.4)},
    ]
    if (size := table.sensitive[0][0].size) >= 2:
        models += [
            {"model": "l_diversity", "attribute": "s", "variant": "distinct", "l": size},
            {"model": "l_diversity", "attribute": "s", "variant": "entropy", "l": share(1.2, 2)},
            {"model": "l_diversity", "attribute": "s", "variant": "recursive", "l": 2, "c": 2.0},
        ]
    if table.population is not None:
        models += [
            {"model": "k_map", "k": draw(st.integers(2, 12))},
            {"model": "delta_presence", "minimum": share(0, 0.4), "maximum": share(0.5, 1)},
        ]
    k = {"model": "k_anonymity", "k": draw(st.integers(2, 6))}
    return [k, *draw(st.lists(st.sampled_from(models), max_size=2))]


def numbered_table(rows: int = 4096, attributes: int = 3) -> Table:
    """Return a table of evenly spread numbers whose levels halve how many are told apart."""
    levels = tuple(np.arange(16) >> level for level in range(5))
    shares = tuple(np.bincount(level) / 16 for level in levels)
    numbers = np.random.default_rng(3).integers(0, 16, (rows, attributes))
    leaves, records = np.unique(numbers, axis=0, return_counts=True)
    names = [f"a{i}" for i in range(attributes)]
    return Table(
        tuple(Attribute(name, levels, shares, 16, 1 / 16) for name in names), leaves, records
    )
