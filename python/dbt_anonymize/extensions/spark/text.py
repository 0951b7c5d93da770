"""Values as Spark writes them, as macros of DuckDB: floats as Java does, no time zones.

Both write the fewest digits that tell a double from all others (Java 17 sometimes one more); Java
has an exponent from 8 digits before the point on, and from 3 zeros behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

# Each argument is used a few times only: DuckDB writes a macro out wherever it is called.
_MACROS = (
    "macro dbt_anonymize_scientific(written) as regexp_replace(case "
    r"when contains(written, 'e') then regexp_replace(written, 'e\+?(-?)0*', 'E\1') "
    r"when regexp_matches(written, '^-?0\.') "
    r"then regexp_replace(written, '0\.000(.)', '\1.') || 'E-4' "
    r"else regexp_replace(replace(written, '.', ''), '^(-?[0-9])([0-9]*?)0*$', '\1.\2') || 'E' "
    "|| cast(strlen(ltrim(split_part(written, '.', 1), '-')) - 1 as varchar) "
    r"end, '^(-?[0-9])\.?E', '\1.0E')",
    "macro dbt_anonymize_float(written, size) as case "
    "when isfinite(size) and size > 0 and (size < 1e-3 or size >= 1e7) "
    "then dbt_anonymize_scientific(written) "
    "else replace(replace(written, 'inf', 'Infinity'), 'nan', 'NaN') end",
    "macro dbt_anonymize_text(found) as case "
    "when typeof(found) in ('DOUBLE', 'FLOAT') "
    "then dbt_anonymize_float(cast(found as varchar), abs(try_cast(found as double))) "
    # In the zone of the session.
    "when typeof(found) = 'TIMESTAMP WITH TIME ZONE' "
    r"then regexp_replace(cast(found as varchar), '[+-][0-9]{2}(:[0-9]{2})*$', '') "
    "else cast(found as varchar) end",
)


def write_as_spark(session: duckdb.DuckDBPyConnection) -> None:
    """Make the macros that `engines.WRITTEN` calls, in the first database of a session."""
    for macro in _MACROS:
        session.execute(f"create {macro}")
