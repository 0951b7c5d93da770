"""The types of the columns of a release, which dbt enforces where all of them are declared."""

from __future__ import annotations

from dbt_anonymize.spec.models import Spec

# Labels, combinations of them and tokens.
TEXT = "text"
# Middles of numbers.
_NUMBER = "float8"


def released_types(spec: Spec) -> dict[str, str]:
    """Return the type of each released column, in order; nothing without a contract."""
    if not any(column.data_type for column in spec.columns.values()):
        return {}
    types: dict[str, str] = {}
    for name, hierarchy in spec.released_quasi_identifiers.items():
        types[name] = TEXT
        if hierarchy.kind == "interval":
            bounds = spec.columns[name].data_type or ""
            types |= {f"{name}_lower": bounds, f"{name}_upper": bounds}
            is_time = bounds.lower().startswith(("date", "timestamp"))
            if f"{name}_midpoint" in spec.midpoints:
                types[f"{name}_midpoint"] = bounds if is_time else _NUMBER
    types |= {name: spec.columns[name].data_type or "" for name in spec.kept_columns}
    return types | dict.fromkeys(spec.mapping_columns, TEXT)
