"""Column types of labels: text, or dbt reads numbers, dates or booleans."""

from __future__ import annotations

from collections.abc import Mapping

from dbt_anonymize.hierarchies.table import LEAF_COLUMNS, Kind, level_columns

TEXTS = frozenset({"varchar", "text", "string", "char", "bpchar", "character", "character varying"})
RULE = "labels are text, or dbt changes them (01 becomes 1; 1.1 and 1.10 become one)"


def is_text(kind: str) -> bool:
    """Tell whether a data type of any engine is a text type of any length."""
    return kind.partition("(")[0].strip().lower() in TEXTS


def text_lines(
    seed: str, kind: Kind, levels: int, *, declared: Mapping[str, str], text: str = "text"
) -> str:
    """Return the YAML properties of a seed with its declared types, and text for labels."""
    columns = (*(LEAF_COLUMNS[kind] if kind == "categorical" else ()), *level_columns(levels))
    untyped = (column for column in columns if not is_text(declared.get(column, "")))
    types = {**declared, **dict.fromkeys(untyped, text)}
    column_types = ", ".join(f"{column}: {type_}" for column, type_ in types.items())
    return f"seeds:\n  - name: {seed}\n    config:\n      column_types: {{{column_types}}}"
