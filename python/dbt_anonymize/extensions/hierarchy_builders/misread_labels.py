"""Labels that dbt reads as numbers, dates or booleans unless a column type says text."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime

from dbt_anonymize.hierarchies.table import SeedTable, level_columns

# A label with one of these is text, and most columns have one.
_OF_TEXT = frozenset("[*")


def misread_levels(table: SeedTable) -> dict[str, str]:
    """Return the level columns that dbt does not read as text, with the type that it reads.

    Examples
    --------
    >>> from dbt_anonymize.hierarchies.model import CategoricalHierarchy
    >>> tree = CategoricalHierarchy(("x", "y"), (("01", "04"), ("*", "*")))
    >>> misread_levels(tree.table())
    {'level_1': 'numbers'}
    """
    columns = enumerate(level_columns(table.levels), start=1)
    type_by_column = {
        column: _misread_type({label for _, label in table.level(level)})
        for level, column in columns
    }
    return {column: kind for column, kind in type_by_column.items() if kind}


def _misread_type(labels: Collection[str]) -> str | None:
    if any(_OF_TEXT.intersection(label) for label in labels):
        return None
    from agate import Boolean, Date, DateTime, Number  # noqa: PLC0415 (slow to import)

    # Types in the order in which dbt tries them.
    nulls = ("null", "")
    kinds: dict[str, Callable[[str], bool]] = {
        "numbers": Number(null_values=nulls).test,
        "dates": Date(null_values=nulls, date_format="%Y-%m-%d").test,
        "moments": DateTime(null_values=nulls, datetime_format="%Y-%m-%d %H:%M:%S").test,
        "moments (ISO 8601)": _is_moment,
        "booleans": Boolean(true_values=("true",), false_values=("false",), null_values=nulls).test,
    }
    return next((kind for kind, fits in kinds.items() if all(map(fits, labels))), None)


def _is_moment(label: str) -> bool:
    try:
        datetime.fromisoformat(label)
    except ValueError:
        return False
    return "T" in label
