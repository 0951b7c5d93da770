"""Exact search of a lattice whose nodes fit into arrays.

Nodes are checked from coarse to fine by the entropy of their labels, which predicts class sizes
well. A node is checked only if no coarser one has shown that it is infeasible or loses too much: an
infeasible node excludes all finer ones where the guarantees are monotone, and the records that a
node must suppress are suppressed by all finer ones, which bounds their losses. Nodes whose check
should exclude many others are predicted and checked first (`Guide`), though they may not be the
optimum themselves: infeasible ones, and by measures that only checked nodes bound also those whose
classes lose too much wherever they are merged. Where nothing may be suppressed, a record in a small
class excludes all nodes at which its class is small. Where the guarantees are not monotone, nodes
are checked in the order of their bounds instead.
"""

from __future__ import annotations

import math

import numpy as np

from dbt_anonymize.extensions.search.checking import Check, Checker
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.grouped import GroupedClasses
from dbt_anonymize.extensions.search.guide import Guide
from dbt_anonymize.extensions.search.lattice import Box, Lattice
from dbt_anonymize.extensions.search.leaders import Leaders
from dbt_anonymize.extensions.search.results import CheckedNode, Progress, Status, VisitedNodes
from dbt_anonymize.extensions.search.witnesses import Witnesses
from dbt_anonymize.information_loss.base import of_levels
from dbt_anonymize.privacy.table import BoolArray, IntArray, Node

# A member of an enumeration is looked up at every use.
_OPEN = int(Status.OPEN)
# Infeasible nodes before the first witness.
_BEFORE_WITNESSES = 8
# Nodes per row of the table up to which fewer checks save more than it takes to foresee them, where
# nodes are bounded before they are checked.
NODES_PER_ROW = 4


class EnumeratedSearch:
    """Exact search that knows of each node; released classes have at least ``k`` subjects.

    The best ``leaders`` nodes are found.
    """

    def __init__(self, checker: Checker, lattice: Lattice, *, k: int = 0, leaders: int = 1):
        self.checker = checker
        self.lattice = lattice
        self.status = np.zeros(lattice.shape, dtype=np.uint8)
        checker.grouper.expect(lattice, self.status)
        self.found: dict[int, CheckedNode] = {}
        self.leaders = Leaders(leaders)
        self.is_complete = False
        self._levels = lattice.levels(np.arange(lattice.size))
        # Lower bounds of what nodes lose without what they must suppress, and with it.
        bounds = checker.loss.lower_bounds(checker.table, self._levels)
        self._unsuppressed = bounds.reshape(lattice.shape)
        self._bound = self._unsuppressed.copy()
        # By how much what coarser nodes must suppress raises the bounds without it.
        self._raised_by = np.zeros(lattice.shape)
        # Where nothing is learned from coarser nodes, the bounds alone say what to leave out: then
        # the nodes are checked in their order.
        self._by_bound = not checker.guarantees.is_monotone_in_generalization
        self._rank = self._bound
        if not self._by_bound:
            self._rank = lattice.add_up(checker.grouper.entropies)
        self._guide: Guide | None = None
        most, each = checker.most_suppressed, checker.least_per_suppressed
        # Without suppression, infeasible nodes alone exclude more than their bounds do.
        by_classes = most > 0 and checker.loss.is_bounded_by_classes
        if not self._by_bound and self._is_worth_guiding(by_classes=by_classes):
            self._guide = Guide(lattice, self._rank, most, each, by_classes=by_classes)
        # Rank of the nodes still to be checked, infinite for others; and a view as one row.
        self._order = self._rank.copy()
        self._next = self._order.reshape(-1)
        self._k = k
        self._starts: list[int] = []
        self._excluded: list[int] = []
        self._infeasible = 0
        self._witnesses: Witnesses | None = None
        # The best node, once no open node is just below it.
        self._bottom_of_descent: CheckedNode | None = None

    def _is_worth_guiding(self, *, by_classes: bool) -> bool:
        """Return whether fewer checks save more than foreseeing them takes."""
        if self.checker.most_suppressed == 0 and not self.checker.is_monotone:
            return False
        return by_classes or NODES_PER_ROW * len(self.checker.table.records) >= self.lattice.size

    def exclude(self, node: Node) -> None:
        """Exclude exactly this node."""
        self._excluded.append(self.lattice.index(node))
        self._leave_out_excluded()

    def _leave_out_excluded(self) -> None:
        for index in self._excluded:
            self._close(index, Status.PRUNED)
            if self._guide is not None:
                self._guide.leave_out(index)

    def start(self, node: Node) -> None:
        """Check a promising node first, whatever the time."""
        self._starts.append(self.lattice.index(node))

    def run(self, clock: Clock) -> CheckedNode | None:
        """Return the feasible node with the least loss, or the best until the time is over."""
        self.leaders.restart(self.found.values())
        best = self.leaders.best
        if self.leaders.last is not None:
            self._prune(self.leaders.last)
        self.is_complete = False
        # The coarsest node is the likeliest to be feasible: looked at even if there is no time.
        while self._starts or not (self.found and clock.is_over()):
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
        """Return the open node just below the best that promises the most; None if none is open.

        A good node found early leaves out most of the others. Where nothing may be suppressed,
        others are left out by what is infeasible.
        """
        if best is None or best is self._bottom_of_descent:
            return None
        if self.checker.most_suppressed == 0:
            return None
        bound, rank, status = (a.reshape(-1) for a in (self._bound, self._rank, self.status))
        found = min(
            (i for i in self.lattice.just_finer_indices(best.node) if status[i] == _OPEN),
            key=lambda index: (bound[index], rank[index], index),
            default=None,
        )
        if found is None:
            self._bottom_of_descent = best
        return found

    def _choose(self) -> int | None:
        top = self.lattice.size - 1
        if not self.found and self.status.reshape(-1)[top] == _OPEN:
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
        """Ask for classes of at least ``k`` subjects from now on; never fewer than before.

        Infeasible nodes stay so and bounds stay valid, as only more is suppressed. Nodes whose
        smallest class is too small now are checked again.
        """
        self._k = k
        # Made for smaller classes than the bounds to come; what they raised stays.
        self._raised_by[:] = 0.0
        self._bottom_of_descent = None
        if self._guide is not None:
            self._guide.forget()
        loss, has_rules = self.checker.loss, self.checker.guarantees.release_rules
        self.status[self.status == Status.PRUNED] = _OPEN
        status, bound = self.status.reshape(-1), self._bound.reshape(-1)
        for index, found in list(self.found.items()):
            if found.is_feasible and found.k >= k:
                continue
            if found.is_feasible or has_rules:
                if found.is_feasible and loss.is_monotone_in_suppression and not has_rules:
                    bound[index] = max(bound[index], float(found.loss))
                del self.found[index]
                status[index] = _OPEN
        np.copyto(self._order, np.where(self.status == _OPEN, self._rank, math.inf))
        if self._guide is not None:
            for index in self.found:
                self._guide.leave_out(index)
        self._leave_out_excluded()

    def _visit(self, index: int) -> CheckedNode | None:
        """Check a node if it can be among the best; return the best."""
        node: Node = tuple(self._levels[index].tolist())
        is_open = self.status.reshape(-1)[index] == _OPEN
        # A suggested node is checked for what it excludes, whatever its own bound.
        check = self.checker.check(
            node,
            self._k,
            math.inf if self.leaders.last is None else self.leaders.last.loss,
            forms_classes=self._guide is not None and self._guide.is_worth_forming(index),
        )
        result = check.result
        self._observe(index, check)
        if check.is_hopeless:
            self._give_up(check)
        else:
            self.found[index] = result
            self._close(index, Status.CHECKED)
        is_leading = result.is_feasible and self.leaders.add(result)
        if check.proves_finer_infeasible:
            self._exclude_finer(node)
            if check.small_rows is not None:
                self._ask_a_witness(check.small_rows)
        # What a node suppresses that is not open itself hardly raises the bounds of any that is.
        is_raised = is_open and self._raise_bounds(index, check)
        if self.leaders.last is not None and (is_leading or is_raised):
            self._prune(self.leaders.last)
        return self.leaders.best

    def _observe(self, index: int, check: Check) -> None:
        """Let foresight learn."""
        result, about = check.result, check.about_suppressed
        violating = result.suppressed if about is None else about
        if self._guide is not None:
            self._guide.observe(index, violating)
            # By its classes a feasible node may exclude coarser ones.
            is_settled = result.is_feasible and not self._guide.by_classes
            if is_settled and self.checker.is_monotone:
                self._guide.settle(self.lattice.coarser(result.node))

    def _give_up(self, check: Check) -> None:
        """Exclude a node and all finer ones, whose suppression loses too much."""
        box = self.lattice.finer(check.result.node)
        np.maximum(self._bound[box], check.least_loss, out=self._bound[box])
        status = self.status[box]
        status[status == _OPEN] = Status.PRUNED
        self._order[box] = math.inf

    def bound(self, best: CheckedNode | None) -> float:
        """Return a lower bound of the loss of all feasible nodes, as far as is known."""
        is_open = self.status == _OPEN
        least = math.inf if best is None else float(best.loss)
        if not is_open.any():
            return least
        return min(float(self._bound[is_open].min()), least)

    def progress(self, best: CheckedNode | None) -> Progress:
        """Return how far the search is."""
        settled = int(np.count_nonzero(self.status))
        return Progress(len(self.found), settled, self.lattice.size, best)

    def visited(self) -> VisitedNodes:
        """Return what was learned."""
        status = self.status.reshape(-1)
        indices = np.flatnonzero(status)
        k = np.full(self.lattice.size, -1, dtype=np.int64)
        suppressed = k.copy()
        loss = np.full(self.lattice.size, math.nan)
        for index, found in self.found.items():
            k[index], suppressed[index], loss[index] = found.k, found.suppressed, found.loss
        return VisitedNodes(
            levels=self.lattice.levels(indices),
            k=k[indices],
            suppressed=suppressed[indices],
            loss=loss[indices],
            status=status[indices],
        )

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

    def _ask_a_witness(self, rows: IntArray) -> None:
        """Leave out all nodes at which the rarest of some records is in a small class, too.

        Worth it where many nodes are infeasible and the others are bounded before they are checked.
        """
        table, loss = self.checker.table, self.checker.loss
        self._infeasible += 1
        few = self._infeasible < _BEFORE_WITNESSES
        if few or not loss.has_attribute_bounds or table.subject is not None:
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
        """Bound coarser nodes by what this one loses, and finer ones by what it must suppress.

        Return whether that was worth trying.
        """
        if check.classes is None:
            return False
        is_excluding = check.proves_finer_infeasible or check.is_hopeless
        bounds_coarser = self.checker.loss.is_bounded_by_classes
        is_guided = self._guide is not None and self._guide.by_classes
        if bounds_coarser and (not is_excluding or is_guided):
            self._bound_coarser(index, check.classes)
        if not is_excluding and check.gone is not None:
            self._bound_finer(check.result.node, check.classes, check.gone)
        return True

    def _bound_coarser(self, index: int, classes: GroupedClasses) -> None:
        """Bound coarser nodes by the classes of this one, feasible or not.

        Their classes are unions of these, which is all that `coarser_bound` needs.
        """
        size = max(self._k, self.checker.guarantees.min_class_size)
        coarser = self.checker.loss.coarser_bound(self.checker.table, classes, size)
        if self._guide is not None:
            self._guide.observe_bound(index, coarser)
        box = self.lattice.coarser(classes.levels)
        for bounds in (self._unsuppressed, self._bound):
            np.maximum(bounds[box], coarser, out=bounds[box])
        self._add_suppressed(box)

    def _bound_finer(self, node: Node, classes: GroupedClasses, gone: BoolArray) -> None:
        if not gone.any():
            return
        loss, table = self.checker.loss, self.checker.table
        box = self.lattice.finer(node)
        if not loss.has_attribute_bounds:
            size = max(self._k, self.checker.guarantees.min_class_size)
            by = loss.suppression_bound(table, classes, gone, size)
            np.maximum(self._raised_by[box], by, out=self._raised_by[box])
            self._add_suppressed(box)
            return
        finer = np.zeros(self.lattice.shape, dtype=np.bool_)
        finer[box] = self.status[box] == _OPEN
        indices = np.flatnonzero(finer)
        if not len(indices):
            return
        by_attribute = loss.attribute_bounds(table, classes.table_rows(gone), node)
        assert by_attribute is not None
        raised = loss.combine(of_levels(by_attribute, self._levels[indices]))
        flat = self._bound.reshape(-1)
        flat[indices] = np.maximum(flat[indices], raised)
        if self._by_bound:
            self._next[indices] = flat[indices]

    def _add_suppressed(self, box: Box) -> None:
        """Add the suppression loss to the bounds."""
        by = self._raised_by[box]
        if not by.any():
            return
        bound = self._bound[box]
        raised = self.checker.loss.raised(self.checker.table, self._unsuppressed[box], by)
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
