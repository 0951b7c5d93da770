"""Cells of a released table, counted again from the source by code of their own."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from dbt_anonymize.extensions.tables.declared import RECORDS
from dbt_anonymize.extensions.tables.subtotals import key_of, tree_of
from dbt_anonymize.literals import quote_name
from dbt_anonymize.verify.duckdb_mirror import CopiedWarehouse
from dbt_anonymize.verify.recomputation.labels import ROOT, Generalization
from dbt_anonymize.verify.recomputation.tables import Tables

if TYPE_CHECKING:
    from dbt_anonymize.extensions.tables.cube import Dimension
    from dbt_anonymize.extensions.tables.declared import Table
    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Spec

# Labels, keys of those of dimensions with subtotals; None in totals.
Cell = tuple[str | None, ...]


class Counted(NamedTuple):
    """True figures of a cell: its people; the count and the sums that it may show.

    ``largest`` has the two largest contributions to each of `Table.summed`, ``few`` the records of
    each person if fewer than the minimum frequency have some and records are counted; ``status`` is
    that which the vault remembers of an earlier table.
    """

    people: float
    figures: tuple[float, ...]
    largest: list[tuple[float, ...]]
    status: str | None = None
    few: Mapping[str, float] | None = None


def figures_of(table: Table, people: float, added: Iterable[float | str]) -> tuple[float, ...]:
    """Return the count and the sums of a cell, from its people and all that is added up."""
    of_people = () if table.counts == RECORDS else (float(people),)
    return (*of_people, *map(float, added))


@dataclass(frozen=True)
class _Labels:
    """Labels of the records of a relation, which is called ``rows_``, as SQL."""

    read: Warehouse
    spec: Spec
    tables: Tables

    def of(self, name: str, level: int, rows: str, value: str) -> tuple[str, str]:
        """Return the join that a label needs, and the label, of a value of ``rows``."""
        tree = self.spec.quasi_identifiers.get(name)
        if tree is None:
            return "", f"coalesce({self.tables.text(value)}, '{ROOT}')"
        hierarchy = str(self.read.relation_of_ref(tree.ref))
        one = Generalization(name, tree, hierarchy, self.tables.text)
        place = cast(Any, self.spec).table.dimensions.index(name)
        lookup = one.label(rows, one.null_if_unknown(value), level, f"tree_{place}_{level}")
        return lookup.join, lookup.columns[name]


def recounted(read: Warehouse, spec: Spec, number: int) -> Iterator[tuple[Cell, Counted]]:
    """Yield the figures of each cell that an effort shows, counted margin by margin."""
    table, source = _table(spec), str(read.relation_of(spec.source))
    tables = _tables(read, source)
    labels, levels = _Labels(read, spec, tables), table.shown_levels(number)
    person = f"rows_.{quote_name(spec.person_column)}"
    amounts = [f"sum(coalesce(rows_.{quote_name(name)}, 0))" for name in table.sums]
    few = "null"
    if table.counts == RECORDS:
        amounts.insert(0, "count(*)")
        is_few = f"count(*) < {table.minimum_frequency}"
        few = f"if({is_few}, map(list(cast(person as varchar)), list(amount_0)), null)"
    own = ", ".join(f"{sql} as amount_{place}" for place, sql in enumerate(amounts))
    places = range(len(amounts))
    measures = ["count(*)", few, *(f"sum(amount_{n}), max(amount_{n}, 2)" for n in places)]
    for of_cells in _margins(table, levels):
        found = [
            ("", "null")
            if level is None
            else labels.of(name, level, source, f"rows_.{quote_name(name)}")
            for name, level in of_cells.items()
        ]
        columns = [f"{sql} as label_{place}" for place, (_, sql) in enumerate(found)]
        names = ", ".join(f"label_{place}" for place in range(len(found)))
        joins = " ".join(join for join, _ in found)
        rows = tables.rows(
            f"select {names}, {', '.join(measures)} from (select {', '.join(columns)}, {person} "
            f"as person{', ' if own else ''}{own} from {source} as rows_ {joins} "
            f"where {person} is not null group by all) as people group by {names}"
        )
        for row in rows:
            people, of_few, *figures = row[len(found) :]
            largest = [tuple([*map(float, top), 0.0, 0.0][:2]) for top in figures[1::2]]
            shown = zip(row, of_cells.items(), strict=False)
            cell = tuple(
                key_of(level, label) if name in table.subtotals and level is not None else label
                for label, (name, level) in shown
            )
            of_cell = figures_of(table, people, figures[::2])
            yield cell, Counted(float(people), of_cell, largest, few=of_few)


def trees_of_release(
    read: Warehouse, spec: Spec, number: int, released: Iterable[Cell]
) -> dict[str, Dimension]:
    """Return the trees of the keys of a release, of dimensions with subtotals.

    Labels and subtotals are those of the values in the source and in the hierarchy, which also has
    those of people who left.
    """
    table, cells = _table(spec), [*released]
    levels, trees = table.shown_levels(number), {}
    source = str(read.relation_of(spec.source))
    tables = _tables(read, source)
    labels = _Labels(read, spec, tables)
    for place, name in enumerate(table.dimensions):
        if name not in table.subtotals:
            continue
        tree = spec.quasi_identifiers[name]
        hierarchy = str(read.relation_of_ref(tree.ref))
        leaf = "rows_.lower_bound" if tree.kind == "interval" else "rows_.value"
        chains = {tuple(key_of(level, ROOT) for level in levels[name])}
        for rows, value in ((source, f"rows_.{quote_name(name)}"), (hierarchy, leaf)):
            chains |= _chains(labels, name, levels[name], rows, value)
        shown = {cell[place] for cell in cells}
        trees[name] = tree_of(name, (chain for chain in chains if chain[0] in shown))
    return trees


def _chains(
    labels: _Labels, name: str, levels: Sequence[int], rows: str, value: str
) -> set[tuple[str, ...]]:
    """Return the keys of each value at all levels, the finest first."""
    found = [labels.of(name, level, rows, value) for level in levels]
    joins = " ".join(join for join, _ in found)
    listed = ", ".join(f"{sql} as label_{place}" for place, (_, sql) in enumerate(found))
    return {
        tuple(key_of(level, label) for level, label in zip(levels, row, strict=True))
        for row in labels.tables.rows(f"select distinct {listed} from {rows} as rows_ {joins}")
    }


def _margins(table: Table, levels: Mapping[str, Sequence[int]]) -> Iterator[dict[str, int | None]]:
    """Yield the level of each dimension in cells of one kind after the other, None in totals."""
    for margin in table.margins:
        shown = [(*levels[name],) if name in margin else (None,) for name in table.dimensions]
        for combination in itertools.product(*shown):
            yield dict(zip(table.dimensions, combination, strict=True))


def _tables(read: Warehouse, source: str) -> Tables:
    tables = Tables(read.cursor(), source, {})
    return replace(tables, written=read.written) if isinstance(read, CopiedWarehouse) else tables


def _table(spec: Spec) -> Table:
    return cast("Table", cast(Any, spec).table)
