"""Check one node: form its classes, suppress what violates, measure the loss."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal

from dbt_anonymize.arrays import Bools, Ints
from dbt_anonymize.extensions.search.grouped import GroupedClasses
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.losses.base import InformationLoss
from dbt_anonymize.extensions.search.results import CheckedNode
from dbt_anonymize.extensions.search.rollup import Grouper, UngroupedNode
from dbt_anonymize.extensions.search.unavoidable import is_impossible, least_suppressed
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.table import Node, Table


@dataclass(frozen=True)
class Check:
    """Verdict on a node, and its consequences for others.

    Attributes
    ----------
    proves_finer_infeasible : bool
        True if no finer node is feasible either.
    classes : GroupedClasses or None
        None if the check needed none.
    always_suppressed : bool array (classes,) or None
        Classes whose records are suppressed at every finer feasible node too.
    least_loss : float
        Lower bound of the loss of this node and all finer ones.
    small_rows : int array or None
        Rows of the table in classes that are too small, where nothing may be suppressed.
    is_hopeless : bool
        True if ``least_loss`` is at least ``best``, so that the check ended early.
    least_suppressed : int or None
        Violating records that must be suppressed in finer nodes too, if others need not be.
    """

    result: CheckedNode
    proves_finer_infeasible: bool
    classes: GroupedClasses | None = None
    always_suppressed: Bools | None = None
    least_loss: float = 0.0
    small_rows: Ints | None = None
    is_hopeless: bool = False
    least_suppressed: int | None = None


class Checker:
    """Check nodes of one table within its level bounds, or coarser.

    ``suppression_limit`` is a share of the records, 0 to 1, rounded down to whole records.
    ``must_release``: a node is feasible only if it releases a record.
    """

    def __init__(
        self,
        table: Table,
        guarantees: Guarantees,
        loss: InformationLoss,
        suppression_limit: Decimal,
        *,
        must_release: bool = False,
    ):
        self.table = table
        self.guarantees = guarantees
        self.loss = loss
        self.grouper = Grouper(
            table,
            Lattice.of(table).lowest,
            values=bool(guarantees.attributes or guarantees.record_limits),
            targets=loss.needs_targets,
        )
        self.most_suppressed = int(suppression_limit * table.total)
        self.checked = 0
        self.least_per_suppressed = loss.least_per_suppressed(table)
        self._must_release = must_release
        # True if nodes above a feasible one without suppression are feasible and, with suppression,
        # coarser nodes never suppress more records.
        self.is_monotone = guarantees.is_monotone_in_generalization and (
            self.most_suppressed == 0 or guarantees.is_monotone_in_suppression
        )

    def check(
        self,
        node: Node,
        k: int = 0,
        best: float = math.inf,
        *,
        forms_classes: bool = False,
    ) -> Check:
        """Check a node; ``k`` may ask for larger released classes than the guarantees.

        The check ends early if the node loses at least ``best``; ``forms_classes`` forms its
        classes even so.
        """
        self.checked += 1
        size = max(k, self.guarantees.min_class_size)
        ungrouped = self.grouper.ungrouped(node)
        check = self._check_without_classes(node, ungrouped, size, best)
        if check is not None:
            return replace(check, classes=ungrouped.classes()) if forms_classes else check
        classes = ungrouped.classes()
        small = classes.people < size
        least_suppressed = self._least_suppressed(classes, small, size)
        if least_suppressed > self.most_suppressed:
            return _infeasible(node, least_suppressed, classes, proves_finer_infeasible=True)
        check = self._check_classes(node, classes, small)
        return check if self.is_monotone else replace(check, least_suppressed=least_suppressed)

    def suppressed_classes(self, node: Node, k: int) -> tuple[GroupedClasses, Bools]:
        """Return the classes of a feasible node, and a mask of the suppressed ones."""
        classes = self.grouper.classes(node)
        small = classes.people < max(k, self.guarantees.min_class_size)
        return classes, self._suppressed(classes, self._violating(classes, small)[0])

    def _suppressed(self, classes: GroupedClasses, violating: Bools) -> Bools:
        """Return a mask of the classes suppressed by class rules and by release rules."""
        if not self.guarantees.release_rules:
            return violating
        order = self.loss.per_class(self.table, classes)
        return self.guarantees.suppress(classes, violating, order, self.most_suppressed)

    def _least_suppressed(self, classes: GroupedClasses, small: Bools, size: int) -> int:
        """Return a lower bound of the records that this node and all finer ones suppress."""
        if self.is_monotone or not self.guarantees.record_limits:
            return int(classes.records[small].sum())
        return least_suppressed(self.guarantees, classes, size)

    def _check_classes(self, node: Node, classes: GroupedClasses, small: Bools) -> Check:
        is_proof = self.is_monotone
        violating, always_suppressed = self._violating(classes, small)
        count = int(classes.records[violating].sum())
        if count > self.most_suppressed or is_impossible(self.guarantees, classes):
            return _infeasible(
                node, count, classes, always_suppressed, proves_finer_infeasible=is_proof
            )
        suppressed = self._suppressed(classes, violating)
        count = int(classes.records[suppressed].sum())
        if count > self.most_suppressed:
            return _infeasible(
                node, count, classes, always_suppressed, proves_finer_infeasible=is_proof
            )
        released = classes.people[~suppressed & (classes.records > 0)]
        if self._must_release and not len(released):
            is_all_gone = int(classes.records[always_suppressed].sum()) == self.table.total
            return _infeasible(
                node, count, classes, always_suppressed, proves_finer_infeasible=is_all_gone
            )
        loss = self.loss.loss(self.table, classes, suppressed)
        smallest = int(released.min()) if len(released) else 0
        return Check(
            CheckedNode(node, smallest, count, loss, True), False, classes, always_suppressed
        )

    def _check_without_classes(
        self, node: Node, ungrouped: UngroupedNode, size: int, best: float
    ) -> Check | None:
        """Check a node by counts of records in small classes; None if these do not settle it.

        A part of a small class is small too, for any guarantees.
        """
        if self.most_suppressed >= self.table.total:
            return None
        count = ungrouped.least_small_records(size)
        if count > self.most_suppressed:
            is_witnessed = self.most_suppressed == 0
            return Check(
                CheckedNode(node, 0, count, math.nan, False),
                True,
                small_rows=ungrouped.small_rows(size) if is_witnessed else None,
            )
        least_loss = count * self.least_per_suppressed
        if least_loss > 0.0 and least_loss >= best:
            result = CheckedNode(node, 0, count, math.nan, False)
            return Check(result, False, least_loss=least_loss, is_hopeless=True)
        return None

    def _violating(self, classes: GroupedClasses, small: Bools) -> tuple[Bools, Bools]:
        """Return masks of violating classes, and of those that violate in all finer nodes, too."""
        has_records = classes.records > 0
        small = small & has_records
        if self.guarantees.is_class_size_alone:
            return small, small
        violating = self.guarantees.violating(classes) | small
        always_suppressed = (
            violating & has_records if self.guarantees.is_monotone_in_suppression else small
        )
        return violating, always_suppressed


def _infeasible(
    node: Node,
    count: int,
    classes: GroupedClasses | None = None,
    always_suppressed: Bools | None = None,
    *,
    proves_finer_infeasible: bool,
) -> Check:
    result = CheckedNode(node, 0, count, math.nan, False)
    return Check(result, proves_finer_infeasible, classes, always_suppressed)
