"""The definitions once more, in plain Python record by record: what the kernel is measured against.

Shares and limits are exact fractions; logarithms are compared with a tolerance of 1e-9.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dbt_anonymize.privacy.table import Attribute, Node, Table
from tests.oracle import privacy
from tests.oracle.records import (
    Class,
    Record,
    records_of,
    value_counts,
)


def is_violating(table: Table, guarantee: Mapping[str, Any], found: Class) -> bool:
    """Tell whether a class with records breaks a guarantee that is checked class by class."""
    counts, overall, tree = Counter[int](), Counter[int](), {}
    if "attribute" in guarantee:
        names = [attribute.name for attribute, _ in table.sensitive]
        position = names.index(guarantee["attribute"])
        counts = value_counts(found.records, position)
        overall = value_counts(records_of(table), position)
        attribute = table.sensitive[position][0]
        tree = dict(enumerate(zip(*(level.tolist() for level in attribute.tree), strict=True)))
    one = privacy.Class(
        size=found.people,
        of_class=counts,
        of_table=overall,
        population=found.population,
        table=people_of(table),
        population_size=table.population_size or 0,
        tree=tree,
        covered=found.covered,
    )
    return privacy.breaks(guarantee, one)


def people_of(table: Table) -> int:
    """Count distinct people."""
    return Class((), 0, tuple(records_of(table)), 0).people


def release_holds(guarantee: Mapping[str, Any], sizes: Collection[int]) -> bool:
    """Tell whether a release of classes of these sizes keeps a guarantee on all of it."""
    return Fraction(len(sizes), sum(sizes)) <= privacy.decimal(guarantee["average"])


# --- information loss -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Factors:
    """Of generalization and suppression."""

    generalization: float
    suppression: float

    @classmethod
    def of(cls, gs: float) -> Factors:
        """Derive both as ARX does."""
        return cls(1.0 if gs <= 0.5 else 1.0 - 2.0 * (gs - 0.5), 2.0 * gs if gs < 0.5 else 1.0)


@dataclass(frozen=True)
class Released:
    """A node with some classes suppressed."""

    table: Table
    node: Node
    classes: list[Class]
    suppressed: frozenset[tuple[int, ...]]

    @property
    def total(self) -> int:
        """Records of the table."""
        return sum(len(found.records) for found in self.classes)

    @property
    def kept(self) -> list[Class]:
        """Classes with records that are released."""
        return [c for c in self.classes if c.records and c.labels not in self.suppressed]

    @property
    def gone(self) -> list[Record]:
        """Suppressed records."""
        return [r for c in self.classes if c.labels in self.suppressed for r in c.records]

    def share(self, position: int, leaf: int) -> float:
        """Return sigma of the label of a leaf."""
        attribute, level = self.table.attributes[position], self.node[position]
        return float(attribute.shares[level][attribute.levels[level][leaf]])

    def height(self, position: int, leaf: int) -> float:
        """Return how far up its hierarchy the label of a leaf is; NULL is the root everywhere."""
        attribute = self.table.attributes[position]
        if _is_null(attribute, leaf):
            return 1.0
        return self.node[position] / max(attribute.height, 1)

    def cells(self, position: int, leaf: int) -> float:
        """Count the raw values that the label of a leaf may stand for."""
        attribute, level = self.table.attributes[position], self.node[position]
        if level == attribute.height or _is_null(attribute, leaf):
            return float(self.domain(position))
        if attribute.smallest_share > 0.0:
            return self.share(position, leaf) * attribute.domain_size
        labels = attribute.levels[level]
        return float(sum(labels[other] == labels[leaf] for other in self._numbers(position)))

    def domain(self, position: int) -> int:
        """Count the raw values of an attribute, with NULL where it occurs."""
        attribute = self.table.attributes[position]
        leaves = {record.leaves[position] for record in records_of(self.table)}
        has_null = any(_is_null(attribute, leaf) for leaf in leaves)
        if attribute.smallest_share > 0.0:
            return attribute.domain_size + has_null
        return max(len(self._numbers(position)), 1) + has_null

    def _numbers(self, position: int) -> set[int]:
        """Return the numbers that occur."""
        attribute = self.table.attributes[position]
        leaves = {record.leaves[position] for record in records_of(self.table)}
        return {leaf for leaf in leaves if not _is_null(attribute, leaf)}


def _is_null(attribute: Attribute, leaf: int) -> bool:
    """Tell whether a leaf is the root at every level."""
    return attribute.domain_size > 1 and float(attribute.shares[0][leaf]) == 1.0


def aggregated(name: str, losses: Sequence[float], attributes: Sequence[Attribute]) -> Any:
    """Put the losses of the attributes together."""
    weights = [attribute.weight for attribute in attributes]
    pairs = list(zip(losses, weights, strict=True))
    compared = [loss * weight / max(weights) for loss, weight in pairs]
    if name == "maximum":
        return max(compared)
    mean = sum(loss * weight for loss, weight in pairs) / sum(weights)
    if name == "geometric_mean":
        logarithms = sum(math.log1p(loss) * weight for loss, weight in pairs)
        return math.expm1(logarithms / sum(weights))
    return mean * len(losses) if name == "sum" else mean


def loss(released: Released, factors: Factors) -> list[float]:
    """Loss of each attribute."""
    losses = []
    for position, attribute in enumerate(released.table.attributes):
        added = 0.0
        for found in released.kept:
            for record in found.records:
                added += released.share(position, record.leaves[position]) * factors.generalization
        for record in released.gone:
            share = released.share(position, record.leaves[position])
            added += share + factors.suppression * (1.0 - share)
        least = factors.generalization * released.total * attribute.smallest_share
        room = released.total - least
        losses.append(max(0.0, (added - least) / room) if room > 0 else 0.0)
    return losses


def granularity(released: Released, _factors: Factors) -> float:
    """Share of what there is to lose, beyond raw values."""
    lost = most = 0.0
    for position, attribute in enumerate(released.table.attributes):
        shares = [
            released.share(position, record.leaves[position])
            for found in released.kept
            for record in found.records
        ]
        mean = (sum(shares) + len(released.gone)) / released.total
        lost += attribute.weight * (mean - attribute.smallest_share)
        most += attribute.weight * (1.0 - attribute.smallest_share)
    return lost / most if most else 0.0


def precision(released: Released, factors: Factors) -> list[float]:
    """Precision of each attribute."""
    gone = len(released.gone)
    return [
        (
            sum(
                released.height(position, record.leaves[position])
                for found in released.kept
                for record in found.records
            )
            * factors.generalization
            + gone * factors.suppression
        )
        / released.total
        for position in range(len(released.node))
    ]


def total_information_loss(released: Released, factors: Factors) -> list[float]:
    """Total information loss of each attribute: widths of intervals, heights of categories."""
    losses = []
    for position, attribute in enumerate(released.table.attributes):
        lost = factors.suppression * len(released.gone)
        for record in (r for found in released.kept for r in found.records):
            leaf = record.leaves[position]
            width = released.share(position, leaf)
            if attribute.smallest_share > 0.0:
                width = released.height(position, leaf)
            lost += factors.generalization * width
        losses.append(lost)
    return losses


def entropy(released: Released, factors: Factors) -> list[float]:
    """Non-uniform entropy of each attribute."""
    losses = []
    for position, (attribute, level) in enumerate(
        zip(released.table.attributes, released.node, strict=True)
    ):
        records = records_of(released.table)
        leaves = Counter(record.leaves[position] for record in records)
        labels = Counter(int(attribute.levels[level][r.leaves[position]]) for r in records)
        lost = -factors.generalization * sum(
            n * math.log2(n / labels[int(attribute.levels[level][leaf])])
            for leaf, n in leaves.items()
        )
        gone = Counter(int(attribute.levels[level][r.leaves[position]]) for r in released.gone)
        lost -= factors.suppression * sum(n * math.log2(n / gone.total()) for n in gone.values())
        losses.append(lost)
    return losses


def discernibility(released: Released, _factors: Factors) -> float:
    """Count the records that each record cannot be told from."""
    kept = sum(len(found.records) ** 2 for found in released.kept)
    return float(kept + released.total * len(released.gone))


def average_class_size(released: Released, _factors: Factors) -> float:
    """Divide records by classes."""
    return released.total / (len(released.kept) + bool(released.gone))


def _cells_of(released: Released, record: Record) -> float:
    return math.prod(released.cells(position, leaf) for position, leaf in enumerate(record.leaves))


def _domain(released: Released) -> int:
    return math.prod(map(released.domain, range(len(released.node))))


def ambiguity(released: Released, _factors: Factors) -> float:
    """Count the combinations of leaves that each record may stand for."""
    kept = sum(_cells_of(released, r) for found in released.kept for r in found.records)
    return kept + len(released.gone) * _domain(released)


def kl_divergence(released: Released, _factors: Factors) -> float:
    """Divergence of the release from the original rows, one term per distinct row."""
    total = released.total
    original = Counter(record.leaves for record in records_of(released.table))
    spread: dict[tuple[int, ...], float] = {}
    for found in released.kept:
        for record in found.records:
            spread[record.leaves] = len(found.records) / total / _cells_of(released, record)
    for record in released.gone:
        spread[record.leaves] = len(released.gone) / total / _domain(released)
    return sum(n / total * math.log2(n / total / spread[row]) for row, n in original.items())


def entropy_based_loss(released: Released, factors: Factors) -> float:
    """Share of the logarithm of the domain that labels cover."""
    domain = math.log10(_domain(released)) or 1.0
    kept = sum(
        math.log10(_cells_of(released, r)) / domain
        for found in released.kept
        for r in found.records
    )
    return factors.generalization * kept + factors.suppression * len(released.gone)


def classification(released: Released, factors: Factors) -> float:
    """Share of the records that their class misleads about; the mean over the targets."""
    weights = [weight for _, weight in released.table.targets]
    shares = [w * _misled(released, factors, target) for target, w in enumerate(weights)]
    return sum(shares) / sum(weights)


def _misled(released: Released, factors: Factors, target: int) -> float:
    cost = factors.suppression * len(released.gone)
    for found in released.kept:
        ranked = Counter(record.targets[target] for record in found.records).most_common(2)
        if len(ranked) == 2 and ranked[0][1] == ranked[1][1]:
            cost += factors.suppression * len(found.records)
        else:
            cost += factors.generalization * (len(found.records) - ranked[0][1])
    return cost / (released.total * max(factors.generalization, factors.suppression))


PER_ATTRIBUTE: dict[str, Callable[[Released, Factors], list[float]]] = {
    "loss": loss,
    "precision": precision,
    "non_uniform_entropy": entropy,
    "total_information_loss": total_information_loss,
}
CLASSWISE: dict[str, Callable[[Released, Factors], float]] = {
    "discernibility": discernibility,
    "average_class_size": average_class_size,
    "ambiguity": ambiguity,
    "kl_divergence": kl_divergence,
    "entropy_based_loss": entropy_based_loss,
    "classification_metric": classification,
    "granularity": granularity,
}
