"""Tables of counts with small cells hidden, for Python models of dbt."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dbt_anonymize.extensions.tables.errors import TableError
from dbt_anonymize.extensions.tables.primary import by_minimum_frequency
from dbt_anonymize.extensions.tables.reading import Published, read_table
from dbt_anonymize.extensions.tables.suppression import suppress

if TYPE_CHECKING:
    import pandas as pd

    from dbt_anonymize.extensions.tables.cube import Floats

STATUS = "status"


def suppress_table(
    cells: pd.DataFrame,
    *,
    dimensions: Sequence[str],
    count: str,
    minimum_frequency: int = 5,
    total: str | None = None,
    seconds: float = 300.0,
    folder: str | Path | None = None,
) -> pd.DataFrame:
    """Return a table of counts with small cells hidden, and as few others as keep them so.

    Given all that is shown, each small cell may be empty but for one person, or have the minimum
    frequency and one more: whoever is in another hidden cell knows that it is not empty.

    Parameters
    ----------
    cells : DataFrame
        One row per cell; of each combination of dimensions that has totals, all that are not zero.
        Everybody is in one cell of the finest ones only, so that counts add up.
    dimensions, count : list of str and str
        Columns: labels and counts.
    minimum_frequency : int, >= 2
        People that a shown cell must have, if it has any.
    total : str
        Label of a total over a dimension; NULL by default.
    seconds : float
        Time limit.
    folder : path
        Private folder for files that hold counts while cells are chosen, and are removed then; by
        default one in the folder of temporary files.

    Returns
    -------
    DataFrame
        The rows, with NULL for hidden counts, and a column ``status``: published or hidden. Which
        hidden cells are small is not told.

    Raises
    ------
    TableError
        If counts are missing or do not add up, pytauargus is missing, or no cells are found in
        time.
    """
    columns = [*dimensions, count]
    if missing := [name for name in columns if name not in cells.columns]:
        raise TableError(
            f"a table of counts must have the columns {', '.join(columns)}; missing: "
            f"{', '.join(missing)}."
        )
    rows = cells[columns].astype(object).where(cells[columns].notna(), None).to_numpy().tolist()
    table = read_table(rows, dimensions, total)
    values = _counts(table, count)
    small = by_minimum_frequency(np.round(values).astype(np.int64), minimum_frequency)
    is_hidden = suppress(
        table.cube,
        values,
        small.is_primary,
        small.lower,
        np.where(small.is_primary, small.upper + 1, 0.0),
        np.where(table.is_shown, values, 0.0),
        seconds=seconds,
        folder=_private_folder(folder),
    )
    of_row = is_hidden[table.of_row]
    shown = cells.assign(**{count: cells[count].astype("Int64").mask(of_row)})
    return shown.assign(**{STATUS: np.where(of_row, "hidden", "published")})


def _counts(table: Published, count: str) -> Floats:
    """Return the counts of all cells, those that are not shown too."""
    if table.is_hidden.any():
        raise TableError(
            f"{count} must have a count in each row; {int(table.is_hidden.sum()):,} are NULL. "
            "Count first, and hide then."
        )
    inner = table.values[table.cube.is_inner]
    if np.isnan(inner).any():
        raise TableError(
            "a table must have its finest cells, of all dimensions together; there are totals only. "
            "Group by all of them, too: the finest cells need not be shown."
        )
    if (inner != np.round(inner)).any():
        raise TableError(f"{count} must have whole numbers; some have fractions. Show no sums.")
    values = table.cube.totals(np.nan_to_num(table.values))
    is_other = ~np.isnan(table.values) & (table.values != values)
    if is_other.any():
        raise TableError(
            f"counts must add up: {int(is_other.sum()):,} of {len(values):,} totals are no sums. "
            "People who are in several cells count in each: hidden cells cannot protect them. Count "
            "records, or show counts with noise."
        )
    return values


def _private_folder(declared: str | Path | None) -> Path:
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
