"""Whether every released label is one of its hierarchy, with the bounds that belong to it.

The rules are those of a reader who has the release and the hierarchies alone. A declared effort
says which levels a column may have; it is told from the labels, not from what the build says.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.efforts import Effort
from dbt_anonymize.spec.models import Hierarchy
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.relations import Released, quoted, source_relation, text_of

ROOT = "*"
# The level of a label between two levels: leaf intervals merged by a multidimensional recoding.
_MERGED = -1


@dataclass(frozen=True)
class _Leaf:
    """One row of a hierarchy: the labels from level 1 on; bounds of an interval."""

    value: str
    lower: Any
    upper: Any
    labels: tuple[str, ...]


def check_labels(
    warehouse: Warehouse, spec: Spec, released: Released
) -> tuple[list[Finding], list[int]]:
    """Compare the labels of a release with its hierarchies.

    Parameters
    ----------
    warehouse : Warehouse
        With the hierarchies.
    spec : Spec
        The anonymization.
    released : Released
        Its release.

    Returns
    -------
    findings : list of Finding
        One for each quasi-identifier, and one about the efforts.
    efforts : list of int
        The declared efforts whose levels fit all labels.
    """
    findings = []
    levels: dict[str, list[frozenset[int]]] = {}
    for name, hierarchy in spec.quasi_identifiers.items():
        leaves = _read(warehouse, hierarchy)
        roots = _levels_of_root(warehouse, spec, released, name, leaves)
        fitting = list(_fitting_levels(released, name, hierarchy, leaves, roots))
        if not any(effort.recoding == "multidimensional" for effort in spec.efforts):
            fitting = [fits - {_MERGED} for fits in fitting]
        levels[name] = fitting
        foreign = sum(not fits for fits in fitting)
        with_bounds = " with its bounds" if hierarchy.kind == "interval" else ""
        came = (
            f"all {len(fitting)} labels{with_bounds} are in the hierarchy {hierarchy.ref}."
            if not foreign
            else f"each label{with_bounds} must be one of the hierarchy {hierarchy.ref}; {foreign} "
            f"of {len(fitting)} are not. Build again: the release or the hierarchy was changed "
            "since."
        )
        findings.append(Finding("guarantees", f"{spec.name}_anonymized.{name}", not foreign, came))
    efforts = [n for n, effort in spec.numbered_efforts.items() if n and _fits(effort, levels)]
    findings.append(_about_efforts(spec, efforts))
    return findings, efforts


def _about_efforts(spec: Spec, efforts: list[int]) -> Finding:
    wanted = spec.release.effort
    holds = bool(efforts) if wanted == "auto" else wanted in efforts
    listed = ", ".join(map(str, efforts)) or "none"
    message = f"the labels have the levels of a declared effort: {listed}."
    if not holds:
        required = "a declared effort" if wanted == "auto" else f"effort {wanted}"
        message = (
            f"the labels must have the levels of {required}; they fit {listed}. Build again: the "
            "spec or the release was changed since."
        )
    return Finding("guarantees", "effort", holds, message)


def _fits(effort: Effort, levels: dict[str, list[frozenset[int]]]) -> bool:
    """Tell whether every label of every column may come from an effort."""
    for name, fitting in levels.items():
        if effort.levels is not None:
            allowed = {effort.levels[name]}
        elif effort.rounds is not None:
            allowed = {levels_of_round[name] for levels_of_round in effort.rounds}
        else:
            continue
        if not all(fits & allowed for fits in fitting):
            return False
    return True


def _read(warehouse: Warehouse, hierarchy: Hierarchy) -> list[_Leaf]:
    """Read a hierarchy; labels are text whatever the seed made of them."""
    relation = warehouse.relation_of_ref(hierarchy.ref)
    labels = ", ".join(
        text_of(warehouse, f"level_{level}") for level in range(1, hierarchy.levels + 1)
    )
    if hierarchy.kind == "interval":
        bounds = [quoted(warehouse, name) for name in ("lower_bound", "upper_bound")]
        rows = warehouse.rows(f"select {', '.join(bounds)}, {labels} from {relation}")  # noqa: S608
        return [_Leaf("", row[0], row[1], row[2:]) for row in rows]
    value = text_of(warehouse, "value")
    rows = warehouse.rows(f"select {value}, {labels} from {relation}")  # noqa: S608
    return [_Leaf(row[0], None, None, row[1:]) for row in rows]


def _levels_of_root(
    warehouse: Warehouse, spec: Spec, released: Released, name: str, leaves: list[_Leaf]
) -> frozenset[int]:
    """Return the levels at which `*` may stand: all if it can be NULL, which is `*` everywhere."""
    levels = range(1, spec.quasi_identifiers[name].levels + 1)
    source, column = source_relation(warehouse, spec.source), quoted(warehouse, name)
    ((missing,),) = warehouse.rows(f"select count(*) - count({column}) from {source}")  # noqa: S608
    ((shown,),) = released.rows(
        f"select count(*) from {released.relation} where {released.quoted(name)} = '{ROOT}'"  # noqa: S608
    )
    if shown <= missing:
        return frozenset([0, *levels])
    return frozenset(
        level for level in levels if any(leaf.labels[level - 1] == ROOT for leaf in leaves)
    )


def _fitting_levels(
    released: Released, name: str, hierarchy: Hierarchy, leaves: list[_Leaf], roots: frozenset[int]
) -> Iterator[frozenset[int]]:
    """Yield for each distinct label, with its bounds, the levels that have it."""
    columns = [name]
    if hierarchy.kind == "interval":
        columns += [f"{name}_lower", f"{name}_upper"]
    selected = ", ".join(map(released.quoted, columns))
    rows = released.rows(f"select distinct {selected} from {released.relation}")  # noqa: S608
    if hierarchy.kind == "interval":
        intervals = _Intervals.of(leaves, hierarchy.levels)
        for label, lower, upper in rows:
            yield intervals.levels(label, lower, upper, roots)
        return
    labels = [{leaf.value for leaf in leaves}]
    labels += [{leaf.labels[level] for leaf in leaves} for level in range(hierarchy.levels)]
    for (label,) in rows:
        yield (
            roots
            if label == ROOT
            else frozenset(level for level, known in enumerate(labels) if label in known)
        )


@dataclass(frozen=True)
class _Intervals:
    """The labels of an interval hierarchy with their bounds, by level from 1 on."""

    bounds: list[dict[str, tuple[Any, Any]]]
    lowest: Any
    highest: Any
    # How the ends of leaf intervals may be written.
    starts: dict[Any, frozenset[str]]
    ends: dict[Any, frozenset[str]]

    @classmethod
    def of(cls, leaves: list[_Leaf], levels: int) -> _Intervals:
        bounds: list[dict[str, tuple[Any, Any]]] = [{} for _ in range(levels)]
        for leaf in leaves:
            lower, upper = comparable(leaf.lower), comparable(leaf.upper)
            for known, label in zip(bounds, leaf.labels, strict=True):
                before = known.get(label, (lower, upper))
                known[label] = (min(before[0], lower), max(before[1], upper))
        return cls(
            bounds,
            min(comparable(leaf.lower) for leaf in leaves),
            max(comparable(leaf.upper) for leaf in leaves),
            {
                comparable(leaf.lower): _written(leaf.lower, leaf.labels[0].partition(", ")[0][1:])
                for leaf in leaves
            },
            {
                comparable(leaf.upper): _written(leaf.upper, leaf.labels[0].partition(", ")[2][:-1])
                for leaf in leaves
            },
        )

    def levels(self, label: Any, lower: Any, upper: Any, roots: frozenset[int]) -> frozenset[int]:
        """Return the levels at which a label has these bounds; none if it is foreign."""
        if label is None or lower is None or upper is None:
            return frozenset()
        lower_as_text, lower, upper = str(lower), comparable(lower), comparable(upper)
        if label == ROOT:
            is_whole = (lower, upper) == (self.lowest, self.highest)
            return roots if is_whole else frozenset()
        found = {
            level
            for level, known in enumerate(self.bounds, start=1)
            if known.get(label) == (lower, upper)
        }
        if lower == upper and self.lowest <= lower < self.highest:
            found |= {0} if _is_written_as(label, lower, lower_as_text) else set()
        if not found and lower < upper and self._is_merged(label, lower, upper):
            found = {_MERGED}
        return frozenset(found)

    def _is_merged(self, label: str, lower: Any, upper: Any) -> bool:
        if lower not in self.starts or upper not in self.ends:
            return False
        start, _, end = label.partition(", ")
        written = start[1:] in self.starts[lower] and end[:-1] in self.ends[upper]
        return written and label.startswith("[") and label.endswith(")")


def comparable(bound: Any) -> Any:
    """Return a bound so that equal bounds of different types are equal.

    Examples
    --------
    >>> from decimal import Decimal
    >>> comparable(Decimal("0.1")) == comparable(0.1)
    True
    >>> comparable(datetime.date(2026, 1, 2)) == comparable(datetime.datetime(2026, 1, 2))
    True
    """
    if isinstance(bound, datetime.datetime):
        return bound
    if isinstance(bound, datetime.date):
        return datetime.datetime(bound.year, bound.month, bound.day)
    return int(bound) if bound == int(bound) else float(bound)


def _written(bound: Any, in_label: str) -> frozenset[str]:
    return frozenset({str(bound), in_label})


def _is_written_as(label: str, bound: Any, as_text: str) -> bool:
    """Tell whether a label is a raw value: 31 for the bound 31.0 too."""
    if label == as_text or label == str(bound):
        return True
    try:
        return float(label) == float(bound)
    except (TypeError, ValueError):
        return False
