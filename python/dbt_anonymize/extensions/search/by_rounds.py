"""Local recodings as candidates of a race: levels of each round, and the released classes.

A candidate releases everybody. It starts with a given node; the guided measure chooses the levels
of later rounds, for records whose classes are too weak.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property

import numpy as np

from dbt_anonymize.arrays import Bools, Ints
from dbt_anonymize.extensions.search.candidates import WORTHWHILE
from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.guided import Guided
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.local_recoding import (
    Round,
    check_population,
    find_rounds,
    measure_rounds,
)
from dbt_anonymize.extensions.search.optimum import best_nodes
from dbt_anonymize.extensions.search.race import Candidate, Key
from dbt_anonymize.extensions.search.results import CheckedNode
from dbt_anonymize.privacy.grouping import classes_by_labels, group, labels_of
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.table import Attribute, Classes, Node, Table

# In rounds suppression is cheap, because the next round takes up the records; ARX recommends 0 to
# 0.05. First nodes are searched with each of these factors.
FACTOR_OF_ROUNDS = 0.05
_FACTORS = (FACTOR_OF_ROUNDS, 0.2, 0.5)
_NODES_PER_FACTOR = 2
# About ten rounds: on public tables models learned as much as from fifty.
_SMALLEST_SHARE = Decimal("0.1")
# Code of `*`, equal for all attributes and levels.
_ROOT = -1


@dataclass(frozen=True)
class LocalCandidates:
    """Factory of candidates that start with a node; ``rows`` is each record's row of the table."""

    table: Table
    guarantees: Guarantees
    rows: Ints
    # Round that releases each row of the table, by candidate.
    _rounds: dict[Key, Ints] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        check_population(self.table)

    def first_nodes(self, k: int, work: int) -> list[Node]:
        """Return nodes of least loss if the next round releases the records that they suppress."""
        nodes = (
            node.node
            for checker in self._checkers
            for node in best_nodes(checker, self._lattice, k, Clock(), _NODES_PER_FACTOR, work=work)
        )
        return list(dict.fromkeys(nodes))

    @cached_property
    def _lattice(self) -> Lattice:
        return Lattice.of(self.table)

    @cached_property
    def _checkers(self) -> list[Checker]:
        """Checkers by factor, shared by all class sizes."""
        return [
            Checker(
                *(self.table, self.guarantees, Guided(gs=factor), Decimal(1) - _SMALLEST_SHARE),
                must_release=True,
            )
            for factor in _FACTORS
        ]

    def of(self, first_nodes: Iterable[Node], k: int) -> list[Candidate]:
        """Return the local recodings that begin with these nodes and release everybody."""
        candidates = (self._from_first_node(first, k) for first in first_nodes)
        return list(
            {
                candidate.rounds: candidate for candidate in candidates if candidate is not None
            }.values()
        )

    def _from_first_node(self, first: Node, k: int) -> Candidate | None:
        required = max(k, self.guarantees.min_class_size)
        guarantees = replace(self.guarantees, min_class_size=required)
        rounds = find_rounds(
            *(self.table, guarantees, Guided(gs=FACTOR_OF_ROUNDS)),
            first=first,
            smallest_share=_SMALLEST_SHARE,
        )
        nodes = tuple(round_.node for round_ in rounds)
        remaining = self.table.records > 0
        round_of_row = np.zeros(len(remaining), dtype=np.int64)
        for number, round_ in enumerate(rounds):
            round_of_row[round_.rows] = number
            remaining &= ~round_.rows
        if len(rounds) < 2 or remaining.any():
            return None
        candidate = self._candidate(nodes, round_of_row, required)
        if not candidate.checked.is_feasible:
            return None
        _, loss = measure_rounds(self.table, guarantees, Guided(), nodes)
        if loss is not None:
            candidate = replace(candidate, checked=replace(candidate.checked, loss=loss))
        self._rounds[candidate.key] = round_of_row.astype(np.int16)
        return candidate

    def finer(self, candidate: Candidate) -> dict[int, Candidate]:
        """Return, by column that all rounds give up, the candidate one level finer in all of them.

        Its classes may break guarantees.
        """
        return {
            axis: self._with_level(candidate, axis, attribute.height - 1)
            for axis, attribute in enumerate(self.table.attributes)
            if all(node[axis] == attribute.height for node in candidate.rounds)
            and attribute.height > self._lattice.lowest[axis]
        }

    def without(self, candidate: Candidate) -> dict[int, Candidate]:
        """Return, by column, the candidate without it in all rounds if classes are much larger."""
        root = tuple(attribute.height for attribute in self.table.attributes)
        by_axis = {}
        for axis, attribute in enumerate(self.table.attributes):
            if all(node[axis] == attribute.height for node in candidate.rounds):
                continue
            other = self._with_level(candidate, axis, attribute.height)
            is_larger = other.checked.k >= WORTHWHILE * candidate.checked.k
            if (
                {*other.rounds[: len(candidate.rounds)]} != {root}
                and other.checked.is_feasible
                and is_larger
            ):
                by_axis[axis] = other
        return by_axis

    def _with_level(self, candidate: Candidate, axis: int, level: int) -> Candidate:
        """Return a candidate with another level of a column in all rounds.

        Its rounds end with those of the original candidate, which tell it from a local recoding
        with the same levels that releases other records in each round.
        """
        nodes = tuple((*node[:axis], level, *node[axis + 1 :]) for node in candidate.rounds)
        changed = self._candidate(nodes, self._rounds[candidate.key], candidate.required)
        return replace(changed, rounds=(*nodes, *candidate.rounds))

    def _candidate(self, nodes: tuple[Node, ...], round_of_row: Ints, required: int) -> Candidate:
        """Return the candidate of rounds; it is feasible if the build would suppress nobody."""
        rounds = [Round(node, round_of_row == number) for number, node in enumerate(nodes)]
        classes, class_of_row = released_classes(self.table, rounds)
        guarantees = replace(self.guarantees, min_class_size=required)
        return Candidate(
            CheckedNode(
                node=tuple(map(max, *nodes)),
                k=int(classes.people.min()),
                suppressed=0,
                loss=np.nan,
                is_feasible=not _would_suppress(guarantees, classes),
            ),
            required,
            np.zeros(len(self.rows), dtype=np.bool_),
            class_of_row[self.rows],
            nodes,
            round_of_row[self.rows],
        )


def released_classes(table: Table, rounds: Sequence[Round]) -> tuple[Classes, Ints]:
    """Return the classes of rounds that release everybody, and the class of each row.

    `*`, the label of the root and of NULL, is the same at all levels, so that classes of several
    rounds may join. Equal texts for different values of a hierarchy also join classes in the build,
    which are then larger than here.
    """
    labels = np.empty((len(table.leaves), len(table.attributes)), dtype=np.int64)
    for round_ in rounds:
        at = np.flatnonzero(round_.rows)
        labels[at] = labels_of(table, round_.node, at)
        for column, (attribute, level) in enumerate(
            zip(table.attributes, round_.node, strict=True)
        ):
            codes = labels[at, column]
            apart = codes * (attribute.height + 1) + level
            labels[at, column] = np.where(_root_mask(attribute, level)[codes], _ROOT, apart)
    return classes_by_labels(table, labels), group(labels)[1]


def _root_mask(attribute: Attribute, level: int) -> Bools:
    """Return a mask of the labels of a level that are `*`: that of the root, and that of NULL."""
    is_root = np.full(len(attribute.shares[level]), level == attribute.height)
    is_root[attribute.levels[level][attribute.shares[0] >= 1.0]] = True
    return is_root


def _would_suppress(guarantees: Guarantees, classes: Classes) -> bool:
    """Tell whether the build would suppress anybody; class rules on labels hold already."""
    if replace(guarantees, class_rules=[]).violating(classes).any():
        return True
    return bool(guarantees.release_rules) and guarantees.first_released(np.sort(classes.people)) > 0
