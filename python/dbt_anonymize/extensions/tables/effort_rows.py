"""The rows of ``<n>_table_efforts``: cells of an effort, its small cells, and the effort itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dbt_anonymize.extensions.tables.declared import Table
from dbt_anonymize.extensions.tables.subtotals import label_of

if TYPE_CHECKING:
    import pandas as pd

    from dbt_anonymize.extensions.tables.told import Told


@dataclass(frozen=True)
class Protected:
    """Cells as an effort shows them, what is told of small ones, and how private that is.

    Of an effort that cannot be released the ``refusal`` says why.
    """

    cells: pd.DataFrame
    small: pd.DataFrame | None = None
    qnf: float | None = None
    refusal: str | None = None
    quality: tuple[float | None, float | None] = field(default=(None, None))


def small_rows(cells: pd.DataFrame, told: Sequence[Told], declared: Table) -> pd.DataFrame:
    """Return a row per small cell and measure: its labels, and what readers can compute of it."""
    import pandas as pd  # noqa: PLC0415 (slow to import)

    own = [
        cells.iloc[one.rows]
        .drop(columns=[declared.counts])
        .assign(measure=one.measure, lowest=one.lowest, highest=one.highest, demanded=one.demanded)
        for one in told
    ]
    return pd.concat(own, ignore_index=True)


def effort_rows(number: int, shown: Protected, declared: Table) -> pd.DataFrame:
    """Return the rows of an effort in the columns of ``<n>_table_efforts``."""
    import pandas as pd  # noqa: PLC0415

    of_effort: dict[str, Any] = {
        "kind": "effort",
        "qf": shown.quality[0],
        "zero_rule": shown.quality[1],
        "qnf": shown.qnf,
        "refusal": shown.refusal,
    }
    types = {
        "effort": "int64",
        "kind": "str",
        **dict.fromkeys(declared.dimensions, "str"),
        **dict.fromkeys(declared.level_columns.values(), "Int64"),
        "cell": "str",
        **dict.fromkeys((declared.counts, *declared.interval), "Int64"),
        **dict.fromkeys(declared.sums, "Float64"),
        "status": "str",
        "measure": "str",
        **dict.fromkeys(("lowest", "highest", "demanded", "qf", "zero_rule", "qnf"), "Float64"),
        "refusal": "str",
    }
    rows: list[dict[Any, Any]] = []
    for kind, cells in {"cell": shown.cells, "small": shown.small}.items():
        if cells is not None:
            records = _without_keys(cells, declared).to_dict("records")
            rows += [{**row, "kind": kind} for row in records]
    rows = [{**row, "effort": number} for row in [*rows, of_effort]]
    columns = {
        name: pd.Series(
            [_known(row.get(name)) for row in rows], dtype="object" if kind == "str" else kind
        )
        for name, kind in types.items()
    }
    return pd.DataFrame(columns)


def _without_keys(cells: pd.DataFrame, declared: Table) -> pd.DataFrame:
    keys = {name: cells[name] for name in declared.level_columns}
    labels: dict[str, Any] = {
        name: [label_of(key) if isinstance(key, str) else None for key in own]
        for name, own in keys.items()
    }
    return cells.assign(**labels)


def _known(value: Any) -> Any:
    """Return None of what is missing in any of pandas' ways, or without end."""
    import pandas as pd  # noqa: PLC0415

    if value is None or value is pd.NA or value != value or value == np.inf:  # noqa: PLR0124
        return None
    return value
