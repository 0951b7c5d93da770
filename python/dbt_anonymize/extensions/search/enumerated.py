"""Exact search of a lattice whose nodes fit into arrays.

Nodes are checked from coarse to fine by the entropy of their labels, which predicts class sizes
well. A node is skipped if a coarser one has shown that it is infeasible or loses too much: with
monotone guarantees an infeasible node excludes all finer ones, and the records that a node must
suppress are suppressed by all finer ones, which bounds their losses. With suppression, nodes whose
check should exclude many others are predicted and checked first (`Guide`), even if they cannot be
the optimum: infeasible nodes and, by measures that only checked nodes bound, nodes whose classes
lose too much however they are merged. Without suppression, a record in a small class excludes all
nodes at which its class is small. With guarantees that are not monotone, nodes are checked in the
order of their bounds instead.
"""

from __future__ import annotations

import math

import numpy as np

from dbt_anonymize.arrays import Bools, Ints
from dbt_anonymize.extensions.search.checking import Check, Checker
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.grouped import GroupedClasses
from dbt_anonymize.extensions.search.guide import Guide
from dbt_anonymize.extensions.search.lattice import Box, Lattice
from dbt_anonymize.extensions.search.leaders import Leaders
from dbt_anonymize.extensions.search.losses.base import of_levels
from dbt_anonymize.extensions.search.results import CheckedNode, Progress, Status, VisitedNodes
from dbt_anonymize.extensions.search.witnesses import Witnesses
from dbt_anonymize.privacy.table import Node

# A member of an enumeration is looked up at every use.
_OPEN = int(Status.OPEN)
# Infeasible nodes before the first witness.
_BEFORE_WITNESSES = 8
# Up to this many nodes per row of the table, prediction saves more time than it takes, if nodes
# have bounds before their checks.
NODES_PER_ROW = 4


class EnumeratedSearch:
    """Exact search with arrays of all nodes; released classes have at least ``k`` subjects.

    It finds the best ``leaders`` nodes.
    """

    def __init__(self, checker: Checker, lattice: Lattice, *, k: int = 0, leaders: int = 1):
        self.checker = checker
        self.lattice = lattice
        self.status = np.zeros(lattice.shape, dtype=np.uint8)
        checker.grouper.expect(lattice, self.status)
        self.checked_nodes: dict[int, CheckedNode] = {}
        self.leaders = Leaders(leaders)
        self.is_complete = False
        self._levels = lattice.levels(np.arange(lattice.size))
        # Lower bounds of the losses of nodes, without and with suppression.
        bounds = checker.loss.lower_bounds(checker.table, self._levels)
        self._unsuppressed = bounds.reshape(lattice.shape)
        self._bound = self._unsuppressed.copy()
        # Increase of the bounds without suppression by the suppression of coarser nodes.
        self._raised_by = np.zeros(lattice.shape)
        # If coarser nodes prove nothing, only bounds exclude nodes, which are checked in their
        # order.
        self._by_bound = not checker.guarantees.is_monotone_in_generalization
        self._rank = self._bound
        if not self._by_bound:
            self._rank = lattice.add_up(checker.grouper.entropies)
        self._guide: Guide | None = None
        most, each = checker.most_suppressed, checker.least_per_suppressed
        by_classes = checker.loss.is_bounded_by_classes
        is_small = lattice.size <= NODES_PER_ROW * len(checker.table.records)
        # Without suppression, prediction takes longer than the checks that it saves.
        if most > 0 and not self._by_bound and (by_classes or is_small):
            self._guide = Guide(lattice, self._rank, most, each, by_classes=by_classes)
        # Rank of open nodes, infinite for others; and a flat view of it.
        self._order = self._rank.copy()
        self._next = self._order.reshape(-1)
        self._k = k
        self._starts: list[int] = []
        self._excluded: list[int] = []
        self._infeasible = 0
        self._witnesses: Witnesses | None = None
        # The best node, once it has no open node just below.
        self._descended_from: CheckedNode | None = None

    def exclude(self, node: Node) -> None:
        """Exclude exactly this node."""
        self._excluded.append(self.lattice.index(node))
        self._close_excluded()

    def _close_excluded(self) -> None:
        for index in self._excluded:
            self._close(index, Status.PRUNED)
            if self._guide is not None:
                self._guide.leave_out(index)

    def start(self, node: Node) -> None:
        """Check a promising node first, even without time."""
        self._starts.append(self.lattice.index(node))

    def run(self, clock: Clock) -> CheckedNode | None:
        """Return the feasible node with the least loss, or the best until the time is over."""
        self.leaders.restart(self.checked_nodes.values())
        best = self.leaders.best
        if self.leaders.last is not None:
            self._prune(self.leaders.last)
        self.is_complete = False
        # The coarsest node, the likeliest to be feasible, is checked even without time.
        while self._starts or not (self.checked_nodes and clock.is_over()):
            index = self._descend(best)
            if index is None:
                index = self._choose()
            if index is None:
                self.is_complete = True
                break
            best = self._visit(index)
            clock.report(lambda best=best: self.progress(best))  # type: ignore[misc]
        clock.report(lambda: self.progress(best), is_last=True)
        return best

    def _descend(self, best: CheckedNode | None) -> int | None:
        """Return the most promising open node just below the best; None without any.

        An early good node prunes most of the others. Without suppression, infeasible nodes exclude
        them instead.
        """
        if best is None or best is self._descended_from:
            return None
        if self.checker.most_suppressed == 0:
            return None
        bound, rank, status = (a.reshape(-1) for a in (self._bound, self._rank, self.status))
        lowest = min(
            (i for i in self.lattice.just_finer_indices(best.node) if status[i] == _OPEN),
            key=lambda index: (bound[index], rank[index], index),
            default=None,
        )
        if lowest is None:
            self._descended_from = best
        return lowest

    def _choose(self) -> int | None:
        top = self.lattice.size - 1
        if not self.checked_nodes and self.status.reshape(-1)[top] == _OPEN:
            return top
        while self._starts:
            start = self._starts.pop()
            if self.status.reshape(-1)[start] == _OPEN:
                return start
        index = int(self._next.argmin())
        if self._next[index] == math.inf:
            return None
        suggested = self._suggestion(self.leaders.last)
        return index if suggested is None else suggested

    def _suggestion(self, best: CheckedNode | None) -> int | None:
        if self._guide is None:
            return None
        loss = math.inf if best is None else float(best.loss)
        return self._guide.suggest(self.status, self._unsuppressed, loss)

    def require(self, k: int) -> None:
        """Require classes of at least ``k`` subjects from now on; never fewer than before.

        Infeasible nodes stay infeasible and bounds valid, as only more is suppressed. Nodes whose
        smallest class is now too small are checked again.
        """
        self._k = k
        # These were for smaller classes; the bounds that they raised stay.
        self._raised_by[:] = 0.0
        self._descended_from = None
        if self._guide is not None:
            self._guide.forget()
        loss, has_rules = self.checker.loss, self.checker.guarantees.release_rules
        self.status[self.status == Status.PRUNED] = _OPEN
        status, bound = self.status.reshape(-1), self._bound.reshape(-1)
        for index, checked in list(self.checked_nodes.items()):
            if checked.is_feasible and checked.k >= k:
                continue
            if checked.is_feasible or has_rules:
                if checked.is_feasible and loss.is_monotone_in_suppression and not has_rules:
                    bound[index] = max(bound[index], float(checked.loss))
                del self.checked_nodes[index]
                status[index] = _OPEN
        np.copyto(self._order, np.where(self.status == _OPEN, self._rank, math.inf))
        if self._guide is not None:
            for index in self.checked_nodes:
                self._guide.leave_out(index)
        self._close_excluded()

    def _visit(self, index: int) -> CheckedNode | None:
        """Check a node; return the best one."""
        node: Node = tuple(self._levels[index].tolist())
        is_open = self.status.reshape(-1)[index] == _OPEN
        # A suggested node is checked for the nodes that it excludes, whatever its own bound.
        check = self.checker.check(
            node,
            self._k,
            math.inf if self.leaders.last is None else self.leaders.last.loss,
            forms_classes=self._guide is not None and self._guide.is_worth_forming(index),
        )
        result = check.result
        self._observe(index, check)
        if check.is_hopeless:
            self._prune_finer(check)
        else:
            self.checked_nodes[index] = result
            self._close(index, Status.CHECKED)
        is_leading = result.is_feasible and self.leaders.add(result)
        if check.proves_finer_infeasible:
            self._exclude_finer(node)
            if check.small_rows is not None:
                self._exclude_by_witness(check.small_rows)
        # The suppression of a closed node hardly raises the bounds of open ones.
        is_raised = is_open and self._raise_bounds(index, check)
        if self.leaders.last is not None and (is_leading or is_raised):
            self._prune(self.leaders.last)
        return self.leaders.best

    def _observe(self, index: int, check: Check) -> None:
        """Pass a check to the guide."""
        result, least = check.result, check.least_suppressed
        violating = result.suppressed if least is None else least
        if self._guide is not None:
            self._guide.observe(index, violating)
            # The classes of a feasible node may exclude coarser ones.
            is_settled = result.is_feasible and not self._guide.by_classes
            if is_settled and self.checker.is_monotone:
                self._guide.settle(self.lattice.coarser(result.node))

    def _prune_finer(self, check: Check) -> None:
        """Prune a node and all finer ones, whose suppression loses too much."""
        box = self.lattice.finer(check.result.node)
        np.maximum(self._bound[box], check.least_loss, out=self._bound[box])
        status = self.status[box]
        status[status == _OPEN] = Status.PRUNED
        self._order[box] = math.inf

    def bound(self, best: CheckedNode | None) -> float:
        """Return a lower bound of the loss of all feasible nodes."""
        is_open = self.status == _OPEN
        least = math.inf if best is None else float(best.loss)
        if not is_open.any():
            return least
        return min(float(self._bound[is_open].min()), least)

    def progress(self, best: CheckedNode | None) -> Progress:
        """Return the progress of the search."""
        settled = int(np.count_nonzero(self.status))
        return Progress(len(self.checked_nodes), settled, self.lattice.size, best)

    def visited(self) -> VisitedNodes:
        """Return the checked nodes, and the excluded ones."""
        status = self.status.reshape(-1)
        excluded = np.flatnonzero((status != _OPEN) & (status != Status.CHECKED))
        levels = self.lattice.levels(excluded)
        return VisitedNodes(tuple(self.checked_nodes.values()), levels, status[excluded])

    def _close(self, index: int, status: Status) -> None:
        self._next[index] = math.inf
        self.status.reshape(-1)[index] = status

    def _exclude_finer(self, node: Node) -> None:
        box = self.lattice.finer(node)
        status = self.status[box]
        status[status == _OPEN] = Status.INFEASIBLE
        self._order[box] = math.inf
        if self._guide is not None:
            self._guide.settle(box)

    def _exclude_by_witness(self, rows: Ints) -> None:
        """Exclude all nodes at which the rarest of some records is in a small class, too.

        This pays off if many nodes are infeasible and the others have bounds before their checks.
        """
        table, loss = self.checker.table, self.checker.loss
        self._infeasible += 1
        is_early = self._infeasible < _BEFORE_WITNESSES
        if is_early or not loss.has_attribute_bounds or table.subject is not None:
            return
        if self._witnesses is None:
            self._witnesses = Witnesses(table, self.lattice)
        row = self._witnesses.choose(rows)
        if row is None:
            return
        size = max(self._k, self.checker.guarantees.min_class_size)
        is_small = (self._witnesses.class_sizes(row) < size) & (self.status == _OPEN)
        self.status[is_small] = Status.INFEASIBLE
        self._order[is_small] = math.inf

    def _raise_bounds(self, index: int, check: Check) -> bool:
        """Bound coarser nodes by the loss of this one, and finer ones by its suppression.

        Return False if the check formed no classes.
        """
        if check.classes is None:
            return False
        is_excluding = check.proves_finer_infeasible or check.is_hopeless
        bounds_coarser = self.checker.loss.is_bounded_by_classes
        is_guided = self._guide is not None and self._guide.by_classes
        if bounds_coarser and (not is_excluding or is_guided):
            self._bound_coarser(index, check.classes)
        if not is_excluding and check.always_suppressed is not None:
            self._bound_finer(check.result.node, check.classes, check.always_suppressed)
        return True

    def _bound_coarser(self, index: int, classes: GroupedClasses) -> None:
        """Bound coarser nodes, whose classes are unions of the classes of this one."""
        size = max(self._k, self.checker.guarantees.min_class_size)
        coarser = self.checker.loss.coarser_bound(self.checker.table, classes, size)
        if self._guide is not None:
            self._guide.observe_bound(index, coarser)
        box = self.lattice.coarser(classes.levels)
        for bounds in (self._unsuppressed, self._bound):
            np.maximum(bounds[box], coarser, out=bounds[box])
        self._add_suppressed(box)

    def _bound_finer(self, node: Node, classes: GroupedClasses, always_suppressed: Bools) -> None:
        if not always_suppressed.any():
            return
        loss, table = self.checker.loss, self.checker.table
        box = self.lattice.finer(node)
        if not loss.has_attribute_bounds:
            size = max(self._k, self.checker.guarantees.min_class_size)
            increase = loss.suppression_bound(table, classes, always_suppressed, size)
            np.maximum(self._raised_by[box], increase, out=self._raised_by[box])
            self._add_suppressed(box)
            return
        is_open_finer = np.zeros(self.lattice.shape, dtype=np.bool_)
        is_open_finer[box] = self.status[box] == _OPEN
        indices = np.flatnonzero(is_open_finer)
        if not len(indices):
            return
        by_attribute = loss.attribute_bounds(table, classes.table_rows(always_suppressed), node)
        assert by_attribute is not None
        raised = loss.combine(of_levels(by_attribute, self._levels[indices]))
        flat = self._bound.reshape(-1)
        flat[indices] = np.maximum(flat[indices], raised)
        if self._by_bound:
            self._next[indices] = flat[indices]

    def _add_suppressed(self, box: Box) -> None:
        """Add the suppression loss to the bounds."""
        increase = self._raised_by[box]
        if not increase.any():
            return
        bound = self._bound[box]
        raised = self.checker.loss.raised(self.checker.table, self._unsuppressed[box], increase)
        np.maximum(bound, raised, out=bound)
        if self._by_bound:
            self._order[box] = np.where(self.status[box] == _OPEN, bound, math.inf)

    def _prune(self, best: CheckedNode) -> None:
        is_hopeless = self._bound.reshape(-1) >= best.loss
        is_hopeless &= self._next < math.inf
        hopeless = np.flatnonzero(is_hopeless)
        if len(hopeless):
            self.status.reshape(-1)[hopeless] = Status.PRUNED
            self._next[hopeless] = math.inf
