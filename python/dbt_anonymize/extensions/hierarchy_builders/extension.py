"""Extend hierarchies to new values; existing labels stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import chain
from typing import cast

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.building import interval_label
from dbt_anonymize.extensions.hierarchy_builders.dates import GRANULARITIES, date_intervals
from dbt_anonymize.extensions.hierarchy_builders.intervals import equal_width_intervals
from dbt_anonymize.extensions.hierarchy_builders.padding import padded_labels
from dbt_anonymize.extensions.hierarchy_builders.rules import check
from dbt_anonymize.extensions.hierarchy_builders.splits import split_at
from dbt_anonymize.hierarchies.bounds import Bound
from dbt_anonymize.hierarchies.model import (
    ROOT,
    CategoricalHierarchy,
    IntervalHierarchy,
)

_SYMBOLS = "*#"


def extend_categories(
    hierarchy: CategoricalHierarchy, values: Sequence[str], *, into: str | None = None
) -> CategoricalHierarchy:
    """Return a hierarchy that also has ``values``.

    They become part of the label ``into`` of level 1; without it they are redacted like the codes
    that are there, or else are ``*`` at every level. A label that does not exist is a
    `HierarchyError`.

    Examples
    --------
    >>> codes = CategoricalHierarchy(("123", "145"), (("12*", "14*"), ("1**", "1**"), ("*", "*")))
    >>> extend_categories(codes, ["167"]).labels
    (('12*', '14*', '16*'), ('1**', '1**', '1**'), ('*', '*', '*'))
    >>> cities = CategoricalHierarchy(("Porto", "Vigo"), (("Portugal", "Spain"), ("*", "*")))
    >>> extend_categories(cities, ["Faro"], into="Portugal").labels[0]
    ('Portugal', 'Spain', 'Portugal')
    """
    old = set(hierarchy.values)
    new = [value for value in dict.fromkeys(values) if value not in old]
    paths = [_path(hierarchy, value, into) for value in new]
    labels = tuple(
        (*level, *(path[place] for path in paths)) for place, level in enumerate(hierarchy.labels)
    )
    return check(
        CategoricalHierarchy((*hierarchy.values, *new), labels), name="extended", nested=False
    )


def _path(hierarchy: CategoricalHierarchy, value: str, into: str | None) -> list[str]:
    """Return the label of a new value at each level."""
    if into is not None:
        if into not in hierarchy.labels[0]:
            raise HierarchyError("--into must be a label of level 1; it is none. Correct it.")
        place = hierarchy.labels[0].index(into)
        return [level[place] for level in hierarchy.labels]
    redacted = _redacted(hierarchy, value)
    return redacted or [ROOT] * hierarchy.levels


def _redacted(hierarchy: CategoricalHierarchy, value: str) -> list[str] | None:
    """Return the labels of a code by the redaction of all others, if one rule fits them."""
    if {len(old) for old in hierarchy.values} != {len(value)}:
        return None
    labels: list[str] = []
    for level in hierarchy.labels[:-1]:
        redaction = _redaction(hierarchy.values, level)
        if redaction is None:
            return None
        count, symbol, is_suffix = redaction
        hidden = symbol * count
        labels.append(value[:-count] + hidden if is_suffix else hidden + value[count:])
    return [*labels, ROOT] if labels and not any(s in value for s in _SYMBOLS) else None


def _redaction(values: Sequence[str], labels: Sequence[str]) -> tuple[int, str, bool] | None:
    first = labels[0]
    for symbol in _SYMBOLS:
        count = first.count(symbol)
        if not 0 < count < len(first):
            continue
        hidden = symbol * count
        pairs = list(zip(values, labels, strict=True))
        if all(label == value[:-count] + hidden for value, label in pairs):
            return count, symbol, True
        if all(label == hidden + value[count:] for value, label in pairs):
            return count, symbol, False
    return None


def extend_intervals(hierarchy: IntervalHierarchy, lower: Bound, upper: Bound) -> IntervalHierarchy:
    """Return a hierarchy that also holds everything from ``lower`` to ``upper``, both included.

    Equal widths and units of the calendar go on; any other gets one leaf at each end. Bounds of
    another type are a `HierarchyError`.

    Examples
    --------
    >>> ages = equal_width_intervals(0, 20, [5, 10])
    >>> extend_intervals(ages, Decimal(3), Decimal(21)).labels[0][-3:]
    ('[15, 20)', '[20, 25)', '[25, 30)')
    """
    ends = hierarchy.lower_bounds[0], hierarchy.upper_bounds[-1]
    if isinstance(lower, date) != isinstance(ends[0], date):
        raise HierarchyError(
            "values and bounds must both be numbers or both dates; they are not. Name the column "
            "that the hierarchy generalizes."
        )
    is_below, is_above = lower < ends[0], upper >= ends[1]  # type: ignore[operator]
    if not is_below and not is_above:
        return hierarchy
    continuations = (
        _continued(hierarchy, lower, upper),
        _continued_with_split(hierarchy, lower, upper),
    )
    for candidate in chain.from_iterable(continuations):
        if (
            _keeps(hierarchy, candidate)
            and candidate.leaf(lower) is not None
            and candidate.leaf(upper) is not None
        ):
            return candidate
    return _with_ends(hierarchy, lower if is_below else None, upper if is_above else None)


def _continued(
    hierarchy: IntervalHierarchy, lower: Bound, upper: Bound
) -> Iterator[IntervalHierarchy]:
    """Yield hierarchies of the wider range by the same builder."""
    start, end = hierarchy.lower_bounds[0], hierarchy.upper_bounds[-1]
    try:
        if isinstance(start, date):
            units = _units(hierarchy)
            if units:
                first = min(start, cast("date", lower))
                last = max(cast("date", end) - timedelta(days=1), cast("date", upper))
                yield date_intervals(first, last, units)
            return
        widths = _widths(hierarchy)
        if widths:
            step = widths[-1]
            below = max(Decimal(0), start - cast("Decimal", lower))
            above = max(Decimal(0), cast("Decimal", upper) - cast("Decimal", end))
            new_start = start - step * (below / step).to_integral_value("ROUND_CEILING")
            # The upper end is not part of its interval; the range stays in whole steps.
            reach = cast("Decimal", end) - new_start + above
            steps = (reach / step).to_integral_value("ROUND_FLOOR") + 1
            built = equal_width_intervals(new_start, new_start + step * steps, widths)
            yield from _with_labels_of(hierarchy, built)
    except HierarchyError:
        return


def _continued_with_split(
    hierarchy: IntervalHierarchy, lower: Bound, upper: Bound
) -> Iterator[IntervalHierarchy]:
    """Yield continued hierarchies below a last split level, with further parts for new values."""
    if hierarchy.levels < 3:
        return
    *labels, level, root = hierarchy.labels
    lowers, end = hierarchy.lower_bounds, hierarchy.upper_bounds[-1]
    parts = [lowers[0], *(lowers[at] for at in range(1, len(level)) if level[at] != level[at - 1])]
    for continued in _continued(replace(hierarchy, labels=(*labels, root)), lower, upper):
        bounds = [bound for bound in (*parts, end) if continued.lower_bounds[0] < bound]  # type: ignore[operator]
        bounds = [bound for bound in bounds if bound < continued.upper_bounds[-1]]  # type: ignore[operator]
        try:
            built = split_at(continued, bounds)
        except HierarchyError:  # equal widths by chance
            return
        yield from _with_labels_of(hierarchy, built)


def _with_labels_of(
    hierarchy: IntervalHierarchy, built: IntervalHierarchy
) -> Iterator[IntervalHierarchy]:
    """Yield it with plain labels, and with labels of the same number of digits."""
    matches = (re.match(r"\[?(\d+)", label) for label in hierarchy.labels[0] if label != "0")
    digits = min((len(match[1]) for match in matches if match), default=None)
    yield built
    for whole in (False, True):
        yield padded_labels(built, whole=whole, digits=digits)


def _units(hierarchy: IntervalHierarchy) -> list[str]:
    units = []
    for level in hierarchy.labels[:-1]:
        pairs = list(zip(hierarchy.lower_bounds, level, strict=True))
        fits = (
            name
            for name, unit in GRANULARITIES.items()
            if all(unit.name(cast("date", lower)) == label for lower, label in pairs)
        )
        unit = next(fits, None)
        if unit is None:
            return []
        units.append(unit)
    return units


def _widths(hierarchy: IntervalHierarchy) -> list[Decimal]:
    """Return the width of the first interval of each level."""
    start = cast("Decimal", hierarchy.lower_bounds[0])
    widths = []
    for level in hierarchy.labels[:-1]:
        last = max(place for place, label in enumerate(level) if label == level[0])
        widths.append(cast("Decimal", hierarchy.upper_bounds[last]) - start)
    return widths


def _keeps(old: IntervalHierarchy, new: IntervalHierarchy) -> bool:
    """Tell whether all leaves of the old hierarchy have the same labels in the new one."""
    if new.levels != old.levels:
        return False
    rows = {row.cells for row in new.table().rows}
    return all(row.cells in rows for row in old.table().rows)


def _with_ends(
    old: IntervalHierarchy, lower: Bound | None, upper: Bound | None
) -> IntervalHierarchy:
    """Return it with a leaf below and a leaf above, each with its own label up to the root."""
    lowers, uppers = list(old.lower_bounds), list(old.upper_bounds)
    labels = [list(level) for level in old.labels]
    if lower is not None:
        _add(labels, 0, _beyond(lower, -1), lowers[0])
        lowers.insert(0, _beyond(lower, -1))
        uppers.insert(0, old.lower_bounds[0])
    if upper is not None:
        end = _beyond(upper, 1)
        _add(labels, len(lowers), uppers[-1], end)
        lowers.append(uppers[-1])
        uppers.append(end)
    built = IntervalHierarchy(tuple(lowers), tuple(uppers), tuple(map(tuple, labels)))
    return check(built, name="extended", nested=False)


def _add(labels: list[list[str]], place: int, lower: Bound, upper: Bound) -> None:
    for level in labels[:-1]:
        level.insert(place, interval_label(lower, upper))
    labels[-1].insert(place, ROOT)


def _beyond(value: Bound, direction: int) -> Bound:
    """Return a round bound beyond a value, which belongs to somebody and must not be published."""
    if isinstance(value, date):
        return date(value.year + (direction > 0), 1, 1)
    size = Decimal(1).scaleb(value.adjusted()) if value else Decimal(1)
    steps = (value / size).to_integral_value("ROUND_FLOOR")
    below = steps * size
    if direction > 0:
        return below + size
    return below - size if below == value else below
