"""The released table, for the commands that know of any release: see `extension.py`."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.extensions.tables.audit import intervals
from dbt_anonymize.extensions.tables.declared import PEOPLE, Hide, Noise, Table
from dbt_anonymize.extensions.tables.efforts import DECIMALS
from dbt_anonymize.extensions.tables.errors import TableError
from dbt_anonymize.extensions.tables.hidden import hidden_intervals
from dbt_anonymize.extensions.tables.programs import Known
from dbt_anonymize.extensions.tables.reading import Published, cell_text, read_table
from dbt_anonymize.extensions.tables.register import history
from dbt_anonymize.extensions.tables.report import report
from dbt_anonymize.extensions.tables.results import results
from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.project.lineage import share_people
from dbt_anonymize.project.results import release_location
from dbt_anonymize.spec import load_specs
from dbt_anonymize.verify.duckdb_mirror import CopiedWarehouse
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.recomputation.labels import Generalization
from dbt_anonymize.verify.recomputation.tables import Tables
from dbt_anonymize.verify.relations import source_relation

if TYPE_CHECKING:
    from dbt_anonymize.project.layout import Project
    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Spec

__all__ = ["findings", "history", "is_of", "report", "results"]

Cell = tuple[str | None, ...]


class _Released(NamedTuple):
    """The released table, the effort that it was released by, and whether it is an earlier one."""

    effort: int
    cells: dict[Cell, tuple[Any, ...]]
    is_earlier: bool


class _True(NamedTuple):
    """True figures of a cell: people and sums; of each sum the two largest contributions."""

    figures: tuple[float, ...]
    largest: list[tuple[float, ...]]


def is_of(spec: Spec) -> bool:
    """Tell whether a spec releases a table, and no records."""
    return _table(spec) is not None


def findings(
    warehouse: Warehouse, read: Warehouse, project: Project, spec: Spec
) -> Iterator[Finding]:
    """Yield what a released table must keep: it is counted again, and its hidden cells audited.

    ``read`` is the warehouse, or a copy of it on DuckDB.
    """
    table = cast(Table, _table(spec))
    if not (location := release_location(warehouse, spec.name, project.root)):
        raise VerificationError("a table must be released to be checked; none is. Run `dbt build`.")
    released = _read_release(warehouse, read, project, spec, location)
    effort = table.efforts[released.effort - 1]
    truth, of = _truth(warehouse, read, spec, released)
    wrong = _wrong_cells(released.cells, truth, effort)
    yield Finding(
        "recomputation",
        "table",
        not wrong,
        f"every cell must follow from {of}; {pluralized(len(truth), 'cell')} counted again, "
        f"{wrong or 'none'} differ" + (". Run `dbt build`." if wrong else ""),
    )
    yield _guarantee(released.cells, truth, table, is_hidden=isinstance(effort, Hide))
    yield from _others(warehouse, project, spec)


def _others(warehouse: Warehouse, project: Project, spec: Spec) -> Iterator[Finding]:
    """Warn of what is released of the same people beside the table, which nothing computes."""
    same = [
        other.name
        for other in load_specs(project.root)
        if other.name != spec.name and share_people(warehouse, other, spec)
    ]
    if same:
        yield Finding(
            "guarantees",
            "other releases",
            None,
            f"releases of the same people ({', '.join(same)}) may give hidden cells and noise "
            "away, since they are counts too; nothing here computes that. Show either, or to "
            "different readers",
            is_warning=True,
        )


def _table(spec: Spec) -> Table | None:
    return cast("Table | None", cast(Any, spec).table)


def _read_release(
    warehouse: Warehouse, read: Warehouse, project: Project, spec: Spec, location: str
) -> _Released:
    table = cast(Table, _table(spec))
    columns = ", ".join(map(quote_name, (*table.dimensions, PEOPLE, *table.sums, "status")))
    name = f"{spec.name}_table"
    if warehouse.is_duckdb:
        import duckdb  # noqa: PLC0415 (slow to import)

        with duckdb.connect(str(project.root / location), read_only=True) as session:
            rows = session.execute(f"select {columns} from {quote_name(name)}").fetchall()
    else:
        rows = read.rows(f"select {columns} from {read.relation_of_ref(name)}")
    relation = warehouse.relation_of_ref(f"{spec.name}_table_results")
    chosen = warehouse.rows(f"select max(effort) from {relation} where is_chosen")[0][0]
    width = len(table.dimensions)
    cells = {tuple(row[:width]): tuple(row[width:]) for row in rows}
    if chosen is None:
        return _Released(_earlier_effort(warehouse, spec, table), cells, is_earlier=True)
    return _Released(int(chosen), cells, is_earlier=False)


def _remembered(warehouse: Warehouse, spec: Spec) -> str:
    """Return the relation of the vault that remembers released cells."""
    return str(warehouse.find_in_vault(spec.name, "table_releases", beside="table_draws"))


def _truth(
    warehouse: Warehouse, read: Warehouse, spec: Spec, released: _Released
) -> tuple[dict[Cell, _True], str]:
    """Return the true figures of each cell, and what they follow from.

    Of an earlier table that stays, the records may have changed: the vault remembers its counts.
    """
    table = cast(Table, _table(spec))
    if not released.is_earlier:
        return dict(_recounted(read, spec, table.levels(released.effort))), "the source"
    names = table.dimensions
    labels = {cell_text(dict(zip(names, cell, strict=True))): cell for cell in released.cells}
    protection = quote_text(table.released_as(released.effort))
    rows = warehouse.rows(
        f"select cell, people from {_remembered(warehouse, spec)} where protection = {protection}"
    )
    # It remembers cells of other margins as well, which a release before showed.
    truth = {labels[one]: _True((float(people),), []) for one, people in rows if one in labels}
    return truth, "what the vault remembers of an earlier release, which stays"


def _earlier_effort(warehouse: Warehouse, spec: Spec, table: Table) -> int:
    """Return the effort of an earlier table that stays."""
    releases = _remembered(warehouse, spec)
    found = {one for (one,) in warehouse.rows(f"select distinct protection from {releases}")}
    for number in range(1, len(table.efforts) + 1):
        if table.released_as(number) in found:
            return number
    raise VerificationError(
        f"{spec.name}: the table was released by an effort that the spec no longer has "
        f"({', '.join(sorted(found)) or 'none'}). Declare it again to verify it."
    )


def _recounted(read: Warehouse, spec: Spec, levels: dict[str, int]) -> Iterator[tuple[Cell, _True]]:
    """Yield the figures of each cell, counted from the source margin by margin."""
    table, source = cast(Table, _table(spec)), str(source_relation(read, spec.source))
    tables = Tables(read.cursor(), source, {})
    if isinstance(read, CopiedWarehouse):
        tables = replace(tables, written=read.written)
    joins, labels = [], {}
    for place, name in enumerate(table.dimensions):
        value = f"rows_.{quote_name(name)}"
        tree = spec.quasi_identifiers.get(name)
        if tree is None:
            labels[name] = f"coalesce({tables.text(value)}, '*')"
            continue
        hierarchy = str(read.relation_of_ref(tree.ref))
        one = Generalization(name, tree, hierarchy, tables.text)
        lookup = one.label(source, one.null_if_unknown(value), levels[name], f"tree_{place}")
        joins.append(lookup.join)
        labels[name] = lookup.columns[name]
    person = f"rows_.{quote_name(spec.person_column)}"
    amounts = [f"sum(coalesce(rows_.{quote_name(name)}, 0))" for name in table.sums]
    own = ", ".join(f"{sql} as amount_{place}" for place, sql in enumerate(amounts))
    places = range(len(table.sums))
    measures = ["count(*)", *(f"sum(amount_{n}), max(amount_{n}, 2)" for n in places)]
    for margin in table.margins:
        shown = [labels[name] if name in margin else "null" for name in table.dimensions]
        columns = [f"{sql} as label_{place}" for place, sql in enumerate(shown)]
        names = ", ".join(f"label_{place}" for place in range(len(shown)))
        rows = tables.rows(
            f"select {names}, {', '.join(measures)} from (select {', '.join(columns)}, {person} "
            f"as person{', ' if own else ''}{own} from {source} as rows_ {' '.join(joins)} "
            f"where {person} is not null group by all) as people group by {names}"
        )
        for row in rows:
            people, *figures = row[len(shown) :]
            largest = [tuple([*map(float, top), 0.0, 0.0][:2]) for top in figures[1::2]]
            yield row[: len(shown)], _True((float(people), *map(float, figures[::2])), largest)


def _wrong_cells(
    released: dict[Cell, tuple[Any, ...]],
    truth: dict[Cell, _True],
    effort: object,
) -> int:
    """Return how many cells are not what they must be, those that only one of both has too."""
    wrong = len(released.keys() ^ truth.keys())
    for cell in released.keys() & truth.keys():
        *figures, status = released[cell]
        if status == "hidden":
            wrong += any(figure is not None for figure in figures)
        elif any(figure is None for figure in figures):
            wrong += 1
        else:
            known = truth[cell].figures
            wrong += not all(map(_agrees(effort), figures[: len(known)], known))
    return wrong


def _agrees(effort: object) -> Any:
    """Return a function that compares a shown figure with the true one."""
    if isinstance(effort, Hide):
        return lambda shown, true: abs(float(shown) - true) <= 10**-DECIMALS + 1e-9 * abs(true)
    if isinstance(effort, Noise):
        return lambda shown, true: shown >= 0 and abs(shown - true) <= effort.largest
    base = cast(Any, effort).base
    return lambda shown, true: shown % base == 0 and abs(shown - true) < base


def _guarantee(
    released: dict[Cell, tuple[Any, ...]],
    truth: dict[Cell, _True],
    table: Table,
    *,
    is_hidden: bool,
) -> Finding:
    """Audit the hidden cells by what everybody is shown."""
    least = table.minimum_frequency
    small = {cell for cell, one in truth.items() if one.figures[0] < least}
    if not is_hidden:
        return Finding(
            "guarantees",
            "table",
            None,
            f"{pluralized(len(small), 'cell')} with fewer than {least} people shown with noise or "
            "rounded; QNF says how closely they are told",
        )
    shown = {cell for cell in small & released.keys() if released[cell][-1] != "hidden"}
    try:
        people = _read(released, table, 0)
        told = [
            one for one in hidden_intervals(people) if one.labels in small and not one.hides(least)
        ]
        sums = [_told_sums(released, truth, table, place) for place in range(len(table.sums))]
    except TableError as error:  # somebody changed the release
        return Finding("guarantees", "table", holds=False, message=str(error))
    broken = len(shown) + len(told) + sum(sums)
    of_sums = f", and no sum of which few have too much ({', '.join(table.sums)})"
    return Finding(
        "guarantees",
        "table",
        not broken,
        f"no cell with 1 to {least - 1} people may be shown, or be told by the others"
        f"{of_sums if table.sums else ''}; of {pluralized(len(small), 'small cell')} and sums "
        f"{broken or 'none'} is" + (". Run `dbt build`, and withdraw the table." if broken else ""),
    )


def _read(released: dict[Cell, tuple[Any, ...]], table: Table, place: int) -> Published:
    rows = [(*cell, figures[place]) for cell, figures in released.items()]
    return read_table(rows, table.dimensions, None, are_totals_known=True)


def _told_sums(
    released: dict[Cell, tuple[Any, ...]], truth: dict[Cell, _True], table: Table, place: int
) -> int:
    """Return how many sums break a rule and are shown, or told by the others.

    An earlier table has no contributions to judge by.
    """
    judged = [cell for cell in released if cell in truth and truth[cell].largest]
    if not judged:
        return 0
    totals = np.array([truth[cell].figures[place + 1] for cell in judged])
    first, second = np.array([truth[cell].largest[place] for cell in judged]).T
    primary = table.rules.of_sums(totals, first, second)
    shown = _read(released, table, place + 1)
    rows = {cell: row for row, cell in enumerate(released)}
    cells = shown.of_row[[rows[cell] for cell in judged]]
    is_hidden = shown.is_hidden[cells]
    asked = np.flatnonzero(primary.is_primary & is_hidden)
    low, high = intervals(shown.cube, Known.of_published(shown.values, least=0.0), cells[asked])
    room = 10**-DECIMALS * shown.cube.size + 1e-6 * np.abs(totals[asked])
    is_told = (low > totals[asked] - primary.lower[asked] + room) | (
        high < totals[asked] + primary.upper[asked] - room
    )
    return int((primary.is_primary & ~is_hidden).sum() + is_told.sum())
