"""Random small tables for the search, with everything a table may have."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dbt_anonymize.arrays import Ints
from dbt_anonymize.privacy.table import Attribute, Node, SensitiveAttribute, Table


@st.composite
def hierarchies(draw: st.DrawFn, name: str) -> Attribute:
    """Draw a quasi-identifier: categories, or intervals over raw numbers, perhaps with a NULL."""
    size = draw(st.integers(1, 5))
    levels: list[Ints] = [np.arange(size)]
    while draw(st.booleans()) and len(levels) < 3:
        merged = [draw(st.integers(0, 2)) for _ in range(int(levels[-1].max()) + 1)]
        codes = {label: code for code, label in enumerate(dict.fromkeys(merged))}
        levels.append(np.array([codes[merged[label]] for label in levels[-1]]))
    levels.append(np.zeros(size, dtype=np.int64))
    shares = [np.bincount(labels) / size for labels in levels]
    is_interval = draw(st.booleans())
    if is_interval:
        shares[0] = np.zeros(size)
    if draw(st.booleans()):
        levels, shares = _with_null(levels, shares)
    return Attribute(
        name=name,
        levels=tuple(levels),
        shares=tuple(shares),
        domain_size=size,
        smallest_share=0.0 if is_interval else 1.0 / size,
        weight=draw(st.sampled_from([1.0, 1.0, 0.5, 2.0])),
    )


def _with_null(levels: list[Ints], shares: list[np.ndarray]) -> tuple[list[Ints], list[np.ndarray]]:
    """Add a leaf that is the root at every level: a label of its own until all are the root."""
    added_levels, added_shares = [], []
    for labels, of_labels in zip(levels[:-1], shares[:-1], strict=True):
        added_levels.append(np.append(labels, len(of_labels)))
        added_shares.append(np.append(of_labels, 1.0))
    added_levels.append(np.append(levels[-1], 0))
    return added_levels, [*added_shares, shares[-1]]


@st.composite
def tables(draw: st.DrawFn, *, min_records: int = 1, has_subject: bool | None = None) -> Table:
    """Draw a table with one or two sensitive attributes, one or two targets and a population."""
    names = ["age", "city", "sex"][: draw(st.integers(1, 3))]
    attributes = tuple(draw(hierarchies(name)) for name in names)
    sizes = [len(attribute.levels[0]) for attribute in attributes]
    if has_subject is None:
        has_subject = draw(st.booleans())
    value_counts = [draw(st.integers(1, 4)) for _ in range(draw(st.integers(1, 2)))]
    row = st.tuples(
        *(st.integers(0, size - 1) for size in sizes),
        *(st.integers(0, size - 1) for size in value_counts),
        st.integers(0, 2),
        st.integers(0, 3 if has_subject else 0),
    )
    rows = draw(st.lists(row, min_size=1, max_size=14, unique=True))
    records = [draw(st.integers(0, 4)) for _ in rows]
    if sum(records) < min_records:
        records[0] += min_records
    drawn = np.array(rows)
    extra = [draw(st.integers(0, 3)) for _ in rows]
    further = []
    if draw(st.booleans()):
        values = np.array([draw(st.integers(0, 2)) for _ in rows])
        further.append((values, draw(st.sampled_from([0.25, 1.0, 3.0]))))
    total = sum(records)
    return Table(
        attributes=attributes,
        leaves=drawn[:, : len(sizes)].copy(),
        records=np.array(records),
        sensitive=tuple(
            _sensitive(f"sensitive_{position}", drawn[:, len(sizes) + position], np.array(records))
            for position in range(len(value_counts))
        ),
        subject=drawn[:, -1].copy() if has_subject else None,
        population=np.array(records) + np.array(extra),
        population_size=total * draw(st.sampled_from([1, 2, 5, 100])) + 1,
        targets=((drawn[:, -2].copy(), 1.0), *further),
    )


def _sensitive(name: str, codes: Ints, records: Ints) -> tuple[SensitiveAttribute, Ints]:
    """Give numbers to the values that occur among the records; other rows have any of them."""
    occurring = sorted({int(code) for code, n in zip(codes, records, strict=True) if n})
    number = {code: position for position, code in enumerate(occurring)}
    size = len(occurring)
    tree = (np.arange(size), np.arange(size) // 2, np.zeros(size, dtype=np.int64))
    return SensitiveAttribute(name, size, tree), np.array([number.get(int(c), 0) for c in codes])


def nodes(table: Table) -> st.SearchStrategy[Node]:
    """Draw a node of the lattice of a table."""
    return st.tuples(*(st.integers(0, attribute.height) for attribute in table.attributes))


@st.composite
def coarser(draw: st.DrawFn, table: Table, node: Node) -> Node:
    """Draw a node that generalizes at least as much in every attribute."""
    return tuple(
        draw(st.integers(level, attribute.height))
        for level, attribute in zip(node, table.attributes, strict=True)
    )
