"""Labels that dbt takes for numbers, dates or booleans where nothing says that they are text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime

from dbt_anonymize.hierarchies.table import LEAF_COLUMNS, Kind, SeedTable, level_columns

TEXTS = frozenset({"varchar", "text", "string", "char", "bpchar", "character", "character varying"})
RULE = "labels are text, or dbt changes them (01 becomes 1; 1.1 and 1.10 become one)"
# No label with one of these is anything but text, and most columns have one.
_OF_TEXT = frozenset("[*")


def misread_levels(table: SeedTable) -> dict[str, str]:
    """Return the level columns that dbt reads as another type than text, with what it takes.

    Examples
    --------
    >>> from dbt_anonymize.hierarchies.model import CategoricalHierarchy
    >>> tree = CategoricalHierarchy(("x", "y"), (("01", "04"), ("*", "*")))
    >>> misread_levels(tree.table())
    {'level_1': 'numbers'}
    """
    columns = enumerate(level_columns(table.levels), start=1)
    found = {
        column: _misread({label for _, label in table.level(level)}) for level, column in columns
    }
    return {column: kind for column, kind in found.items() if kind}


def _misread(labels: Collection[str]) -> str | None:
    if any(_OF_TEXT.intersection(label) for label in labels):
        return None
    from agate import Boolean, Date, DateTime, Number  # noqa: PLC0415 (slow to import)

    # What dbt tries, in its order.
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


def is_text(kind: str) -> bool:
    """Tell whether a data type of any engine is that of texts, whatever its length."""
    return kind.partition("(")[0].strip().lower() in TEXTS


def text_lines(
    seed: str, kind: Kind, levels: int, *, declared: Mapping[str, str], text: str = "text"
) -> str:
    """Return what the properties of a seed must say: what they do, and that labels are texts."""
    columns = (*(LEAF_COLUMNS[kind] if kind == "categorical" else ()), *level_columns(levels))
    types = {**declared, **dict.fromkeys(_not_text(columns, declared), text)}
    written = ", ".join(f"{column}: {type_}" for column, type_ in types.items())
    return f"seeds:\n  - name: {seed}\n    config:\n      column_types: {{{written}}}"


def _not_text(columns: Collection[str], declared: Mapping[str, str]) -> list[str]:
    return [column for column in columns if not is_text(declared.get(column, ""))]
