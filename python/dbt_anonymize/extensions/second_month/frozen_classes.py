"""The committed list of classes of a recoding: a record belongs to the first that holds it.

Released classes come first, in an order that gives every released record its own class. Coarser
classes follow, for new records that no released class holds: every label is replaced by its parent
in the hierarchy, repeatedly. They are ordered by coverage and end with `*` everywhere.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from dbt_anonymize.hierarchies.model import ROOT


@dataclass(frozen=True)
class Label:
    """A label of one quasi-identifier; ``lower`` and ``upper`` are the bounds of an interval.

    The root has no bounds. A number that is released as it is has none either; its ``leaf`` is the
    lower bound of its leaf. ``level`` is None between two levels.
    """

    text: str
    level: int | None
    lower: str | None = field(default=None, compare=False)
    upper: str | None = field(default=None, compare=False)
    leaf: str | None = field(default=None, compare=False)


Labels = tuple[Label, ...]


@dataclass(frozen=True)
class Leaf:
    """A leaf of a hierarchy: value or lower bound, upper bound, and its label of each level."""

    text: str
    upper: str | None
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Tree:
    """The hierarchy of one quasi-identifier, with its leaves in order."""

    is_interval: bool
    leaves: Sequence[Leaf]
    _parents: dict[Label, Label] = field(default_factory=dict)

    @cached_property
    def root(self) -> Label:
        """The label of everything."""
        return Label(ROOT, len(self.leaves[0].labels))

    @cached_property
    def _places(self) -> Mapping[tuple[int, str], Sequence[int]]:
        """The leaves of each label of each level; at level 0 a leaf is its own label."""
        places = defaultdict[tuple[int, str], list[int]](list)
        for place, leaf in enumerate(self.leaves):
            for level, text in enumerate((leaf.text, *leaf.labels)):
                places[level, text].append(place)
        return places

    @cached_property
    def _ends(self) -> Mapping[str | None, int]:
        return {leaf.upper: place for place, leaf in enumerate(self.leaves)}

    def covered(self, label: Label) -> Sequence[int]:
        """Return the places of the leaves that a label covers."""
        if label.leaf is not None:
            return self._places[0, label.leaf]
        if label.lower is not None:
            return range(self._places[0, label.lower][0], self._ends[label.upper] + 1)
        if label.text == ROOT:
            return range(len(self.leaves))
        return self._places[label.level or 0, label.text]

    def is_root(self, label: Label) -> bool:
        """Tell whether a label covers all leaves; `*` at a lower level may cover fewer."""
        if self.is_interval:
            return label.text == ROOT and label.lower is None
        return label == self.root

    def parent(self, label: Label) -> Label:
        """Return the lowest label of the hierarchy that covers more."""
        if label not in self._parents:
            self._parents[label] = self._parent(label)
        return self._parents[label]

    def _parent(self, label: Label) -> Label:
        covered = self.covered(label)
        for level in range((label.level or 0) + 1, self.root.level or 0):
            texts = {self.leaves[place].labels[level - 1] for place in covered}
            places = self._places[level, text := texts.pop()]
            is_same = label.leaf is None and len(places) == len(covered)
            if texts or is_same or text == ROOT or len(places) == len(self.leaves):
                continue
            ends = (self.leaves[places[0]].text, self.leaves[places[-1]].upper)
            return Label(text, level, *(ends if self.is_interval else ()))
        return self.root


def order_classes(
    classes: Mapping[str, Labels], trees: Sequence[Tree], before: Iterable[tuple[str, str]]
) -> list[Labels] | None:
    """Return classes in an order that keeps the pairs of ``before``, or None if there is none.

    Among the possible orders, classes that cover less come first.
    """
    followers, waits_for = defaultdict[str, list[str]](list), dict.fromkeys(classes, 0)
    for own, other in before:
        followers[own].append(other)
        waits_for[other] += 1
    keys = {name: (_coverage(labels, trees), name) for name, labels in classes.items()}
    free = [keys[name] for name, count in waits_for.items() if not count]
    heapq.heapify(free)
    ordered = list[Labels]()
    while free:
        _, name = heapq.heappop(free)
        ordered.append(classes[name])
        for other in followers[name]:
            waits_for[other] -= 1
            if not waits_for[other]:
                heapq.heappush(free, keys[other])
    return ordered if len(ordered) == len(classes) else None


def add_coarser_classes(classes: Sequence[Labels], trees: Sequence[Tree]) -> list[Labels]:
    """Return the classes, then coarser ones up to the root, none twice.

    If the root itself is released, it holds everything and nothing is added. Nor is a label whose
    text stands for other leaves already, at another level: neither reader nor build could tell.
    """
    root = tuple(tree.root for tree in trees)
    if any(all(map(Tree.is_root, trees, labels)) for labels in classes):
        return list(classes)
    known = {_texts(labels): labels for labels in (*classes, root)}
    meanings: dict[tuple[int, str], Collection[int]] = {}
    for labels in (*classes, root):
        meanings |= _meanings(labels, trees)
    coarser, step = list[Labels](), list(classes)
    while step:
        parents = (
            tuple(tree.parent(label) for tree, label in zip(trees, labels, strict=True))
            for labels in step
        )
        new = {_texts(labels): labels for labels in parents}
        step = [labels for texts, labels in new.items() if texts not in known]
        known |= new
        for labels in step:
            own = _meanings(labels, trees)
            if all(meanings.get(key, covered) == covered for key, covered in own.items()):
                meanings |= own
                coarser.append(labels)
    coarser.sort(key=lambda labels: (_coverage(labels, trees), _texts(labels)))
    return [*classes, *coarser, root]


def _coverage(labels: Labels, trees: Sequence[Tree]) -> float:
    """Return the shares of the leaves that labels cover, summed."""
    pairs = zip(trees, labels, strict=True)
    return sum(len(tree.covered(label)) / len(tree.leaves) for tree, label in pairs)


def _meanings(labels: Labels, trees: Sequence[Tree]) -> dict[tuple[int, str], Collection[int]]:
    """Return the leaves of each label, by its column and text."""
    pairs = enumerate(zip(trees, labels, strict=True))
    return {(column, label.text): set(tree.covered(label)) for column, (tree, label) in pairs}


def _texts(labels: Labels) -> tuple[str, ...]:
    return tuple(label.text for label in labels)
