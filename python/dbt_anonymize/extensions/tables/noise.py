"""Tables of counts with noise, for Python models of dbt: by cell keys, or rounded to a base."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_anonymize.extensions.tables.cell_keys import (
    perturbation_table,
    perturbed,
    read_perturbation_table,
)
from dbt_anonymize.extensions.tables.errors import TableError
from dbt_anonymize.extensions.tables.reading import require_columns
from dbt_anonymize.extensions.tables.rounding import rounded

if TYPE_CHECKING:
    import pandas as pd

    from dbt_anonymize.arrays import Ints


def perturb_table(
    cells: pd.DataFrame,
    *,
    count: str,
    keys: str,
    variance: float | None = None,
    largest: int | None = None,
    forbidden: Collection[int] = (),
    table: str | Path | None = None,
) -> pd.DataFrame:
    """Return a table of counts with noise that is the same wherever the same cell is shown.

    Parameters
    ----------
    cells : DataFrame
        One row per cell, totals included or not.
    count, keys : str
        Columns: the count, and the sum of the keys of those who are counted, integers uniform in
        [0, 2^32) that are drawn once and kept from readers. The column of keys is left out.
    variance, largest : float and int
        Variance and largest absolute change of the noise, whose mean is 0.
    forbidden : collection of int
        Counts that are never shown, such as 1 and 2.
    table : path
        A perturbation table of an office instead, CSV with the columns pcv, ckey and pvalue.

    Raises
    ------
    TableError
        If a column is not there or has no whole numbers.
    SpecError
        If no noise is as asked for.

    Examples
    --------
    >>> import pandas as pd
    >>> cells = pd.DataFrame({"ward": ["a", "b"], "people": [4, 9], "keys": [7, 2**33 + 5]})
    >>> perturb_table(cells, count="people", keys="keys", variance=1, largest=2)
      ward  people
    0    a       2
    1    b       7
    """
    counts, key_sums = _columns(cells, count, keys)
    if table is not None:
        noise = read_perturbation_table(Path(table))
    elif variance is None or largest is None:
        raise TableError(
            "perturb_table: must have variance and largest, or the table of an office; got neither."
        )
    else:
        noise = perturbation_table(variance=variance, largest=largest, forbidden=forbidden)
    return _shown(cells, count, keys, perturbed(counts, key_sums, noise))


def round_table(cells: pd.DataFrame, *, count: str, keys: str, base: int) -> pd.DataFrame:
    """Return a table of counts rounded up or down to multiples of a base, at random but once.

    The mean is right; the same cell is rounded alike wherever it is shown. Columns and errors are
    those of `perturb_table`.

    Examples
    --------
    >>> import pandas as pd
    >>> cells = pd.DataFrame({"ward": ["a", "b"], "people": [4, 10], "keys": [7, 5]})
    >>> round_table(cells, count="people", keys="keys", base=5)
      ward  people
    0    a       5
    1    b      10
    """
    counts, key_sums = _columns(cells, count, keys)
    return _shown(cells, count, keys, rounded(counts, key_sums, base))


def _columns(cells: pd.DataFrame, count: str, keys: str) -> tuple[Ints, Ints]:
    require_columns(cells.columns, [count, keys])
    for name in (count, keys):
        figures = cells[name]
        if figures.dtype.kind not in "iu" or figures.isna().any() or (figures < 0).any():
            raise TableError(
                f"{name} must have whole numbers >= 0, none of them NULL; its type is "
                f"{figures.dtype}. A sum is exact as `cast(sum(…) as bigint)`."
            )
    return cells[count].to_numpy(), cells[keys].to_numpy()


def _shown(cells: pd.DataFrame, count: str, keys: str, counts: Ints) -> pd.DataFrame:
    return cells.drop(columns=keys).assign(**{count: counts})
