"""Measures that are one number over the equivalence classes."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from dbt_anonymize.errors import SearchError
from dbt_anonymize.information_loss.base import InformationLoss, TableSums, suppressed_records
from dbt_anonymize.privacy.distances import Distribution
from dbt_anonymize.privacy.table import BoolArray, Classes, FloatArray, IntArray, Node, Table

# A bound and a loss are added up in different orders.
_SLIGHTLY_LESS = 1.0 - 1e-12


class Discernibility(InformationLoss):
    """Records that each record cannot be told from: squared class sizes, N if suppressed.

    Bayardo & Agrawal 2005.
    """

    name = "discernibility"
    is_monotone_in_suppression = True

    def _loss(self, sums: TableSums, classes: Classes, suppressed: BoolArray) -> float:
        kept = classes.records[~suppressed]
        return float(kept @ kept + sums.total * suppressed_records(classes, suppressed))

    def _lower_bound(self, sums: TableSums, node: Node) -> float:
        # Squares are least when all classes are equal; a suppressed record costs more than any.
        return sums.total * sums.total / sums.most_classes(node)

    def _coarser_bound(self, sums: TableSums, classes: Classes) -> float:
        return float(classes.records @ classes.records)


class MonotoneDiscernibility(Discernibility):
    """Discernibility without regard to suppression (DM*)."""

    name = "monotone_discernibility"

    def _loss(self, sums: TableSums, classes: Classes, suppressed: BoolArray) -> float:
        return float(classes.records @ classes.records)


class AverageClassSize(InformationLoss):
    """Records over released classes; all suppressed records are one more class.

    LeFevre 2006, who also divides by k. It counts classes, of which none is generalized more or
    less, so that the factors have nothing to weigh; in ARX they do, and cheaper generalization
    raises the loss.
    """

    name = "average_class_size"
    is_monotone_in_suppression = True

    def _loss(self, sums: TableSums, classes: Classes, suppressed: BoolArray) -> float:
        has_records = classes.records > 0
        kept = int(np.count_nonzero(has_records & ~suppressed))
        is_any_suppressed = bool((has_records & suppressed).any())
        return sums.total / (kept + is_any_suppressed)

    def _lower_bound(self, sums: TableSums, node: Node) -> float:
        return sums.total / sums.most_classes(node)

    def _coarser_bound(self, sums: TableSums, classes: Classes) -> float:
        return sums.total / int(np.count_nonzero(classes.records))


class Ambiguity(InformationLoss):
    """Combinations of leaves that each record may stand for; all of them if suppressed.

    Goldberger & Tassa 2010.
    """

    name = "ambiguity"
    is_monotone_in_suppression = True

    def _loss(self, sums: TableSums, classes: Classes, suppressed: BoolArray) -> float:
        kept = self._generalized(sums, classes, np.flatnonzero(~suppressed))
        return kept + suppressed_records(classes, suppressed) * math.exp2(sums.log_domain)

    def _generalized(self, sums: TableSums, classes: Classes, rows: IntArray) -> float:
        return float(classes.records[rows] @ np.exp2(sums.class_log_cells(classes, rows)))

    def _lower_bound(self, sums: TableSums, node: Node) -> float:
        # The mean of products is at least 2 to the mean of their logarithms (Jensen).
        return float(sums.total * 2.0 ** sums.mean_log_cells(node) * _SLIGHTLY_LESS)

    def _coarser_bound(self, sums: TableSums, classes: Classes) -> float:
        rows = np.arange(len(classes.records))
        return self._generalized(sums, classes, rows) * _SLIGHTLY_LESS


class _TupleSums(TableSums):
    @cached_property
    def log_frequency(self) -> float:
        """Sum over the distinct original rows of f log2 f, f their share of the records."""
        rows = np.flatnonzero(self.table.records)
        _, position = np.unique(self.table.leaves[rows], axis=0, return_inverse=True)
        counts = np.bincount(position.reshape(-1), weights=self.table.records[rows])
        frequencies = counts / self.total
        return float(frequencies @ np.log2(frequencies))


class KLDivergence(InformationLoss):
    """Bits by which the release, spread evenly over its labels, misses the original frequencies.

    The sum over distinct rows of f log2(f / o) (Kullback & Leibler 1951). ARX adds one term per
    record instead of one per distinct row, which also changes which node is best.
    """

    name = "kl_divergence"
    # A suppressed NULL, which covers its whole domain anyway, may bring the two closer.
    is_monotone_in_suppression = False

    def sums(self, table: Table) -> _TupleSums:
        """Return the sums over a table, made at the first call with it."""
        if not isinstance(self._sums, _TupleSums) or self._sums.table is not table:
            self._sums = _TupleSums(table)
        return self._sums

    def _loss(self, sums: TableSums, classes: Classes, suppressed: BoolArray) -> float:
        rows = np.flatnonzero(~suppressed & (classes.records > 0))
        released = classes.records[rows] / sums.total
        divergence = self.sums(sums.table).log_frequency
        divergence += float(released @ (sums.class_log_cells(classes, rows) - np.log2(released)))
        if gone := suppressed_records(classes, suppressed) / sums.total:
            divergence += gone * (sums.log_domain - math.log2(gone))
        return divergence

    def _lower_bound(self, sums: TableSums, node: Node) -> float:
        # Without the entropy of the classes, which suppression lowers to no less than 0.
        return self.sums(sums.table).log_frequency + sums.mean_log_cells(node) - 1e-9


class EntropyBasedLoss(InformationLoss):
    """Share of the bits of the domain that the labels of each record cover (Wan et al. 2015)."""

    name = "entropy_based_loss"

    @property
    def is_monotone_in_suppression(self) -> bool:
        """Whether the root costs no more than suppression."""
        return self.generalization_factor <= self.suppression_factor

    def _loss(self, sums: TableSums, classes: Classes, suppressed: BoolArray) -> float:
        rows = np.flatnonzero(~suppressed)
        kept = float(classes.records[rows] @ self._of_classes(sums, classes, rows))
        gone = suppressed_records(classes, suppressed)
        return self.generalization_factor * kept + self.suppression_factor * gone

    def _of_classes(self, sums: TableSums, classes: Classes, rows: IntArray) -> FloatArray:
        return sums.class_log_cells(classes, rows) / _bits(sums)

    def _lower_bound(self, sums: TableSums, node: Node) -> float:
        # A record costs min(g x, s) with x, g, s in [0, 1], which is at least g s x.
        generalized = sums.total * sums.mean_log_cells(node) / _bits(sums)
        return self.generalization_factor * self.suppression_factor * generalized * _SLIGHTLY_LESS

    def per_class(self, table: Table, classes: Classes) -> FloatArray:
        """Return records times the loss of each class."""
        rows = np.arange(len(classes.records))
        return classes.records * self._of_classes(self.sums(table), classes, rows)


class Classification(InformationLoss):
    """Share of the records whose class does not tell their value of the target (Iyengar 2002).

    A record outside the majority of its class costs the generalization factor; a record of a class
    without a unique majority, or suppressed, costs the suppression factor. In a tie Iyengar takes
    one of the values as the majority; here, as in ARX, a tie predicts nobody. ARX lets a suppressed
    record cost ``gs``, half an error by default.
    """

    name = "classification"

    @property
    def is_monotone_in_suppression(self) -> bool:
        """Whether no record costs more than a suppressed one."""
        return self.generalization_factor <= self.suppression_factor

    def _loss(self, sums: TableSums, classes: Classes, suppressed: BoolArray) -> float:
        targets, majority = self._majorities(classes, suppressed)
        winners = targets.sums(targets.counts == majority[targets.classes])
        is_tied = winners > 1
        tied = float(targets.totals[is_tied].sum())
        outside = float((targets.totals - majority)[~is_tied].sum())
        gone = suppressed_records(classes, suppressed)
        cost = self.generalization_factor * outside + self.suppression_factor * (tied + gone)
        return cost / self._most(sums)

    def _majorities(
        self, classes: Classes, suppressed: BoolArray
    ) -> tuple[Distribution, FloatArray]:
        if classes.targets is None:
            raise SearchError(
                "classification as measure of a search needs a target outside the "
                "quasi-identifiers; the table has none. Declare one, or choose another measure."
            )
        targets = Distribution.of(classes.targets, len(classes.records), suppressed)
        return targets, np.maximum(targets.largest(targets.counts.astype(np.float64)), 0.0)

    def _most(self, sums: TableSums) -> float:
        return sums.total * max(self.generalization_factor, self.suppression_factor)

    def _lower_bound(self, sums: TableSums, node: Node) -> float:
        return 0.0

    def _coarser_bound(self, sums: TableSums, classes: Classes) -> float:
        # Merging classes never brings a record into a majority.
        targets, majority = self._majorities(classes, np.zeros(len(classes.records), np.bool_))
        outside = float((targets.totals - majority).sum())
        cheapest = min(self.generalization_factor, self.suppression_factor)
        return cheapest * outside / self._most(sums) * _SLIGHTLY_LESS


def _bits(sums: TableSums) -> float:
    """Return the bits of the domain; 1 where there is but one combination and nothing to lose."""
    return sums.log_domain or 1.0
