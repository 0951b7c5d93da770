"""Candidates of a race, and the nodes around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.race import Candidate
from dbt_anonymize.extensions.search.results import CheckedNode
from dbt_anonymize.privacy.table import Node

# A column without which classes are at least so many times as large is worth a trial without it.
WORTHWHILE = 2


@dataclass(frozen=True)
class Candidates:
    """Make candidates of nodes by what ``checker`` finds; ``rows`` are those of the records."""

    checker: Checker
    lattice: Lattice
    rows: np.ndarray

    def of(self, node: Node, k: int) -> Candidate | None:
        """Return a node with what it suppresses; None if it is infeasible."""
        checked = self.checker.check(node, k).result
        if not checked.is_feasible:
            return None
        classes, suppressed = self.checker.suppressed_classes(node, k)
        return Candidate(
            checked,
            max(k, self.checker.guarantees.min_class_size),
            classes.table_rows(suppressed)[self.rows],
            classes.of_table_rows[self.rows],
        )

    def of_any_size(self, node: Node) -> Candidate:
        """Return a node with the largest classes for which no more is suppressed than may be.

        Whatever is guaranteed: to see what levels would add, not to release them.
        """
        classes = self.checker.grouper.ungrouped(node).classes()
        order = np.argsort(classes.people, kind="stable")
        order = order[classes.records[order] > 0]
        records = np.cumsum(classes.records[order])
        first = min(
            int(np.searchsorted(records, self.checker.most_suppressed, side="right")),
            len(order) - 1,
        )
        k = int(classes.people[order[first]])
        suppressed = classes.people < k
        count = int(classes.records[suppressed].sum())
        return Candidate(
            CheckedNode(node, k, count, np.nan, False),
            k,
            classes.table_rows(suppressed)[self.rows],
            classes.of_table_rows[self.rows],
        )

    def finer(self, one: Candidate) -> dict[int, Candidate]:
        """Return, by column that a candidate gives up, the node that keeps a little of it.

        With the same class size, or where that breaks a guarantee, with the largest that is left.
        """
        node, root = one.checked.node, self.root
        found = {}
        for axis, level in enumerate(node):
            if level == root[axis] > self.lattice.lowest[axis]:
                finer = (*node[:axis], level - 1, *node[axis + 1 :])
                found[axis] = self.of(finer, one.required) or self.of_any_size(finer)
        return found

    def without(self, one: Candidate) -> dict[int, Candidate]:
        """Return, by column of a candidate, the node without it if its classes are much larger."""
        node, root = one.checked.node, self.root
        found = {}
        for axis, level in enumerate(node):
            coarser = (*node[:axis], root[axis], *node[axis + 1 :])
            if level < root[axis] and coarser != root:
                other = self.of(coarser, one.required)
                if other is not None and other.checked.k >= WORTHWHILE * one.checked.k:
                    found[axis] = other
        return found

    def around(self, one: Candidate) -> Iterator[Candidate]:
        """Yield feasible nodes one level finer or coarser, and those without a column."""
        k, highest = one.required, self.lattice.highest
        nodes = [*self.lattice.just_finer(one.checked.node), *self._just_coarser(one.checked.node)]
        yield from (other for node in nodes for other in [self.of(node, k)] if other is not None)
        for axis, other in self.without(one).items():
            if other.checked.node[axis] <= highest[axis]:
                yield other

    def _just_coarser(self, node: Node) -> Iterator[Node]:
        for axis, level in enumerate(node):
            coarser = (*node[:axis], level + 1, *node[axis + 1 :])
            if level < self.lattice.highest[axis] and coarser != self.root:
                yield coarser

    @property
    def root(self) -> Node:
        """The node that tells nothing, within the bounds or not."""
        return tuple(attribute.height for attribute in self.checker.table.attributes)
