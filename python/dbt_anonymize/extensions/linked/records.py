"""Subjects and linked records as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.errors import AnonymizeError

if TYPE_CHECKING:
    import pandas as pd

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
SUBJECTS = "subjects"
_KEYS = {"rows", "key", "to_subject", "quasi_identifiers"}


class LinkError(AnonymizeError, ValueError):
    """Linked tables cannot be followed, or cannot be protected as declared."""


@dataclass(frozen=True)
class Links:
    """Subjects with classes of their own values, and the records of all linked tables.

    ``own`` has a number per subject. The others have one per record, those of a table after those
    of the table that it leads over: ``subject``, the place of its subject; ``table``; ``value``,
    where equal values of a table have equal numbers; and ``parent``, the place of the record that
    it leads over, or -1.
    """

    own: Integers
    subject: Integers
    table: Integers
    value: Integers
    parent: Integers

    @property
    def tables(self) -> int:
        """Number of tables that have records, and those before them."""
        return int(self.table.max(initial=-1)) + 1


def read_links(
    subjects: Mapping[str, Any], tables: Mapping[str, Mapping[str, Any]]
) -> tuple[Links, list[str]]:
    """Return linked tables as numbers, and their names in the order of ``Links.table``.

    Raises a `LinkError` for keys that are missing, repeated, or lead nowhere, and for columns that
    are missing or of types that SQL compares otherwise.
    """
    _check_table(SUBJECTS, subjects, _KEYS - {"to_subject"})
    places = {"": _places(SUBJECTS, subjects)}
    order = _ordered(tables)
    parts: list[tuple[Integers, ...]] = []
    first = dict.fromkeys(order, 0)
    number = 0
    for place, name in enumerate(order):
        table = tables[name]
        over, column = _parent_and_column(table)
        found = places[over].get_indexer(_keys(table["rows"][column]))
        if (missing := int((found < 0).sum())) > 0:
            raise LinkError(
                f"{name} must lead to subjects by {column}; {missing} records lead nowhere. Leave "
                "them out, or add whom they are of."
            )
        places[name] = _places(name, table)
        first[name] = number
        parent = found + first[over] if over else np.full(len(found), -1)
        subject = np.concatenate([part[0] for part in parts])[parent] if over else found
        value = _codes(table["rows"], table["quasi_identifiers"])
        parts.append((subject, np.full(len(found), place), value, parent))
        number += len(found)
    joined = [np.concatenate(column).astype(np.int64) for column in zip(*parts, strict=True)]
    own = _codes(subjects["rows"], subjects["quasi_identifiers"])
    return Links(own, *joined), order


def keys_of(table: Mapping[str, Any]) -> pd.Series[str]:
    """Return the keys of the rows of a table, as text."""
    return _keys(table["rows"][table["key"]])


def _keys(column: pd.Series[Any]) -> pd.Series[str]:
    """Return keys as text, missing ones as NULL; whole numbers that NULL made floats stay whole.

    Keys of other types are refused: SQL may write them otherwise, and would find no row.
    """
    import pandas as pd  # noqa: PLC0415 (a second, which other commands need not wait for)

    keys = column.convert_dtypes()
    is_float = pd.api.types.is_float_dtype(column.dtype) and bool(column.notna().all())
    is_known = pd.api.types.is_integer_dtype(keys.dtype) or keys.dtype == "string"
    if len(keys) and (is_float or not is_known):
        raise LinkError(
            f"keys must be whole numbers or text; {column.name} has {column.dtype}. Cast it in a "
            "model before."
        )
    return keys.astype("string")


def _places(name: str, table: Mapping[str, Any]) -> Any:
    import pandas as pd  # noqa: PLC0415 (a second, which other commands need not wait for)

    keys = pd.Index(keys_of(table))
    wrong = len(keys) - int(keys.dropna().nunique())
    if wrong:
        raise LinkError(
            f"{name} must have {table['key']} in each row, once; {wrong} rows have none, or that of"
            " another row. Correct them."
        )
    return keys


def _codes(rows: pd.DataFrame, columns: Sequence[str]) -> Integers:
    """Return a number per row, equal for rows whose values are equal; NULL is a value."""
    codes = np.zeros(len(rows), dtype=np.int64)
    for column in columns:
        values = _comparable(rows[column]).factorize(use_na_sentinel=False)[0]
        codes = combined_codes(codes, values.astype(np.int64))
    return codes


def _comparable(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return values of which Python tells as many apart as SQL does, or refuse their type.

    As floats -0.0 is 0.0, and NaN is NULL; large whole numbers come as floats as well.
    """
    import pandas as pd  # noqa: PLC0415 (as above)

    types = pd.api.types
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.astype("string")
    known = types.infer_dtype(column, skipna=True)
    is_known = known in {"string", "integer", "boolean", "date", "datetime", "datetime64", "empty"}
    if not is_known or (types.is_float_dtype(column.dtype) and column.notna().any()):
        raise LinkError(
            "quasi-identifiers must be text, whole numbers, booleans or dates; "
            f"{column.name} has {column.dtype}. Cast it to text in a model before."
        )
    return column.astype("string")


def combined_codes(first: Integers, second: Integers) -> Integers:
    """Return a number from 0 on for each pair of numbers >= 0, equal for equal pairs.

    Examples
    --------
    >>> combined_codes(np.array([0, 0, 7, 0]), np.array([1, 0, 1, 1])).tolist()
    [1, 0, 2, 1]
    """
    width = int(second.max(initial=0)) + 1
    numbers: Integers = np.unique(first * width + second, return_inverse=True)[1].astype(np.int64)
    return numbers


def _parent_and_column(table: Mapping[str, Any]) -> tuple[str, str]:
    """Return the table that another leads over, or an empty text, and its column."""
    over = table["to_subject"]
    ((name, column),) = over.items() if isinstance(over, Mapping) else [("", over)]
    return str(name), str(column)


def _ordered(tables: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the names of tables, each behind that which it leads over."""
    for name, table in tables.items():
        _check_table(name, table, _KEYS)
        over = table["to_subject"]
        if isinstance(over, Mapping) and len(over) != 1:
            raise LinkError(
                f"{name} must lead to its subject by one column: a name, or one by the name of "
                f"another table; got {len(over)}. Correct to_subject."
            )
    order: list[str] = []
    while ready := [
        name
        for name in tables
        if name not in order and _parent_and_column(tables[name])[0] in {"", *order}
    ]:
        order += ready
    if len(order) < len(tables) or not order:
        left = ", ".join(name for name in tables if name not in order) or "there is no table"
        raise LinkError(f"each linked table must lead to the subjects; got {left}. Correct tables.")
    return order


def _check_table(name: str, table: Mapping[str, Any], keys: set[str]) -> None:
    """Require that a table is described by these, and has the columns that it names."""
    if {*table} != keys:
        raise LinkError(
            f"{name} must have {', '.join(sorted(keys))}; got {', '.join(map(str, table))}. "
            "Correct the arguments."
        )
    over, columns = table.get("to_subject"), table["quasi_identifiers"]
    if isinstance(columns, str) or not isinstance(columns, Sequence):
        raise LinkError(
            f"quasi_identifiers of {name} must be a list of columns; got {columns!r}. Correct it."
        )
    if over is not None and not isinstance(over, str | Mapping):
        raise LinkError(f"to_subject of {name} must be a column; got {over!r}. Correct it.")
    named = [table["key"], *columns, *(over.values() if isinstance(over, Mapping) else [over])]
    if missing := [str(c) for c in named if c is not None and c not in table["rows"]]:
        raise LinkError(f"{name} must have the columns {', '.join(missing)}; it has none of them.")
