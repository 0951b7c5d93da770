"""Tables of counts and sums with small cells hidden, for Python models of dbt."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dbt_anonymize.extensions.tables.contributors import telling_knowledge
from dbt_anonymize.extensions.tables.errors import NotAdditiveError, TableError
from dbt_anonymize.extensions.tables.primary import Primary, TableRules
from dbt_anonymize.extensions.tables.reading import (
    STATUS,
    Published,
    read_table,
    refuse_unfit_columns,
    status_of,
)
from dbt_anonymize.extensions.tables.suppression import narrow_cells, reachable, suppress

if TYPE_CHECKING:
    import pandas as pd

    from dbt_anonymize.arrays import Bools, Floats
    from dbt_anonymize.extensions.tables.cube import Cube


class Measure(NamedTuple):
    """Figures of each cell, what rules say of them, and the largest contribution to each.

    The latter is None of counts of people, who contribute one each.
    """

    figures: Floats
    primary: Primary
    largest: Floats | None = None


def suppress_table(
    cells: pd.DataFrame,
    *,
    dimensions: Sequence[str],
    count: str,
    sums: Mapping[str, tuple[str, str]] | None = None,
    total: str | None = None,
    other: Sequence[str] = (),
    seconds: float = 300.0,
    folder: str | Path | None = None,
    **rules: object,
) -> pd.DataFrame:
    """Return a table of counts, and of sums, with cells hidden that would give somebody away.

    The same cells are hidden of all measures: those that break a rule, and as few others as keep
    them hidden. Given all that is shown, and that no hidden cell is empty since zeros are shown, a
    small count may be of one person alone, or the minimum frequency and one more; a small total of
    as many people as it has cells.

    Parameters
    ----------
    cells : DataFrame
        One row per cell; of each combination of dimensions that has totals, all that are not zero.
        Everybody is in one cell of the finest ones only, so that counts add up.
    dimensions, count : list of str and str
        Columns: labels, and counts of people.
    sums : mapping of str to (str, str)
        Columns with sums of contributions >= 0, each with the columns of the largest and the second
        largest contribution of a person to the cell, which are left out of the result.
    total : str
        Label of a total over a dimension; NULL by default.
    other : list of str
        Further columns, shown as they are: they do not follow from the counts, as shares would.
    seconds : float
        Time limit of each measure.
    folder : path
        Private folder for files that hold figures while cells are chosen, and are removed then; by
        default one in the folder of temporary files.
    rules
        Fields of `TableRules`: minimum_frequency, p_percent, dominance.

    Returns
    -------
    DataFrame
        The rows, with NULL for hidden figures, and a column ``status``: published or hidden. Which
        hidden cells are small is not told.

    Raises
    ------
    TableError
        If figures are missing or do not add up, a column has no name in the arguments, pytauargus
        is missing, or no cells are found in time.
    """
    sums = sums or {}
    contributions = [name for pair in sums.values() for name in pair]
    refuse_unfit_columns(cells.columns, dimensions, [count, *sums, *contributions], other)
    if STATUS in {*cells.columns} - {*contributions}:
        raise TableError(
            f"a table of counts gets a column {STATUS}, which says what is hidden; rename its own."
        )
    declared = _rules(rules)
    table = read_table(rows_of(cells, [*dimensions, count]), dimensions, total)
    nothing = np.zeros(table.cube.size, dtype=bool)
    measures = judged(table, cells, count, sums, declared)
    is_hidden = hidden_cells(table, measures, nothing, seconds, own_folder(folder))
    of_row = is_hidden[table.of_row]
    shown = cells.drop(columns=contributions).assign(
        **{
            name: cells[name].astype("Int64" if name == count else "Float64").mask(of_row)
            for name in (count, *sums)
        }
    )
    return shown.assign(**{STATUS: [status_of(is_one) for is_one in of_row]})


def judged(
    table: Published,
    cells: pd.DataFrame,
    count: str,
    sums: Mapping[str, tuple[str, str]],
    rules: TableRules,
) -> list[Measure]:
    """Return each measure, that of people first.

    Arrays are by cell of the table's cube. Raises a `TableError` where figures are missing, do not
    add up or are below zero.
    """
    counts = _figures(table, count)
    if (counts != np.round(counts)).any():
        raise TableError(f"{count} must have whole numbers; some have fractions.")

    measures = [Measure(counts, rules.of_counts(counts))]
    for name, pair in sums.items():
        first, second = (np.nan_to_num(beside(table, cells, one).values) for one in pair)
        figures = _figures(beside(table, cells, name), name)
        measures.append(Measure(figures, rules.of_sums(figures, first, second), first))
    return measures


def beside(table: Published, cells: pd.DataFrame, name: str) -> Published:
    """Return the table of another column of its rows."""
    return table.beside([figure for (figure,) in rows_of(cells, [name])])


def _rules(given: Mapping[str, object]) -> TableRules:
    if unknown := sorted(given.keys() - TableRules.__dataclass_fields__.keys()):
        raise TableError(
            f"rules must be {', '.join(TableRules.__dataclass_fields__)}; got {', '.join(unknown)}."
        )
    return TableRules(**given)  # type: ignore[arg-type]


def rows_of(cells: pd.DataFrame, names: Sequence[str]) -> list[list[object]]:
    """Return columns row by row, None where a value is missing."""
    columns = cells[[*names]]
    rows: list[list[object]] = (
        columns.astype(object).where(columns.notna(), None).to_numpy().tolist()
    )
    return rows


def hidden_cells(
    table: Published, measures: Sequence[Measure], is_hidden: Bools, seconds: float, folder: Path
) -> Bools:
    """Hide further cells, for one measure after the other; hidden ones cost nothing."""
    cube, counts = table.cube, measures[0].figures
    for measure, least in known_of(table, measures):
        figures, primary, _ = measure
        is_hidden = is_hidden | primary.is_primary | (~table.is_shown & (figures > 0))
        known: Floats | None = least
        while known is not None:
            cost = np.where(is_hidden | ~table.is_shown, 0.0, counts)
            is_hidden = is_hidden | suppress(
                cube, figures, primary, cost, known, seconds=seconds, folder=folder
            )
            known = next(known_by_contributors(cube, measures, measure, is_hidden, least), None)
    return is_hidden


def known_of(table: Published, measures: Sequence[Measure]) -> Iterator[tuple[Measure, Floats]]:
    """Yield each measure with how much everybody knows of its hidden cells.

    Zeros are shown, so a hidden cell of the first measure, a count, has somebody; her contribution
    to a sum may be next to nothing.
    """
    count = measures[0].figures
    somebody = np.where(table.is_shown, np.minimum(count, 1.0), 0.0)
    for measure in measures:
        yield measure, somebody if measure.figures is count else np.zeros(len(count))


def known_by_contributors(
    cube: Cube, measures: Sequence[Measure], measure: Measure, is_hidden: Bools, everybody: Floats
) -> Iterator[Floats]:
    """Yield what contributors know of a measure where it tells small cells too closely."""
    figures, primary, largest = measure
    if largest is None:
        return

    def tells(least: Floats) -> bool:
        demanded = reachable(cube, figures, primary, least)
        return bool(narrow_cells(cube, figures, demanded, is_hidden, least).any())

    yield from telling_knowledge(
        everybody,
        np.minimum(largest, figures),
        np.flatnonzero(cube.is_inner & is_hidden),
        are_apart=measures[0].largest is None,  # people are counted, once each
        tells=tells,
    )


def _figures(table: Published, name: str) -> Floats:
    """Return the figures of all cells, those that are not shown too."""
    if table.is_hidden.any():
        raise TableError(
            f"{name} must have a figure in each row; {int(table.is_hidden.sum()):,} are NULL. "
            "Count first, and hide then."
        )
    told = table.values  # noqa: PD011 (an array)
    if np.isnan(told[table.cube.is_inner]).any():
        raise TableError(
            "a table must have its finest cells, of all dimensions together; there are totals "
            "only. Group by all of them, too: the finest cells need not be shown."
        )
    values = table.cube.totals(np.nan_to_num(told))
    is_other = ~np.isnan(told) & ~np.isclose(told, values, rtol=1e-9, atol=1e-9)
    if is_other.any():
        raise NotAdditiveError(
            f"{name} must add up: {int(is_other.sum()):,} of {len(values):,} totals are no sums. "
            "People who are in several cells count in each: hidden cells cannot protect them. "
            "Count records (counts: records), or show counts with noise."
        )
    return values


def own_folder(declared: str | Path | None) -> Path:
    """Return the folder, made if it is not there; others may not read it."""
    name = f"dbt_anonymize_tables_{os.getuid()}"
    folder = Path(tempfile.gettempdir()) / name if declared is None else Path(declared)
    folder.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise TableError(
            f"{folder} must be a folder of the account that builds; it is another's or a link. "
            "Remove it, or name another `folder`."
        )
    return folder
