"""Local recodings as candidates of a race: rounds of levels, and what they release.

A candidate releases everybody. Some first node is given; the guided measure chooses the levels of
those whose classes are too weak at it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property

import numpy as np

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
from dbt_anonymize.privacy.table import Attribute, BoolArray, Classes, IntArray, Node, Table

# In rounds suppression is cheap, because the next one takes the records up; ARX recommends 0 to
# 0.05. First nodes are found with each of these factors.
FACTOR_OF_ROUNDS = 0.05
_FACTORS = (FACTOR_OF_ROUNDS, 0.2, 0.5)
_OF_EACH_FACTOR = 2
# About ten rounds: on public tables models learned as much as from fifty, which nobody reads.
_SMALLEST_SHARE = Decimal("0.1")
# Labels of different attributes and levels have different codes, but for `*`.
_ROOT = -1


@dataclass(frozen=True)
class LocalCandidates:
    """Make candidates of first nodes; ``rows`` are the rows of the table of records."""

    table: Table
    guarantees: Guarantees
    rows: IntArray
    # By candidate, the round that releases each row of the table.
    _rounds: dict[Key, IntArray] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        check_population(self.table)

    def first_nodes(self, k: int, work: int) -> list[Node]:
        """Return nodes that lose the least where the next round releases what they suppress."""
        found = (
            one.node
            for checker in self._checkers
            for one in best_nodes(
                checker, self._lattice, k, Clock(None, None), _OF_EACH_FACTOR, work=work
            )
        )
        return list(dict.fromkeys(found))

    @cached_property
    def _lattice(self) -> Lattice:
        return Lattice.of(self.table)

    @cached_property
    def _checkers(self) -> list[Checker]:
        """Checkers of the factors, which serve all class sizes."""
        return [
            Checker(
                *(self.table, self.guarantees, Guided(gs=factor), Decimal(1) - _SMALLEST_SHARE),
                self._lattice.lowest,
                must_release=True,
            )
            for factor in _FACTORS
        ]

    def of(self, first_nodes: Iterable[Node], k: int) -> list[Candidate]:
        """Return the local recodings that begin with these nodes and release everybody."""
        found = (self._of(first, k) for first in first_nodes)
        return list({one.rounds: one for one in found if one is not None}.values())

    def _of(self, first: Node, k: int) -> Candidate | None:
        required = max(k, self.guarantees.min_class_size)
        guarantees = replace(self.guarantees, min_class_size=required)
        rounds = find_rounds(
            *(self.table, guarantees, Guided(gs=FACTOR_OF_ROUNDS)),
            first=first,
            smallest_share=_SMALLEST_SHARE,
        )
        nodes = tuple(one.node for one in rounds)
        is_left = self.table.records > 0
        round_of_row = np.zeros(len(is_left), dtype=np.int64)
        for number, one in enumerate(rounds):
            round_of_row[one.rows] = number
            is_left &= ~one.rows
        if len(rounds) < 2 or is_left.any():
            return None
        found = self._candidate(nodes, round_of_row, required)
        if not found.checked.is_feasible:
            return None
        _, loss = measure_rounds(self.table, guarantees, Guided(), nodes)
        if loss is not None:
            found = replace(found, checked=replace(found.checked, loss=loss))
        self._rounds[found.key] = round_of_row.astype(np.int16)
        return found

    def finer(self, one: Candidate) -> dict[int, Candidate]:
        """Return, by column that all rounds give up, what keeps a little of it in all of them.

        With the classes that are left then, whatever is guaranteed.
        """
        return {
            axis: self._with_level(one, axis, attribute.height - 1)
            for axis, attribute in enumerate(self.table.attributes)
            if all(node[axis] == attribute.height for node in one.rounds)
            and attribute.height > self._lattice.lowest[axis]
        }

    def without(self, one: Candidate) -> dict[int, Candidate]:
        """Return, by column, what gives it up in all rounds if classes are much larger."""
        root = tuple(attribute.height for attribute in self.table.attributes)
        found = {}
        for axis, attribute in enumerate(self.table.attributes):
            if all(node[axis] == attribute.height for node in one.rounds):
                continue
            other = self._with_level(one, axis, attribute.height)
            is_larger = other.checked.k >= WORTHWHILE * one.checked.k
            if (
                {*other.rounds[: len(one.rounds)]} != {root}
                and other.checked.is_feasible
                and is_larger
            ):
                found[axis] = other
        return found

    def _with_level(self, one: Candidate, axis: int, level: int) -> Candidate:
        """Return a candidate with another level of a column in all rounds.

        Behind its rounds stand those that released the same records: a local recoding that happens
        to have these levels releases others in each round.
        """
        nodes = tuple((*node[:axis], level, *node[axis + 1 :]) for node in one.rounds)
        found = self._candidate(nodes, self._rounds[one.key], one.required)
        return replace(found, rounds=(*nodes, *one.rounds))

    def _candidate(
        self, nodes: tuple[Node, ...], round_of_row: IntArray, required: int
    ) -> Candidate:
        """Return what rounds release; it is feasible if the build would suppress nobody."""
        rounds = [Round(node, round_of_row == number) for number, node in enumerate(nodes)]
        classes, class_of_row = released_classes(self.table, rounds)
        guarantees = replace(self.guarantees, min_class_size=required)
        return Candidate(
            CheckedNode(
                node=tuple(map(max, *nodes)),
                k=int(classes.people.min()),
                suppressed=0,
                loss=np.nan,
                is_feasible=not _is_broken(guarantees, classes),
            ),
            required,
            np.zeros(len(self.rows), dtype=np.bool_),
            class_of_row[self.rows],
            nodes,
            round_of_row[self.rows],
        )


def released_classes(table: Table, rounds: Sequence[Round]) -> tuple[Classes, IntArray]:
    """Return the classes of rounds that release everybody, and the class of each row.

    `*`, of the root and of NULL, is the same label at all levels, so that classes of several rounds
    may join. Other labels do so only where a hierarchy has one text for different values: classes
    are larger then than they are here.
    """
    labels = np.empty((len(table.leaves), len(table.attributes)), dtype=np.int64)
    for one in rounds:
        at = np.flatnonzero(one.rows)
        labels[at] = labels_of(table, one.node, at)
        for column, (attribute, level) in enumerate(zip(table.attributes, one.node, strict=True)):
            codes = labels[at, column]
            apart = codes * (attribute.height + 1) + level
            labels[at, column] = np.where(_is_root(attribute, level)[codes], _ROOT, apart)
    return classes_by_labels(table, labels), group(labels)[1]


def _is_root(attribute: Attribute, level: int) -> BoolArray:
    """Return which labels of a level are `*`: that of the highest, and below, that of NULL."""
    found = np.full(len(attribute.shares[level]), level == attribute.height)
    found[attribute.levels[level][attribute.shares[0] >= 1.0]] = True
    return found


def _is_broken(guarantees: Guarantees, classes: Classes) -> bool:
    """Tell whether the build would suppress anybody; rules of labels hold for joined classes."""
    if replace(guarantees, class_rules=[]).violating(classes).any():
        return True
    return bool(guarantees.release_rules) and guarantees.first_released(np.sort(classes.people)) > 0
