"""Midpoints of intervals, which a release has for charts."""

from __future__ import annotations

from dbt_anonymize.literals import quote_name
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.recomputation.tables import Tables


def with_midpoints(tables: Tables, spec: Spec, rows: str) -> str:
    """Return the query of a release in the order of its columns; ``rows`` lack the midpoints."""
    if not spec.midpoints:
        return rows
    types = tables.types(rows)
    columns = [
        f"{_midpoint(spec.midpoints[name], types)} as {quote_name(name)}"
        if name in spec.midpoints
        else quote_name(name)
        for name in spec.released_columns
    ]
    return f"select {', '.join(columns)} from ({rows}) as rows_"  # noqa: S608 (quoted)


def _midpoint(name: str, types: dict[str, str]) -> str:
    lower, upper = quote_name(f"{name}_lower"), quote_name(f"{name}_upper")
    kind = types[f"{name}_lower"].upper()
    middle = f"({lower}::double + {upper}::double) / 2"
    if kind == "DATE":
        middle = f"{lower} + (date_diff('day', {lower}, {upper}) // 2)::integer"
    elif kind.startswith("TIMESTAMP"):
        middle = f"{lower} + to_microseconds((epoch_us({upper}) - epoch_us({lower})) // 2)"
    return f"if({quote_name(name)} = '*', null, {middle})"
