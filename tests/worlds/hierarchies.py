"""Random tables and random well-formed hierarchies for hypothesis."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from datetime import date
from typing import Any, TypeVar

from hypothesis import Phase, settings
from hypothesis import strategies as st

from tests.oracle.generalization import (
    CategoricalHierarchy,
    Hierarchy,
    IntervalHierarchy,
    Record,
    Value,
    World,
)
from tests.properties.compilation import LEVELS, Policy, Quasi, Shape
from tests.sampling import IS_SEEDED, examples

PROPERTY = settings(
    max_examples=100,
    deadline=None,
    derandomize=not IS_SEEDED,
    database=None,
    # To explain a failure takes as long as to find a small one.
    phases=[Phase.explicit, Phase.generate, Phase.target, Phase.shrink],
)
# Properties that run once for each of two variants.
HALF = examples(PROPERTY, 40, 6)
# Properties of a table run once for each of two shapes.
EACH_SHAPE = examples(PROPERTY, 25, 4)
COSTLY = examples(PROPERTY, 15, 3)
DAMAGE = settings(PROPERTY, max_examples=5)
# In batches of 20 tables: more than 500 even without those that are drawn twice.
FIVE_HUNDRED = examples(PROPERTY, 27)
# That a batch shows what the statement shows by itself.
AGREEING = settings(PROPERTY, max_examples=2)

# With any two efforts, the one of their smaller levels is among them too.
CHOSEN = ((0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (1, 2), (2, 2), (3, 2), (3, 3))
PLAIN = Shape(
    name="plain",
    record_key="record_id",
    quasi_identifiers=(Quasi("age", "interval", "double"), Quasi("city", "categorical", "varchar")),
    sensitive="disease",
    target="outcome",
    # 0.29 is a trap: as a binary fraction, 0.29 * 100 is less than 29.
    policies=(Policy("some", 3, "0.1"), Policy("many", 4, "0.29")),
    chosen=CHOSEN,
)
HOSTILE = Shape(
    name="hostile",
    record_key="key with 'quotes'",
    quasi_identifiers=(
        Quasi('we"ird {{ x }}', "categorical", "varchar"),
        Quasi("größe", "interval", "date"),
    ),
    sensitive="select",
    target="line\nbreak",
    policies=(Policy("none", 2, "0.0"),),
    chosen=CHOSEN,
)
SHAPES = (PLAIN, HOSTILE)

# What could break a join of labels to one text: digits, colons, pipes and the tags, in all short
# combinations; and what could break a literal or a comparison.
_AWKWARD = [
    "it's",
    'a "b"',
    "{{ x }}",
    "[1.0, 2.0)",
    "**",
    "null",
    "é",
    "e\u0301",
    "🩺",
    "A",
    " a",
    "\\",
]
_LABEL = st.sampled_from(
    ["".join(letters) for size in (1, 2, 3) for letters in itertools.product("1:|t", repeat=size)]
    + _AWKWARD
)


Drawn = TypeVar("Drawn")


def in_batches(
    tables: st.SearchStrategy[Drawn], size: int, key: Callable[[Drawn], object] = repr
) -> st.SearchStrategy[list[Drawn]]:
    """Draw as many different tables as one statement measures, so that they can be counted."""
    return st.lists(tables, min_size=size, max_size=size, unique_by=key)


@st.composite
def interval_hierarchies(
    draw: st.DrawFn, sql_type: str = "double", levels: int = LEVELS, min_leaves: int = 1
) -> IntervalHierarchy:
    """Draw a nested interval hierarchy of numbers or dates."""
    if sql_type == "date":
        numbers: st.SearchStrategy[Any] = st.dates(date(1900, 1, 1), date(2100, 1, 1))
    else:
        quarters = st.integers(-80, 160).map(lambda number: number / 4)
        # Adding zero turns -0.0 into 0.0.
        numbers = quarters | st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: x + 0.0)
    sizes: dict[str, Any] = {"min_size": min_leaves + 1, "max_size": min_leaves + 6}
    breaks = sorted(draw(st.lists(numbers, unique=True, **sizes)))
    groups = list(range(len(breaks) - 1))
    labels = []
    for level in range(1, levels):
        if level > 1:
            groups = _merge_neighbours(groups, draw(st.integers(0, 2**20)))
        labels.append(_name_groups(draw, groups))
    return IntervalHierarchy(tuple(breaks), (*labels, ("*",) * len(groups)))


@st.composite
def categorical_hierarchies(
    draw: st.DrawFn, levels: int = LEVELS, min_leaves: int = 1
) -> CategoricalHierarchy:
    """Draw a nested categorical hierarchy."""
    sizes: dict[str, Any] = {"min_size": min_leaves, "max_size": min_leaves + 6}
    values = draw(st.lists(_LABEL | st.sampled_from(["", "1", "01", "1.0"]), unique=True, **sizes))
    groups = list(range(len(values)))
    hidden = [False] * len(values)
    labels = []
    for _ in range(1, levels):
        # Two bits for each group say which of four parents it has.
        bits = draw(st.integers(0, 4 ** len(values)))
        groups = [bits >> 2 * group & 3 for group in groups]
        # As in a priority hierarchy, single groups may become `*` below the root, and stay it.
        if draw(st.booleans()):
            hidden = [h or g == groups[-1] for h, g in zip(hidden, groups, strict=True)]
        named = _name_groups(draw, groups)
        labels.append(tuple("*" if h else name for h, name in zip(hidden, named, strict=True)))
    return CategoricalHierarchy(tuple(values), (*labels, ("*",) * len(values)))


@st.composite
def worlds(draw: st.DrawFn, shape: Shape, min_size: int = 0) -> World:
    """Draw hierarchies and a table that they cover, with NULLs, repetition and boundary values."""
    hierarchies: tuple[Hierarchy, ...] = tuple(
        draw(
            interval_hierarchies(q.sql_type) if q.kind == "interval" else categorical_hierarchies()
        )
        for q in shape.quasi_identifiers
    )
    people = st.tuples(
        st.tuples(*(st.sampled_from(_values(hierarchy)) for hierarchy in hierarchies)),
        st.integers(1, 6),
        st.sampled_from(["a", "b", None]),
    )
    records = [
        Record(quasi_identifiers, sensitive, "yes" if number % 2 else "no")
        for quasi_identifiers, repeated, sensitive in draw(
            st.lists(people, min_size=min_size, max_size=10)
        )
        for number in range(repeated)
    ]
    return World(hierarchies, tuple(records))


def levels_of(shape: Shape) -> st.SearchStrategy[tuple[int, ...]]:
    """Draw the levels of one of the efforts."""
    return st.sampled_from(shape.efforts)


def _values(hierarchy: Hierarchy) -> list[Value | None]:
    if isinstance(hierarchy, CategoricalHierarchy):
        return [None, *hierarchy.values]
    values: list[Value | None] = [None]
    for lower, upper in zip(hierarchy.breaks[:-1], hierarchy.breaks[1:], strict=True):
        if isinstance(lower, date) and isinstance(upper, date):
            ordinals = lower.toordinal(), upper.toordinal() - 1
            values += [date.fromordinal(n) for n in (ordinals[0], sum(ordinals) // 2, ordinals[1])]
        elif isinstance(lower, float) and isinstance(upper, float):
            values += [lower, lower + (upper - lower) / 2, math.nextafter(upper, lower)]
    # The midpoint of two neighbouring floats is one of them.
    return [v for v in values if v != hierarchy.breaks[-1]]


def _merge_neighbours(groups: list[int], bits: int) -> list[int]:
    merged = [0]
    for position in range(1, len(groups)):
        same = groups[position] == groups[position - 1] or bits >> position & 1
        merged.append(merged[-1] if same else merged[-1] + 1)
    return merged


def _name_groups(draw: st.DrawFn, groups: list[int]) -> tuple[str, ...]:
    number = max(groups) + 1
    labels = draw(st.lists(_LABEL, min_size=number, max_size=number, unique=True))
    return tuple(labels[group] for group in groups)
