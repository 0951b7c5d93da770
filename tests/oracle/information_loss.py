"""Information loss once more, record by record in plain Python, to measure the macros against."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property

from tests.oracle.generalization import (
    CategoricalHierarchy,
    Hierarchy,
    IntervalHierarchy,
    Value,
    bounds,
    generalize,
)

Raw = tuple[Value | None, ...]


@dataclass(frozen=True)
class Shown:
    """Generalized value: label, share of the hierarchy, level, raw values it may be."""

    label: str
    share: float
    level: int | None
    covered: float


@dataclass(frozen=True)
class People:
    """Records (raw quasi-identifiers and target) and the hierarchies of the quasi-identifiers."""

    hierarchies: tuple[Hierarchy, ...]
    records: tuple[tuple[Raw, str], ...]

    def raw(self, position: int) -> list[Value | None]:
        """Return the raw values of one quasi-identifier, one per record."""
        return [values[position] for values, _ in self.records]

    def domain(self, position: int) -> int:
        """Return the number of raw values: those of the hierarchy or that occur, and NULL."""
        hierarchy, raw = self.hierarchies[position], set(self.raw(position))
        known = (
            set(hierarchy.values) if isinstance(hierarchy, CategoricalHierarchy) else raw - {None}
        )
        return len(known) + (None in raw)

    def smallest_share(self, position: int) -> float:
        """Return the share of a raw value."""
        hierarchy = self.hierarchies[position]
        return 1 / len(hierarchy.rows) if isinstance(hierarchy, CategoricalHierarchy) else 0.0

    def shown(self, position: int, value: Value | None, level: int) -> Shown:
        """Return what a value is shown as at a level."""
        hierarchy = self.hierarchies[position]
        label = generalize(hierarchy, level, value)
        if label == "*":
            return Shown("*", 1.0, level, self.domain(position))
        if isinstance(hierarchy, CategoricalHierarchy):
            same = sum(generalize(hierarchy, level, other) == label for other in hierarchy.values)
            return Shown(str(label), same / len(hierarchy.values), level, same)
        lower, upper = bounds(hierarchy, level, value)
        whole = hierarchy.breaks[-1] - hierarchy.breaks[0]  # type: ignore[operator]
        found = {v for v in self.raw(position) if v is not None}
        return Shown(
            str(label),
            (upper - lower) / whole,  # type: ignore[operator]
            level,
            sum(generalize(hierarchy, level, other) == label for other in found),
        )

    def cut(self, position: int, value: Value | None, at: int) -> Shown:
        """Return what a value is shown as where its range is cut in two, at no level."""
        hierarchy = self.hierarchies[position]
        assert isinstance(hierarchy, IntervalHierarchy)
        if value is None:
            return Shown("*", 1.0, None, self.domain(position))
        breaks = hierarchy.breaks
        at = 1 + at % (len(breaks) - 1)
        lower, upper = (breaks[0], breaks[at]) if value < breaks[at] else (breaks[at], breaks[-1])  # type: ignore[operator]
        share = (upper - lower) / (breaks[-1] - breaks[0])  # type: ignore[operator]
        found = {v for v in self.raw(position) if v is not None}
        return Shown(f"from {lower} to {upper}", share, None, max(share * len(found), 1.0))


@dataclass(frozen=True)
class Effort:
    """Generalized values of each record, and the suppressed classes (by their labels)."""

    people: People
    shown: tuple[tuple[Shown, ...], ...]
    suppressed: frozenset[tuple[str, ...]]

    @cached_property
    def labels(self) -> list[tuple[str, ...]]:
        """Return the class of each record."""
        return [tuple(shown.label for shown in record) for record in self.shown]

    @cached_property
    def classes(self) -> dict[tuple[str, ...], list[int]]:
        """Return the records of each class."""
        members: dict[tuple[str, ...], list[int]] = {}
        for record, labels in enumerate(self.labels):
            members.setdefault(labels, []).append(record)
        return members

    @cached_property
    def class_shown(self) -> dict[tuple[str, ...], tuple[Shown, ...]]:
        """Return what each class is shown as; `*` stands for the highest level that it has."""
        return {
            labels: tuple(
                max(same, key=lambda shown: -1 if shown.level is None else shown.level)
                for same in zip(*(self.shown[row] for row in rows), strict=True)
            )
            for labels, rows in self.classes.items()
        }

    @cached_property
    def as_shown(self) -> list[tuple[Shown, ...]]:
        """Return what each record is shown as, which is what its class is shown as."""
        return [self.class_shown[labels] for labels in self.labels]

    @cached_property
    def is_kept(self) -> list[bool]:
        """Return for each record whether it is released."""
        return [labels not in self.suppressed for labels in self.labels]

    def targets(self, labels: tuple[str, ...]) -> Counter[str]:
        """Return how often each value of the target occurs in a class."""
        return Counter(self.people.records[record][1] for record in self.classes[labels])


@dataclass(frozen=True)
class Weighing:
    """Weights of attributes, the way to put them together, and of generalization, suppression."""

    factor: float
    aggregate: str
    weights: tuple[float, ...]

    @property
    def generalization(self) -> float:
        """Return what a generalized record costs of its loss."""
        return 1.0 if self.factor <= 0.5 else 1 - 2 * (self.factor - 0.5)

    @property
    def suppression(self) -> float:
        """Return what a suppressed record costs."""
        return 2 * self.factor if self.factor < 0.5 else 1.0

    def combine(self, values: Sequence[float | None], aggregate: str) -> float | None:
        """Return one number; None if one of them is."""
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return None
        pairs = list(zip(known, self.weights, strict=True))
        if aggregate == "maximum":
            return max(value * weight / max(self.weights) for value, weight in pairs)
        if aggregate == "geometric_mean":
            logarithms = sum(math.log1p(value) * weight for value, weight in pairs)
            return math.expm1(logarithms / sum(self.weights))
        mean = sum(value * weight for value, weight in pairs) / sum(self.weights)
        return mean * len(pairs) if aggregate == "sum" else mean


def loss(effort: Effort, weighing: Weighing, position: int) -> float:
    """Return the loss of one quasi-identifier: mean share beyond that of the raw value."""
    g, s = weighing.generalization, weighing.suppression
    least = g * effort.people.smallest_share(position)
    costs = []
    for record, kept in zip(effort.as_shown, effort.is_kept, strict=True):
        share = record[position].share
        costs.append(g * share if kept else share + s * (1 - share))
    return max((_mean(costs) - least) / (1 - least), 0.0) if least < 1 else 0.0


def mean_share(effort: Effort, position: int) -> float:
    """Return the mean share that a label covers; 1 of a suppressed record."""
    return _mean(
        [
            record[position].share if kept else 1.0
            for record, kept in zip(effort.as_shown, effort.is_kept, strict=True)
        ]
    )


def mean_height(effort: Effort, weighing: Weighing, position: int, height: int) -> float | None:
    """Return the mean level as a part of the height; None where a label has no level."""
    costs = []
    for record, kept in zip(effort.as_shown, effort.is_kept, strict=True):
        level = height if record[position].label == "*" else record[position].level
        if kept and level is None:
            return None
        costs.append(
            weighing.generalization * (level or 0) / height if kept else weighing.suppression
        )
    return _mean(costs)


def total_information_loss(effort: Effort, weighing: Weighing, height: int) -> float:
    """Return the sum over records of the width of intervals and the height of categories."""
    costs = []
    for position, hierarchy in enumerate(effort.people.hierarchies):
        cost = 0.0
        for record, kept in zip(effort.as_shown, effort.is_kept, strict=True):
            shown = record[position]
            width = shown.share
            if isinstance(hierarchy, CategoricalHierarchy):
                width = 1.0 if shown.label == "*" else (shown.level or 0) / height
            cost += weighing.generalization * width if kept else weighing.suppression
        costs.append(cost)
    return weighing.combine(costs, "sum") or 0.0


def non_uniform_entropy(effort: Effort, weighing: Weighing, position: int) -> float | None:
    """Return the bits that the labels leave open; None where they are not all of one level."""
    levels = {record[position].level for record in effort.as_shown}
    if len(levels) > 1 or None in levels:
        return None
    labels = [record[position].label for record in effort.as_shown]
    raw = effort.people.raw(position)
    by_label, by_both = Counter(labels), Counter(zip(raw, labels, strict=True))
    generalized = -sum(math.log2(n / by_label[label]) * n for (_, label), n in by_both.items())
    gone = Counter(label for label, kept in zip(labels, effort.is_kept, strict=True) if not kept)
    lost = -sum(n * math.log2(n / gone.total()) for n in gone.values())
    return weighing.generalization * generalized + weighing.suppression * lost


def sse_sst(effort: Effort, position: int) -> float | None:
    """Return squared errors from the means of labels over those from the mean of all numbers."""
    levels = {record[position].level for record in effort.as_shown}
    if len(levels) > 1 or None in levels:
        return None
    by_label: dict[str, list[Fraction]] = {}
    for value, record in zip(effort.people.raw(position), effort.as_shown, strict=True):
        if value is not None:
            number = value.toordinal() if isinstance(value, date) else value
            label = str(value) if record[position].level == 0 else record[position].label
            by_label.setdefault(label, []).append(Fraction(number))
    total = _squares([number for numbers in by_label.values() for number in numbers])
    return float(sum(map(_squares, by_label.values())) / total) if total else 0.0


def _squares(numbers: Sequence[Fraction]) -> Fraction:
    mean = sum(numbers, Fraction(0)) / max(len(numbers), 1)
    return sum(((number - mean) ** 2 for number in numbers), Fraction(0))


def kl_divergence(effort: Effort) -> float | None:
    """Return the sum over distinct records of f log2(f / o), one term for each record's share."""
    raw = Counter(values for values, _ in effort.people.records)
    total, gone = raw.total(), effort.is_kept.count(False)
    divergence = 0.0
    for (values, _), labels, record, kept in zip(
        effort.people.records, effort.labels, effort.as_shown, effort.is_kept, strict=True
    ):
        if kept and any(shown.level is None and shown.label != "*" for shown in record):
            return None
        size, covered = (
            (len(effort.classes[labels]), _covered(record)) if kept else (gone, _domain(effort))
        )
        divergence += math.log2(raw[values] / size * covered) / total
    return divergence


def measures(
    effort: Effort, weighing: Weighing, names: Sequence[str], height: int
) -> dict[str, float | None]:
    """Return every column of an effort's information loss."""
    g, s = weighing.generalization, weighing.suppression
    positions, total = range(len(names)), len(effort.people.records)
    domain, gone = _domain(effort), effort.is_kept.count(False)
    kept = {
        labels: rows for labels, rows in effort.classes.items() if labels not in effort.suppressed
    }
    losses = [loss(effort, weighing, p) for p in positions]
    granularities, granularity = granularity_of(effort, weighing, "arithmetic_mean")
    heights = [mean_height(effort, weighing, p, height) for p in positions]
    precision = weighing.combine(heights, "arithmetic_mean")
    entropies = [non_uniform_entropy(effort, weighing, p) for p in positions]
    errors = bits = combinations = 0.0
    for labels, rows in kept.items():
        covered = _covered(effort.class_shown[labels])
        combinations += len(rows) * covered
        bits += len(rows) * g * (math.log(covered) / math.log(domain) if domain > 1 else 0)
        (_, most), *others = effort.targets(labels).most_common()
        is_tied = bool(others) and others[0][1] == most
        errors += len(rows) * s if is_tied else (len(rows) - most) * g
    divergence = kl_divergence(effort)
    found: dict[str, float | None] = {
        "loss": weighing.combine(losses, weighing.aggregate),
        "granularity": granularity,
        "precision": None if precision is None else 1 - precision,
        "discernibility": sum(len(rows) ** 2 for rows in kept.values()) + total * gone,
        "average_class_size": total / (len(kept) + (gone > 0)),
        "non_uniform_entropy": weighing.combine(entropies, "sum"),
        "ambiguity": combinations + gone * domain,
        "kl_divergence": None if divergence is None else max(divergence, 0.0),
        "entropy_based_loss": bits + gone * s,
        "classification_metric": (errors + gone * s) / total,
    }
    numbers = [
        p for p, h in enumerate(effort.people.hierarchies) if isinstance(h, IntervalHierarchy)
    ]
    ratios = {p: sse_sst(effort, p) for p in numbers}
    pairs = [(ratio, weighing.weights[p]) for p, ratio in ratios.items()]
    known = [(ratio, weight) for ratio, weight in pairs if ratio is not None]
    found["sse_sst"] = (
        sum(ratio * weight for ratio, weight in known) / sum(weight for _, weight in known)
        if known and len(known) == len(pairs)
        else None
    )
    found["total_information_loss"] = total_information_loss(effort, weighing, height)
    for p, name in enumerate(names):
        found |= {
            f"{name}_loss": losses[p],
            f"{name}_granularity": granularities[p],
            f"{name}_precision": _complement(heights[p]),
            f"{name}_non_uniform_entropy": entropies[p],
        }
        if p in ratios:
            found[f"{name}_sse_sst"] = ratios[p]
    return found


def granularity_of(effort: Effort, weighing: Weighing, aggregate: str) -> tuple[list[float], float]:
    """Return the share that is told, of each quasi-identifier and together, from 0 to 1."""
    positions = range(len(effort.people.hierarchies))
    shares = [mean_share(effort, p) for p in positions]
    smallest = [effort.people.smallest_share(p) for p in positions]
    each = [
        1 - (share - least) / (1 - least) if least < 1 else 1.0
        for share, least in zip(shares, smallest, strict=True)
    ]
    together = [weighing.combine(v, aggregate) for v in (shares, smallest, [1.0] * len(shares))]
    share, least, most = (value or 0.0 for value in together)
    return each, 1 - (share - least) / (most - least) if most > least else 1.0


def _complement(value: float | None) -> float | None:
    return None if value is None else 1 - value


def _covered(record: Sequence[Shown]) -> float:
    return math.prod(shown.covered for shown in record)


def _domain(effort: Effort) -> float:
    return math.prod(effort.people.domain(p) for p in range(len(effort.people.hierarchies)))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
