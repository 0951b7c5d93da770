"""The released table, for the commands that know of any release: see `extension.py`."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.extensions.tables.declared import (
    INTERVALS,
    Hide,
    Noise,
    Table,
)
from dbt_anonymize.extensions.tables.efforts import DECIMALS, STATUS_OF
from dbt_anonymize.extensions.tables.errors import TableError
from dbt_anonymize.extensions.tables.hidden import Interval, hidden_intervals
from dbt_anonymize.extensions.tables.reading import cell_text
from dbt_anonymize.extensions.tables.recount import (
    Cell,
    Counted,
    figures_of,
    recounted,
    trees_of_release,
)
from dbt_anonymize.extensions.tables.register import history
from dbt_anonymize.extensions.tables.released_audit import Released, audited, published
from dbt_anonymize.extensions.tables.report import report
from dbt_anonymize.extensions.tables.results import released_rows, results
from dbt_anonymize.extensions.tables.subtotals import key_of
from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.project.lineage import share_people
from dbt_anonymize.project.results import release_location
from dbt_anonymize.spec import load_specs
from dbt_anonymize.verify.finding import Finding

if TYPE_CHECKING:
    from dbt_anonymize.project.layout import Project
    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Spec

__all__ = ["findings", "history", "report", "results"]


def findings(
    warehouse: Warehouse, read: Warehouse, project: Project, spec: Spec
) -> Iterator[Finding]:
    """Yield what a released table must keep: it is counted again, and its hidden cells audited.

    ``read`` is the warehouse, or a copy of it on DuckDB.
    """
    table = _table(spec)
    if not (location := release_location(warehouse, spec.name, project.root)):
        raise VerificationError("a table must be released to be checked; none is. Run `dbt build`.")
    released = _read_release(warehouse, project, spec, location)
    effort = table.efforts[released.effort - 1]
    truth, of = _truth(warehouse, read, spec, released)
    trees = trees_of_release(read, spec, released.effort, released.cells)
    wrong = _wrong_cells(released.cells, truth, effort)
    if not released.is_earlier:
        wrong = max(wrong, _unlike_effort(warehouse, spec, released))
    yield Finding(
        "recomputation",
        "table",
        not wrong,
        f"every cell must follow from {of}; {pluralized(len(truth), 'cell')} counted again, "
        f"{wrong or 'none'} differ" + (". Run `dbt build`." if wrong else ""),
    )

    @cache  # minutes of programs, for two checks
    def hidden() -> list[Interval]:
        return hidden_intervals(published(released.cells, table, trees, 0))

    if isinstance(effort, Hide):
        yield audited(released, truth, table, trees, hidden)
    else:
        yield _changed(truth, table)
    if released.ends:
        yield _intervals(released, truth, table, hidden)
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


def _table(spec: Spec) -> Table:
    return cast(Table, cast(Any, spec).table)


def _read_release(warehouse: Warehouse, project: Project, spec: Spec, location: str) -> Released:
    table = _table(spec)
    relation = warehouse.relation_of_ref(f"{spec.name}_table_results")
    chosen = warehouse.rows(f"select max(effort) from {relation} where is_chosen")[0][0]
    found, rows = released_rows(warehouse, spec.name, project.root / location)
    # A table that stays may be from before intervals were declared, or after.
    declared, of_count = table.interval, INTERVALS[table.counts]
    ends = [name for name in of_count if name in found] if chosen is None else [*declared]
    levels = table.level_columns
    names = [*table.dimensions, *levels.values(), *ends, table.counts, *table.sums, "status"]
    if unlike := sorted({*found} ^ {*names}):
        raise VerificationError(
            f"the released table must have the columns {', '.join(names)}; {', '.join(unlike)} "
            "differ. Run `dbt build`, and withdraw what nobody declared."
        )
    cells, intervals = {}, {}
    for values in rows:
        row = dict(zip(found, values, strict=True))
        cell = _cell_of(row, table)
        unnamed = [
            name for name, column in levels.items() if (row[name] is None) != (row[column] is None)
        ]
        if cell in cells or unnamed:
            raise VerificationError(
                "each cell must stand once in the released table, with a level where it has a "
                "label; some do not. Run `dbt build`, and withdraw the table."
            )
        cells[cell] = tuple(row[name] for name in (table.counts, *table.sums, "status"))
        if ends:
            intervals[cell] = row[ends[0]], row[ends[1]]
    effort = _earlier_effort(warehouse, spec, table) if chosen is None else int(chosen)
    return Released(effort, cells, intervals, is_earlier=chosen is None)


def _cell_of(row: Mapping[str, Any], table: Table) -> Cell:
    """Return the labels of a row, keys of those of dimensions with subtotals."""
    levels = {name: row[column] for name, column in table.level_columns.items()}
    return tuple(
        row[name] if levels.get(name) is None else key_of(levels[name], row[name])
        for name in table.dimensions
    )


def _unlike_effort(warehouse: Warehouse, spec: Spec, released: Released) -> int:
    """Return how many cells are not what the chosen effort shows: noise is not counted again."""
    table = _table(spec)
    figures = (table.counts, *table.sums, "status")
    names = [*table.dimensions, *table.level_columns.values(), *figures]
    relation = warehouse.relation_of_ref(f"{spec.name}_table_efforts")
    rows = warehouse.rows(
        f"select {', '.join(map(quote_name, names))} from {relation} where kind = 'cell' and "
        f"effort = {released.effort}"
    )
    shown = {}
    for values in rows:
        row = dict(zip(names, values, strict=True))
        shown[_cell_of(row, table)] = tuple(row[name] for name in figures)
    same = released.cells.keys() & shown.keys()
    unlike = len(released.cells.keys() ^ shown.keys())
    return unlike + sum(not all(map(_is_same, released.cells[one], shown[one])) for one in same)


def _is_same(one: Any, other: Any) -> bool:
    if one is None or other is None or isinstance(one, str):
        return bool(one == other)
    return bool(abs(float(one) - float(other)) <= 10**-DECIMALS)


def _remembered(warehouse: Warehouse, spec: Spec) -> str:
    """Return the relation of the vault that remembers released cells."""
    return str(warehouse.find_in_vault(spec.name, "table_releases", beside="table_draws"))


def _truth(
    warehouse: Warehouse, read: Warehouse, spec: Spec, released: Released
) -> tuple[dict[Cell, Counted], str]:
    """Return the true figures of each cell, and what they follow from.

    Of an earlier table that stays, the records may have changed: the vault remembers its counts.
    """
    table = _table(spec)
    if not released.is_earlier:
        return dict(recounted(read, spec, released.effort)), "the source"
    names = table.dimensions
    labels = {cell_text(dict(zip(names, cell, strict=True))): cell for cell in released.cells}
    protection = quote_text(table.released_as(released.effort))
    rows = warehouse.rows(
        f"select cell, people, sums, status from {_remembered(warehouse, spec)} "
        f"where protection = {protection}"
    )
    truth = {}
    for cell, people, sums, status in rows:
        # It remembers cells of other margins as well, which a release before showed.
        if cell in labels:
            figures = figures_of(table, people, str(sums).split())
            truth[labels[cell]] = Counted(float(people), figures, [], status)
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


def _wrong_cells(
    released: dict[Cell, tuple[Any, ...]],
    truth: dict[Cell, Counted],
    effort: object,
) -> int:
    """Return how many cells are not what they must be, those that only one of both has too."""
    wrong = len(released.keys() ^ truth.keys())
    of_shown = STATUS_OF[cast(Any, effort).method]
    for cell in released.keys() & truth.keys():
        *figures, status = released[cell]
        is_known = truth[cell].status in {None, status}
        if not is_known or (
            status != of_shown and not (isinstance(effort, Hide) and status == "hidden")
        ):
            wrong += 1
        elif status == "hidden":
            wrong += any(figure is not None for figure in figures)
        elif any(figure is None for figure in figures):
            wrong += 1
        else:
            wrong += not all(map(_agrees(effort), figures, truth[cell].figures))
    return wrong


def _agrees(effort: object) -> Any:
    """Return a function that compares a shown figure with the true one."""
    if isinstance(effort, Hide):
        return lambda shown, true: abs(float(shown) - true) <= 10**-DECIMALS + 1e-9 * abs(true)
    largest = _largest_change(effort)
    if isinstance(effort, Noise):
        return lambda shown, true: shown >= 0 and abs(shown - true) <= largest
    base = largest + 1
    return lambda shown, true: shown % base == 0 and abs(shown - true) < base


def _largest_change(effort: object) -> int:
    return effort.largest if isinstance(effort, Noise) else int(cast(Any, effort).base) - 1


def _intervals(
    released: Released,
    truth: dict[Cell, Counted],
    table: Table,
    hidden: Callable[[], list[Interval]],
) -> Finding:
    """Compare shown intervals with what the table tells, or with the largest change."""
    effort, wrong = table.efforts[released.effort - 1], 0
    told: dict[Cell, tuple[float, float]] = {}
    try:
        if isinstance(effort, Hide):
            told = {one.labels: (one.lowest, one.highest) for one in hidden()}
    except TableError as error:  # somebody changed the release
        return Finding("recomputation", "intervals", holds=False, message=str(error))
    largest = 0 if isinstance(effort, Hide) else _largest_change(effort)
    for cell, ends in released.ends.items():
        count = released.cells[cell][0]
        low, high = told[cell] if count is None else (max(count - largest, 1), count + largest)
        shown = float(ends[0] or 0), float("inf") if ends[1] is None else float(ends[1])
        is_same = all(map(_is_whole_of, shown, (low, high)))
        wrong += not (is_same and (cell not in truth or _holds(shown, truth[cell].figures[0])))
    return Finding(
        "recomputation",
        "intervals",
        not wrong,
        f"every interval must follow from all that is shown; of "
        f"{pluralized(len(released.ends), 'cell')} {wrong or 'none'} differ",
    )


def _is_whole_of(shown: float, end: float) -> bool:
    """Tell whether an end is the one that is shown, or was rounded outwards for it."""
    return shown == end or abs(shown - end) < 1


def _holds(ends: tuple[float, float], count: float) -> bool:
    return ends[0] <= count <= ends[1]


def _changed(truth: dict[Cell, Counted], table: Table) -> Finding:
    """Say how many small cells are shown with noise or rounded."""
    least = table.minimum_frequency
    small = sum(one.people < least for one in truth.values())
    return Finding(
        "guarantees",
        "table",
        None,
        f"{pluralized(small, 'cell')} with fewer than {least} people shown with noise or rounded; "
        "QNF says how closely they are told",
    )
