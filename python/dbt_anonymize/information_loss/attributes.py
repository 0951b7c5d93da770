"""Measures that are a vector over the quasi-identifiers, put together with weights."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import cached_property

import numpy as np

from dbt_anonymize.information_loss.aggregates import aggregate, aggregate_rows, rank_rows
from dbt_anonymize.information_loss.base import InformationLoss, Suppressed, TableSums
from dbt_anonymize.privacy.table import BoolArray, Classes, FloatArray, Node, Table

# ARX rounds the loss of an attribute down to this many parts of 1.
_PARTS = 1e10
# A loss that is added up in another order may be rounded down one step further.
_ONE_STEP = 1.01e-10


class PerAttribute(InformationLoss):
    """A measure with one loss per quasi-identifier."""

    default_aggregate: str

    def __init__(self, *, gs: float = 0.5, aggregate: str | None = None) -> None:
        super().__init__(gs=gs)
        self.aggregate = aggregate or self.default_aggregate

    @abstractmethod
    def of_attribute(self, sums: TableSums, gone: Suppressed, position: int, level: int) -> float:
        """Return the loss of one quasi-identifier at a level, before weights."""

    def bound_of_attribute(
        self, sums: TableSums, gone: Suppressed, position: int, level: int
    ) -> float:
        """Return a lower bound of it where these and perhaps more records are suppressed."""
        return self.of_attribute(sums, gone, position, level)

    def per_attribute(self, table: Table, classes: Classes, suppressed: BoolArray) -> FloatArray:
        """Return the loss of each quasi-identifier, before weights, for a table with records."""
        sums = self.sums(table)
        gone = Suppressed.of_classes(sums, classes, suppressed)
        losses = [self.of_attribute(sums, gone, *at) for at in enumerate(classes.levels)]
        return np.array(losses)

    def attribute_bounds(
        self, table: Table, suppressed: BoolArray | None
    ) -> tuple[FloatArray, ...]:
        """Return lower bounds of the loss of each quasi-identifier, one per level."""
        if table.total == 0:
            return tuple(np.zeros(attribute.height + 1) for attribute in table.attributes)
        sums = self.sums(table)
        gone = Suppressed.of_rows(sums, suppressed)
        return tuple(
            np.array(
                [
                    self.bound_of_attribute(sums, gone, position, level)
                    for level in range(attribute.height + 1)
                ]
            )
            for position, attribute in enumerate(table.attributes)
        )

    def combine(self, losses: FloatArray) -> FloatArray:
        """Put losses (nodes, attributes) together; ``rank`` gives the largest."""
        if self._sums is None:
            raise ValueError("combine needs the weights of a table: ask for its bounds first")
        return aggregate_rows(self.aggregate, losses, self._sums.weights)

    def _loss(self, sums: TableSums, classes: Classes, suppressed: BoolArray) -> float:
        losses = self.per_attribute(sums.table, classes, suppressed)
        return aggregate(self.aggregate, losses, sums.weights)

    def _lower_bound(self, sums: TableSums, node: Node) -> float:
        gone = Suppressed.of_rows(sums, None)
        bounds = [self.bound_of_attribute(sums, gone, *at) for at in enumerate(node)]
        return aggregate(self.aggregate, np.array(bounds), sums.weights)


class Loss(PerAttribute):
    """Mean share of the hierarchy that the labels cover, 1 for suppressed (Iyengar 2002).

    Scaled per attribute so that a single leaf everywhere is 0 and the root everywhere is 1. With a
    suppression factor s below 1 a suppressed record costs share + s (1 - share).
    """

    name = "loss"
    default_aggregate = "geometric_mean"
    is_monotone_in_suppression = True

    def of_attribute(self, sums: TableSums, gone: Suppressed, position: int, level: int) -> float:
        """Return the loss of one quasi-identifier at a level, before weights."""
        lost = gone.shares(position, level)
        kept = self.generalization_factor * (sums.share_totals[position][level] - lost)
        added = kept + lost + self.suppression_factor * (gone.records - lost)
        smallest_share = sums.table.attributes[position].smallest_share
        least = self.generalization_factor * sums.total * smallest_share
        # A hierarchy of one row has nothing to lose.
        scaled = (added - least) / (sums.total - least) if least < sums.total else 0.0
        return _rounded_down(max(scaled, 0.0))

    def bound_of_attribute(
        self, sums: TableSums, gone: Suppressed, position: int, level: int
    ) -> float:
        """Return the loss itself: suppressing a record never lowers it."""
        return max(self.of_attribute(sums, gone, position, level) - _ONE_STEP, 0.0)

    def per_class(self, table: Table, classes: Classes) -> FloatArray:
        """Return the aggregate of records times share of each class."""
        sums, leaves = self.sums(table), table.leaves[classes.first]
        shares = [
            sums.shares[position][level][leaves[:, position]]
            for position, level in enumerate(classes.levels)
        ]
        losses = np.column_stack(shares) * classes.records[:, np.newaxis]
        if self.aggregate == "rank":
            return rank_rows(losses, sums.weights)
        return aggregate_rows(self.aggregate, losses, sums.weights)


class Precision(PerAttribute):
    """Mean level over the height of the hierarchy, 1 for suppressed (Sweeney 2002)."""

    name = "precision"
    default_aggregate = "arithmetic_mean"

    @property
    def is_monotone_in_suppression(self) -> bool:
        """Whether the root costs no more than suppression."""
        return self.generalization_factor <= self.suppression_factor

    def of_attribute(self, sums: TableSums, gone: Suppressed, position: int, level: int) -> float:
        """Return the loss of one quasi-identifier at a level, before weights."""
        kept = self._kept(sums, position, level)
        share = gone.records / sums.total
        return kept + share * (self.suppression_factor - kept)

    def bound_of_attribute(
        self, sums: TableSums, gone: Suppressed, position: int, level: int
    ) -> float:
        """Return the loss itself, or that of suppressing everything where that is cheaper."""
        if self._kept(sums, position, level) >= self.suppression_factor:
            return self.suppression_factor * (1.0 - 1e-15)
        return self.of_attribute(sums, gone, position, level) * (1.0 - 1e-15)

    def _kept(self, sums: TableSums, position: int, level: int) -> float:
        # A hierarchy that is the root alone has nothing to lose.
        return self.generalization_factor * level / max(sums.table.attributes[position].height, 1)


class MonotonePrecision(Precision):
    """Precision without regard to suppression."""

    name = "monotone_precision"
    is_monotone_in_suppression = True

    def of_attribute(
        self,
        sums: TableSums,
        gone: Suppressed,
        position: int,
        level: int,
    ) -> float:
        """Return the loss of one quasi-identifier at a level, before weights."""
        return self._kept(sums, position, level)

    def bound_of_attribute(
        self, sums: TableSums, gone: Suppressed, position: int, level: int
    ) -> float:
        """Return the loss itself."""
        return self.of_attribute(sums, gone, position, level)


class Height(PerAttribute):
    """Level of each quasi-identifier; suppression does not count."""

    name = "height"
    default_aggregate = "sum"
    is_monotone_in_suppression = True

    def of_attribute(
        self,
        sums: TableSums,
        gone: Suppressed,
        position: int,
        level: int,
    ) -> float:
        """Return the level."""
        return float(level)


class _EntropySums(TableSums):
    """Bits that generalization loses, per attribute and level."""

    @cached_property
    def lost_bits(self) -> list[list[float]]:
        """Sum over the records of log2(records of the label / records of the leaf)."""
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
    def all_bits(self) -> list[float]:
        """Bits of each attribute of the original table."""
        occurring = (counts[counts > 0] for counts in self.leaf_counts)
        return [float(records @ np.log2(self.total / records)) for records in occurring]


class MonotoneNonUniformEntropy(PerAttribute):
    """Bits lost of the leaves given their labels, without regard to suppression.

    De Waal & Willenborg 1999; ARX calls it "Non-uniform entropy".
    """

    name = "monotone_non_uniform_entropy"
    default_aggregate = "sum"
    is_monotone_in_suppression = True

    def sums(self, table: Table) -> _EntropySums:
        """Return the sums over a table, made at the first call with it."""
        if not isinstance(self._sums, _EntropySums) or self._sums.table is not table:
            self._sums = _EntropySums(table)
        return self._sums

    def of_attribute(self, sums: TableSums, gone: Suppressed, position: int, level: int) -> float:
        """Return the loss of one quasi-identifier at a level, before weights."""
        lost = self.generalization_factor * self.sums(sums.table).lost_bits[position][level]
        return _rounded_down(
            lost + self.suppression_factor * self._suppressed(gone, position, level)
        )

    def _suppressed(
        self,
        gone: Suppressed,
        position: int,
        level: int,
    ) -> float:
        return 0.0


class NonUniformEntropy(MonotoneNonUniformEntropy):
    """Bits lost: of leaves given their labels, and of labels given that they are suppressed.

    Generalization counts over all records, suppressed ones included.
    """

    name = "non_uniform_entropy"

    def bound_of_attribute(
        self, sums: TableSums, gone: Suppressed, position: int, level: int
    ) -> float:
        """Return the loss itself: each further record has bits of its own."""
        lost = self.of_attribute(sums, gone, position, level)
        return lost * (1.0 - 1e-12) if gone.records else lost

    def _suppressed(self, gone: Suppressed, position: int, level: int) -> float:
        if gone.records == 0:
            return 0.0
        counts = gone.label_counts(position, level)
        counts = counts[counts > 0]
        return float(counts @ np.log2(gone.records / counts))


class NormalizedNonUniformEntropy(NonUniformEntropy):
    """Non-uniform entropy over the bits of the original attribute.

    Above 1 where both terms are large: the definition adds them. An attribute with one value has
    no bits to lose.
    """

    name = "normalized_non_uniform_entropy"

    def of_attribute(self, sums: TableSums, gone: Suppressed, position: int, level: int) -> float:
        """Return the loss of one quasi-identifier at a level, before weights."""
        bits = self.sums(sums.table).all_bits[position]
        return super().of_attribute(sums, gone, position, level) / bits if bits > 0.0 else 0.0


def _rounded_down(loss: float) -> float:
    """Cut off after ten decimals, as ARX does: nodes that differ by rounding alone are equal."""
    return math.floor(loss * _PARTS) / _PARTS
