"""Base of measures of information loss: names, factors, and sums over the table."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from dbt_anonymize.privacy.grouping import numbered
from dbt_anonymize.privacy.table import BoolArray, Classes, FloatArray, IntArray, Node, Table

# A bound and a loss are added up in different orders.
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
    def columns(self) -> list[IntArray]:
        """Leaves of each attribute, side by side in memory."""
        return [np.ascontiguousarray(column) for column in self.table.leaves.T]

    @cached_property
    def leaf_counts(self) -> list[FloatArray]:
        """Records of each leaf, by attribute."""
        return [
            bincount(self.table.leaves[:, position], self.table.records, len(attribute.levels[0]))
            for position, attribute in enumerate(self.table.attributes)
        ]

    @cached_property
    def label_counts(self) -> list[list[FloatArray]]:
        """Records of each label, by attribute and level."""
        return [
            [
                bincount(labels, leaves, len(shares))
                for labels, shares in zip(attribute.levels, attribute.shares, strict=True)
            ]
            for leaves, attribute in zip(self.leaf_counts, self.table.attributes, strict=True)
        ]

    @cached_property
    def parents(self) -> list[list[IntArray]]:
        """The label one level up of each label; by attribute and level. Hierarchies are nested."""
        found = []
        for attribute in self.table.attributes:
            of_level = []
            for labels, above in pairwise(attribute.levels):
                parent = np.zeros(int(labels.max(initial=-1)) + 1, dtype=np.int64)
                parent[labels] = above
                of_level.append(parent)
            found.append(of_level)
        return found

    @cached_property
    def shares(self) -> list[list[FloatArray]]:
        """Share of the label of each leaf, by attribute and level."""
        return [
            [shares[labels] for labels, shares in zip(found.levels, found.shares, strict=True)]
            for found in self.table.attributes
        ]

    @cached_property
    def share_totals(self) -> list[list[float]]:
        """Sum over the records of the share of their label, by attribute and level."""
        return [
            [float(leaves @ by_leaf) for by_leaf in shares]
            for leaves, shares in zip(self.leaf_counts, self.shares, strict=True)
        ]

    @cached_property
    def heights(self) -> list[list[FloatArray]]:
        """Height of the label of each leaf as a part of its hierarchy's; NULL is the root."""
        return [
            # A hierarchy that is the root alone has nothing to lose.
            [
                np.where(is_null, 1.0, level / max(attribute.height, 1))
                for level in range(len(attribute.levels))
            ]
            for attribute, is_null in zip(self.table.attributes, self._are_null, strict=True)
        ]

    @cached_property
    def height_totals(self) -> list[list[float]]:
        """Sum over the records of the height of their label, by attribute and level."""
        return [
            [float(leaves @ by_leaf) for by_leaf in heights]
            for leaves, heights in zip(self.leaf_counts, self.heights, strict=True)
        ]

    @cached_property
    def log_domain(self) -> float:
        """Bits of the number of combinations of raw values."""
        return math.fsum(math.log2(domain) for domain in self._domains)

    @cached_property
    def _are_null(self) -> list[BoolArray]:
        """Mask of the leaves that are NULL: those that are the root at every level already."""
        attributes = self.table.attributes
        return [(found.shares[0] == 1.0) & (found.domain_size > 1) for found in attributes]

    @cached_property
    def _values(self) -> list[int]:
        """Raw values of each attribute: rows of its hierarchy, or numbers that occur."""
        return [
            attribute.domain_size
            if attribute.smallest_share > 0.0
            else max(int(np.count_nonzero(counts[~is_null])), 1)
            for attribute, counts, is_null in zip(
                self.table.attributes, self.leaf_counts, self._are_null, strict=True
            )
        ]

    @cached_property
    def _domains(self) -> list[int]:
        """Raw values of each attribute, and NULL beside them where it occurs."""
        return [
            values + bool(counts[is_null].any())
            for values, counts, is_null in zip(
                self._values, self.leaf_counts, self._are_null, strict=True
            )
        ]

    @cached_property
    def log_cells(self) -> list[list[FloatArray]]:
        """Bits of the number of raw values that the label of each leaf covers; by attribute, level.

        Of a category its share of the hierarchy, of an interval the numbers in it that occur; of
        the root, the label of NULL at every level, all values and NULL.
        """
        return [
            [np.log2(self._covered(position, level)) for level in range(len(attribute.levels))]
            for position, attribute in enumerate(self.table.attributes)
        ]

    def _covered(self, position: int, level: int) -> FloatArray:
        attribute, is_null = self.table.attributes[position], self._are_null[position]
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
        return [
            [float(leaves @ by_leaf) / self.total for by_leaf in levels]
            for leaves, levels in zip(self.leaf_counts, self.log_cells, strict=True)
        ]

    @cached_property
    def lost_bits(self) -> list[list[float]]:
        """Sum over the records of log2(records of the label / of the leaf); by attribute, level."""
        found = []
        for attribute, counts in zip(self.table.attributes, self.label_counts, strict=True):
            leaves = np.flatnonzero(counts[0])
            records = counts[0][leaves]
            found.append(
                [
                    float(records @ np.log2(of_label[labels[leaves]] / records))
                    for labels, of_label in zip(attribute.levels, counts, strict=True)
                ]
            )
        return found

    @cached_property
    def log_frequency(self) -> float:
        """Sum over the distinct original rows of f log2 f, f their share of the records."""
        rows = np.flatnonzero(self.table.records)
        numbers = numbered([column[rows] for column in self.columns], len(rows))
        counts = np.bincount(numbers, weights=self.table.records[rows])
        frequencies = counts / self.total
        return float(frequencies @ np.log2(frequencies))

    def mean_log_cells(self, levels: IntArray) -> FloatArray:
        """Return for nodes the mean over the records of the bits that their labels cover."""
        bits: FloatArray = of_levels(self._mean_log_cells, levels).sum(axis=1)
        return bits

    def marginal_divergence(self, levels: IntArray) -> FloatArray:
        """Return for nodes the sum over attributes of the divergence (bits) of one from even."""
        lost: FloatArray = of_levels(self.lost_bits, levels).sum(axis=1)
        return self.mean_log_cells(levels) - lost / self.total

    @cached_property
    def overlap(self) -> float:
        """Bits by which labels that occur cover more than the domain, added up over attributes.

        Only the label of NULL overlaps with others: it is the root's.
        """
        found = 0.0
        for position, attribute in enumerate(self.table.attributes):
            leaves = np.flatnonzero(self.leaf_counts[position])
            of_level = []
            for labels, bits in zip(attribute.levels, self.log_cells[position], strict=True):
                _, first = np.unique(labels[leaves], return_index=True)
                of_level.append(float(np.log2(np.exp2(bits[leaves[first]]).sum())))
            found += max(0.0, max(of_level) - math.log2(self._domains[position]))
        return found

    @cached_property
    def nulls(self) -> int:
        """Attributes in which NULL occurs: its label, the root, overlaps with all others."""
        pairs = zip(self.leaf_counts, self._are_null, strict=True)
        return sum(bool(counts[is_null].any()) for counts, is_null in pairs)

    def class_log_cells(self, classes: Classes, rows: IntArray) -> FloatArray:
        """Return the bits that the labels of some classes cover."""
        first = classes.first.take(rows)
        bits = np.zeros(len(rows))
        for position, level in enumerate(classes.levels):
            # A label that covers one raw value, as of a leaf, adds nothing.
            if self._covers_more[position][level]:
                bits += self.log_cells[position][level].take(self.columns[position].take(first))
        return bits

    @cached_property
    def _covers_more(self) -> list[list[bool]]:
        return [[bool(bits.any()) for bits in levels] for levels in self.log_cells]

    @cached_property
    def _distinct_labels(self) -> list[list[int]]:
        return [[int(np.count_nonzero(c)) for c in levels] for levels in self.label_counts]

    def most_classes(self, levels: IntArray) -> FloatArray:
        """Return for nodes an upper bound on the number of classes that have records."""
        labels = of_levels(self._distinct_labels, levels).prod(axis=1)
        most: FloatArray = np.minimum(labels, len(self.table.records))
        return most


class Measure:
    """A measure of information loss as a column of `<n>_information_loss`."""

    # Of the measure, its macro, its module and its column.
    name: str
    # Descriptions of the columns: of the measure, in which {aggregate} may stand, and of one
    # quasi-identifier, {}, where it has such columns.
    column: str
    of_attribute_column = ""
    # It is published as what is left; a search minimizes 1 minus it.
    higher_is_better = False
    # Only intervals have columns of their own.
    is_of_numbers = False


class InformationLoss(Measure, ABC):
    """A measure that a search can minimize: what a node loses; lower is better.

    ``gs`` in [0, 1] weighs generalization against suppression by the factors ``min(1, 2 - 2 gs)``
    and ``min(1, 2 gs)``: below 0.5 suppression costs less, above it generalization does.
    """

    # Whether `attribute_bounds` returns any.
    has_attribute_bounds = False
    # Whether targets are counted in each class.
    needs_targets = False
    # Whether `coarser_bound` says more than `lower_bounds`.
    is_bounded_by_classes = False

    def __init__(self, *, gs: float = 0.5) -> None:
        self.generalization_factor = min(1.0, 2.0 - 2.0 * gs)
        self.suppression_factor = min(1.0, 2.0 * gs)
        self._sums: TableSums | None = None
        self._free_bounds: tuple[FloatArray, ...] | None = None  # where nothing is suppressed

    @property
    def is_monotone_in_suppression(self) -> bool:
        """Tell whether suppressing one more class of a node never lowers the loss."""
        return self.generalization_factor <= self.suppression_factor

    def sums(self, table: Table) -> TableSums:
        """Return the sums over a table, made at the first call with it."""
        if self._sums is None or self._sums.table is not table:
            self._sums, self._free_bounds = TableSums(table), None
        return self._sums

    def loss(self, table: Table, classes: Classes, suppressed: BoolArray) -> float:
        """Return the loss of a node with suppressed classes (classes,); 0 without records.

        The records of the table are the N of the formulas. Classes without records do not count.
        """
        if table.total == 0:
            return 0.0
        return self._loss(self.sums(table), classes, suppressed)

    def lower_bounds(self, table: Table, levels: IntArray) -> FloatArray:
        """Return for nodes (nodes, attributes) a lower bound of their loss and of all coarser ones.

        It holds whatever is suppressed.
        """
        if table.total == 0:
            return np.zeros(len(levels))
        return self._lower_bounds(self.sums(table), levels)

    def coarser_bound(self, table: Table, classes: Classes, size: int = 0) -> float:
        """Return the same for one node, tighter, from its classes.

        Classes of fewer than ``size`` people are never released.
        """
        if table.total == 0:
            return 0.0
        return self._coarser_bound(self.sums(table), classes, size)

    def least_per_suppressed(self, table: Table) -> float:
        """Return what a node loses at least for each suppressed record, whatever else it does.

        0 says nothing: by some measures a node without suppression has a negative loss.
        """
        if table.total == 0:
            return 0.0
        return self._least_per_suppressed(self.sums(table))

    def suppression_bound(
        self, table: Table, classes: Classes, suppressed: BoolArray, size: int = 0
    ) -> float:
        """Return by how much suppressing classes raises bounds of finer nodes; see `raised`."""
        if table.total == 0:
            return 0.0
        return self._suppression_bound(self.sums(table), classes, suppressed, size)

    def raised(self, table: Table, bounds: FloatArray, by: FloatArray) -> FloatArray:
        """Return lower bounds of nodes, raised by what nodes above them must suppress."""
        return bounds + by

    def attribute_bounds(
        self, table: Table, suppressed: BoolArray | None = None, highest: Node | None = None
    ) -> tuple[FloatArray, ...] | None:
        """Return lower bounds of the loss per quasi-identifier and level, for `combine`.

        ``suppressed`` are rows of the table known to be suppressed. Levels up to ``highest``, by
        default all. None for a measure over classes.
        """
        return None

    def combine(self, losses: FloatArray) -> FloatArray:
        """Combine losses (nodes, attributes) into one per node, as `loss` does."""
        raise NotImplementedError(f"{self.name} has no losses per attribute")

    def per_class(self, table: Table, classes: Classes) -> FloatArray | None:
        """Return what orders classes of equal size for suppression; None if nothing does."""
        return None

    @abstractmethod
    def _loss(self, sums: TableSums, classes: Classes, suppressed: BoolArray) -> float: ...

    def _lower_bounds(self, sums: TableSums, levels: IntArray) -> FloatArray:
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
        self, sums: TableSums, classes: Classes, suppressed: BoolArray, size: int
    ) -> float:
        return 0.0


def of_levels(numbers: Sequence[Sequence[float] | FloatArray], levels: IntArray) -> FloatArray:
    """Choose for nodes (nodes, attributes) from numbers by attribute and level."""
    found = np.empty(levels.shape)
    for position, by_level in enumerate(numbers):
        found[:, position] = np.asarray(by_level)[levels[:, position]]
    return found


def suppressed_records(classes: Classes, suppressed: BoolArray) -> int:
    """Return the number of records in suppressed classes."""
    return int(classes.records @ suppressed)


def bincount(codes: IntArray, weights: IntArray | FloatArray | BoolArray, size: int) -> FloatArray:
    """Add up weights by code; numpy counts in integers where there is nothing to count."""
    return np.bincount(codes, weights=weights, minlength=size).astype(np.float64, copy=False)
