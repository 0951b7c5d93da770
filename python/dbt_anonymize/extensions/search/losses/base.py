"""Base of measures of information loss: names, factors, and sums over the table."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.privacy.grouping import distinct_codes
from dbt_anonymize.privacy.table import Classes, Node, Table

# Bounds and losses are summed in different orders, and round differently.
SLIGHTLY_LESS = 1.0 - 1e-12


class TableSums:
    """Numbers per leaf, and sums over the records of one table, per attribute and level.

    ``weights`` (attributes,) are divided by their mean. The table must not change.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.total = table.total
        weights = np.array([attribute.weight for attribute in table.attributes], dtype=np.float64)
        self.weights = weights / weights.mean() if len(weights) else weights

    @cached_property
    def columns(self) -> list[Ints]:
        """Leaves of each attribute, contiguous in memory."""
        return [np.ascontiguousarray(column) for column in self.table.leaves.T]

    @cached_property
    def leaf_counts(self) -> list[Floats]:
        """Records of each leaf, by attribute."""
        return [
            bincount(self.table.leaves[:, position], self.table.records, len(attribute.levels[0]))
            for position, attribute in enumerate(self.table.attributes)
        ]

    @cached_property
    def label_counts(self) -> list[list[Floats]]:
        """Records of each label, by attribute and level."""
        return [
            [
                bincount(labels, leaves, len(shares))
                for labels, shares in zip(attribute.levels, attribute.shares, strict=True)
            ]
            for leaves, attribute in zip(self.leaf_counts, self.table.attributes, strict=True)
        ]

    @cached_property
    def parents(self) -> list[list[Ints]]:
        """The label one level up of each label; by attribute and level. Hierarchies are nested."""
        parents = []
        for attribute in self.table.attributes:
            parents_of_attribute = []
            for labels, above in pairwise(attribute.levels):
                parent = np.zeros(int(labels.max(initial=-1)) + 1, dtype=np.int64)
                parent[labels] = above
                parents_of_attribute.append(parent)
            parents.append(parents_of_attribute)
        return parents

    @cached_property
    def shares(self) -> list[list[Floats]]:
        """Share of the label of each leaf, by attribute and level."""
        return [
            [shares[labels] for labels, shares in zip(tree.levels, tree.shares, strict=True)]
            for tree in self.table.attributes
        ]

    @cached_property
    def share_totals(self) -> list[list[float]]:
        """Sum over the records of the share of their label, by attribute and level."""
        return self._over_records(self.shares)

    @cached_property
    def heights(self) -> list[list[Floats]]:
        """Height of the label of each leaf, relative to its hierarchy; NULL is the root."""
        return [
            # A hierarchy that is the root alone has nothing to lose.
            [
                np.where(is_null, 1.0, level / max(attribute.height, 1))
                for level in range(len(attribute.levels))
            ]
            for attribute, is_null in zip(self.table.attributes, self._null_leaves, strict=True)
        ]

    @cached_property
    def height_totals(self) -> list[list[float]]:
        """Sum over the records of the height of their label, by attribute and level."""
        return self._over_records(self.heights)

    def _over_records(self, numbers: list[list[Floats]]) -> list[list[float]]:
        """Sum numbers per leaf over the records, by attribute and level."""
        return [
            [float(leaves @ by_leaf) for by_leaf in levels]
            for leaves, levels in zip(self.leaf_counts, numbers, strict=True)
        ]

    @cached_property
    def log_domain(self) -> float:
        """Bits of the number of combinations of raw values."""
        return math.fsum(math.log2(domain) for domain in self._domains)

    @cached_property
    def _null_leaves(self) -> list[Bools]:
        """Mask of the leaves that are NULL: they are the root at every level."""
        return [(a.shares[0] == 1.0) & (a.domain_size > 1) for a in self.table.attributes]

    @cached_property
    def _values(self) -> list[int]:
        """Number of raw values of each attribute: rows of its hierarchy, or occurring numbers."""
        return [
            attribute.domain_size
            if attribute.smallest_share > 0.0
            else max(int(np.count_nonzero(counts[~is_null])), 1)
            for attribute, counts, is_null in zip(
                self.table.attributes, self.leaf_counts, self._null_leaves, strict=True
            )
        ]

    @cached_property
    def _domains(self) -> list[int]:
        """Number of raw values of each attribute, with NULL where it occurs."""
        return [
            values + bool(counts[is_null].any())
            for values, counts, is_null in zip(
                self._values, self.leaf_counts, self._null_leaves, strict=True
            )
        ]

    @cached_property
    def log_cells(self) -> list[list[Floats]]:
        """Bits of the number of raw values that the label of each leaf covers; by attribute, level.

        A category covers its share of the hierarchy, an interval the numbers in it that occur; the
        root, which is the label of NULL at every level, covers all values and NULL.
        """
        return [
            [np.log2(self._covered(position, level)) for level in range(len(attribute.levels))]
            for position, attribute in enumerate(self.table.attributes)
        ]

    def _covered(self, position: int, level: int) -> Floats:
        attribute, is_null = self.table.attributes[position], self._null_leaves[position]
        domain = float(self._domains[position])
        if level == attribute.height:
            return np.full(len(is_null), domain)
        if attribute.smallest_share > 0.0:
            covered = self.shares[position][level] * attribute.domain_size
        else:
            labels = attribute.levels[level]
            occurring = (self.leaf_counts[position] > 0.0) & ~is_null
            covered = bincount(labels, occurring, len(attribute.shares[level]))[labels]
        return np.where(is_null, domain, np.maximum(covered, 1.0))

    @cached_property
    def _mean_log_cells(self) -> list[list[float]]:
        totals = self._over_records(self.log_cells)
        return [[total / self.total for total in levels] for levels in totals]

    @cached_property
    def lost_bits(self) -> list[list[float]]:
        """Sum over the records of log2(records of the label / of the leaf); by attribute, level."""
        bits = []
        for attribute, counts in zip(self.table.attributes, self.label_counts, strict=True):
            leaves = np.flatnonzero(counts[0])
            records = counts[0][leaves]
            bits.append(
                [
                    float(records @ np.log2(of_label[labels[leaves]] / records))
                    for labels, of_label in zip(attribute.levels, counts, strict=True)
                ]
            )
        return bits

    @cached_property
    def log_frequency(self) -> float:
        """Sum over the distinct original rows of f log2 f, f their share of the records."""
        rows = np.flatnonzero(self.table.records)
        numbers = distinct_codes([column[rows] for column in self.columns], len(rows))
        counts = np.bincount(numbers, weights=self.table.records[rows])
        frequencies = counts / self.total
        return float(frequencies @ np.log2(frequencies))

    def mean_log_cells(self, levels: Ints) -> Floats:
        """Return for each node the bits that its labels cover, mean over the records."""
        bits: Floats = of_levels(self._mean_log_cells, levels).sum(axis=1)
        return bits

    def marginal_divergence(self, levels: Ints) -> Floats:
        """Return for each node the divergence of attributes from uniform, in bits, summed."""
        lost: Floats = of_levels(self.lost_bits, levels).sum(axis=1)
        return self.mean_log_cells(levels) - lost / self.total

    @cached_property
    def overlap(self) -> float:
        """Bits by which occurring labels cover more than the domain, summed over attributes.

        Only the label of NULL overlaps with others, since it is the root.
        """
        overlap = 0.0
        for position, attribute in enumerate(self.table.attributes):
            leaves = np.flatnonzero(self.leaf_counts[position])
            bits_by_level = []
            for labels, bits in zip(attribute.levels, self.log_cells[position], strict=True):
                _, first = np.unique(labels[leaves], return_index=True)
                bits_by_level.append(float(np.log2(np.exp2(bits[leaves[first]]).sum())))
            overlap += max(0.0, max(bits_by_level) - math.log2(self._domains[position]))
        return overlap

    @cached_property
    def nulls(self) -> int:
        """Attributes in which NULL occurs: its label, the root, overlaps with all others."""
        pairs = zip(self.leaf_counts, self._null_leaves, strict=True)
        return sum(bool(counts[is_null].any()) for counts, is_null in pairs)

    def class_log_cells(self, classes: Classes, rows: Ints) -> Floats:
        """Return the bits that the labels of some classes cover."""
        first = classes.first.take(rows)
        bits = np.zeros(len(rows))
        for position, level in enumerate(classes.levels):
            # Labels that cover a single raw value add nothing.
            if self._covers_more[position][level]:
                bits += self.log_cells[position][level].take(self.columns[position].take(first))
        return bits

    @cached_property
    def _covers_more(self) -> list[list[bool]]:
        return [[bool(bits.any()) for bits in levels] for levels in self.log_cells]

    @cached_property
    def _distinct_labels(self) -> list[list[int]]:
        return [[int(np.count_nonzero(c)) for c in levels] for levels in self.label_counts]

    def most_classes(self, levels: Ints) -> Floats:
        """Return for each node an upper bound of the number of classes with records."""
        labels = of_levels(self._distinct_labels, levels).prod(axis=1)
        most: Floats = np.minimum(labels, len(self.table.records))
        return most


class InformationLoss(ABC):
    """A measure that a search can minimize: the loss of a node; lower is better.

    ``gs`` in [0, 1] weighs generalization against suppression by the factors ``min(1, 2 - 2 gs)``
    and ``min(1, 2 gs)``: below 0.5 suppression costs less, above it generalization does.
    """

    # Name of the measure, its macro, its module and its column.
    name: str
    # The published measure is what remains; a search minimizes 1 minus it.
    higher_is_better = False
    # True if `attribute_bounds` returns bounds.
    has_attribute_bounds = False
    # True if targets must be counted in each class.
    needs_targets = False
    # True if `coarser_bound` is tighter than `lower_bounds`.
    is_bounded_by_classes = False

    def __init__(self, *, gs: float = 0.5) -> None:
        self.generalization_factor = min(1.0, 2.0 - 2.0 * gs)
        self.suppression_factor = min(1.0, 2.0 * gs)
        self._sums: TableSums | None = None
        self._free_bounds: tuple[Floats, ...] | None = None  # where nothing is suppressed

    @property
    def is_monotone_in_suppression(self) -> bool:
        """Tell whether suppressing one more class of a node never lowers the loss."""
        return self.generalization_factor <= self.suppression_factor

    def sums(self, table: Table) -> TableSums:
        """Return the sums over a table, computed at the first call."""
        if self._sums is None or self._sums.table is not table:
            self._sums, self._free_bounds = TableSums(table), None
        return self._sums

    def loss(self, table: Table, classes: Classes, suppressed: Bools) -> float:
        """Return the loss of a node with suppressed classes (classes,); 0 without records.

        The records of the table are the N of the formulas. Classes without records do not count.
        """
        if table.total == 0:
            return 0.0
        return self._loss(self.sums(table), classes, suppressed)

    def lower_bounds(self, table: Table, levels: Ints) -> Floats:
        """Return lower bounds of the loss of nodes (nodes, attributes) and of all coarser nodes.

        They hold whatever is suppressed.
        """
        if table.total == 0:
            return np.zeros(len(levels))
        return self._lower_bounds(self.sums(table), levels)

    def coarser_bound(self, table: Table, classes: Classes, size: int = 0) -> float:
        """Return a tighter bound for one node and all coarser ones, from its classes.

        Classes of fewer than ``size`` people are never released.
        """
        if table.total == 0:
            return 0.0
        return self._coarser_bound(self.sums(table), classes, size)

    def least_per_suppressed(self, table: Table) -> float:
        """Return a lower bound of the loss of a node per suppressed record.

        0 is no bound: by some measures a node without suppression has a negative loss.
        """
        if table.total == 0:
            return 0.0
        return self._least_per_suppressed(self.sums(table))

    def suppression_bound(
        self, table: Table, classes: Classes, suppressed: Bools, size: int = 0
    ) -> float:
        """Return the increase of bounds of finer nodes by suppressed classes; see `raised`."""
        if table.total == 0:
            return 0.0
        return self._suppression_bound(self.sums(table), classes, suppressed, size)

    def raised(self, table: Table, bounds: Floats, by: Floats) -> Floats:
        """Return lower bounds of nodes, raised by the suppression bounds of nodes above them."""
        return bounds + by

    def attribute_bounds(
        self, table: Table, suppressed: Bools | None = None, highest: Node | None = None
    ) -> tuple[Floats, ...] | None:
        """Return lower bounds of the loss per quasi-identifier and level, for `combine`.

        ``suppressed`` are rows of the table known to be suppressed. Levels up to ``highest``, by
        default all. None for a measure over classes.
        """
        return None

    def combine(self, losses: Floats) -> Floats:
        """Combine losses (nodes, attributes) into one per node, as `loss` does."""
        raise NotImplementedError(f"{self.name} has no losses per attribute")

    def per_class(self, table: Table, classes: Classes) -> Floats | None:
        """Return the order of suppression of classes of equal size; None if there is none."""
        return None

    @abstractmethod
    def _loss(self, sums: TableSums, classes: Classes, suppressed: Bools) -> float: ...

    def _lower_bounds(self, sums: TableSums, levels: Ints) -> Floats:
        if self._free_bounds is None:
            self._free_bounds = self.attribute_bounds(sums.table)
        if self._free_bounds is None:
            raise NotImplementedError(f"{self.name} has no bounds of its loss")
        return self.combine(of_levels(self._free_bounds, levels))

    def _coarser_bound(self, sums: TableSums, classes: Classes, size: int) -> float:
        return float(self._lower_bounds(sums, np.array([classes.levels]))[0])

    def _least_per_suppressed(self, sums: TableSums) -> float:
        return 0.0

    def _suppression_bound(
        self, sums: TableSums, classes: Classes, suppressed: Bools, size: int
    ) -> float:
        return 0.0


def of_levels(numbers: Sequence[Sequence[float] | Floats], levels: Ints) -> Floats:
    """Return the number of each attribute at the levels of nodes (nodes, attributes)."""
    chosen = np.empty(levels.shape)
    for position, by_level in enumerate(numbers):
        chosen[:, position] = np.asarray(by_level)[levels[:, position]]
    return chosen


def suppressed_records(classes: Classes, suppressed: Bools) -> int:
    """Return the number of records in suppressed classes."""
    return int(classes.records @ suppressed)


def bincount(codes: Ints, weights: Ints | Floats | Bools, size: int) -> Floats:
    """Sum weights by code, as floats also for empty input."""
    return np.bincount(codes, weights=weights, minlength=size).astype(np.float64, copy=False)
