"""Candidates of a race, and the nodes around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dbt_anonymize.arrays import Bools
from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.grouped import GroupedClasses
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.race import Candidate
from dbt_anonymize.extensions.search.results import CheckedNode
from dbt_anonymize.privacy.table import Node

# A column is worth a trial without it if classes are then at least this many times larger.
WORTHWHILE = 2


@dataclass(frozen=True)
class Candidates:
    """Factory of candidates from nodes; ``rows`` is each record's row of the table."""

    checker: Checker
    lattice: Lattice
    rows: np.ndarray

    def of(self, node: Node, k: int) -> Candidate | None:
        """Return the candidate of a node; None if the node is infeasible."""
        checked = self.checker.check(node, k).result
        if not checked.is_feasible:
            return None
        required = max(k, self.checker.guarantees.min_class_size)
        return self._candidate(checked, required, *self.checker.suppressed_classes(node, k))

    def of_any_size(self, node: Node) -> Candidate:
        """Return the candidate of a node with the largest class size within the suppression limit.

        It may break guarantees: it shows what levels would add, and is not for release.
        """
        classes = self.checker.grouper.classes(node)
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
        checked = CheckedNode(node, k, count, np.nan, False)
        return self._candidate(checked, k, classes, suppressed)

    def _candidate(
        self, checked: CheckedNode, required: int, classes: GroupedClasses, suppressed: Bools
    ) -> Candidate:
        is_suppressed, class_of_row = classes.table_rows(suppressed), classes.of_table_rows
        return Candidate(checked, required, is_suppressed[self.rows], class_of_row[self.rows])

    def finer(self, candidate: Candidate) -> dict[int, Candidate]:
        """Return, by column that a candidate gives up, the candidate that is one level finer.

        It has the same class size, or if that breaks a guarantee, the largest possible.
        """
        node, root = candidate.checked.node, self.root
        by_axis = {}
        for axis, level in enumerate(node):
            if level == root[axis] > self.lattice.lowest[axis]:
                finer = (*node[:axis], level - 1, *node[axis + 1 :])
                by_axis[axis] = self.of(finer, candidate.required) or self.of_any_size(finer)
        return by_axis

    def without(self, candidate: Candidate) -> dict[int, Candidate]:
        """Return, by column, the candidate without it if its classes are much larger."""
        node, root = candidate.checked.node, self.root
        by_axis = {}
        for axis, level in enumerate(node):
            coarser = (*node[:axis], root[axis], *node[axis + 1 :])
            if level < root[axis] and coarser != root:
                other = self.of(coarser, candidate.required)
                if other is not None and other.checked.k >= WORTHWHILE * candidate.checked.k:
                    by_axis[axis] = other
        return by_axis

    def around(self, candidate: Candidate) -> Iterator[Candidate]:
        """Yield the feasible candidates one level finer or coarser, and those without a column."""
        k, highest = candidate.required, self.lattice.highest
        nodes = [
            *self.lattice.just_finer(candidate.checked.node),
            *self._just_coarser(candidate.checked.node),
        ]
        yield from (other for node in nodes for other in [self.of(node, k)] if other is not None)
        for axis, other in self.without(candidate).items():
            if other.checked.node[axis] <= highest[axis]:
                yield other

    def _just_coarser(self, node: Node) -> Iterator[Node]:
        for axis, level in enumerate(node):
            coarser = (*node[:axis], level + 1, *node[axis + 1 :])
            if level < self.lattice.highest[axis] and coarser != self.root:
                yield coarser

    @property
    def root(self) -> Node:
        """The root of all hierarchies, within the bounds or not."""
        return tuple(attribute.height for attribute in self.checker.table.attributes)
