"""Floats as Postgres writes them, as macros of DuckDB: whole ones without a point, and so on.

Both write the fewest digits that tell a double from all others (in about one of a thousand Postgres
writes one more); they differ in where they put them. Postgres has an exponent from 15 digits before
the point on (6 of a `real`), DuckDB from 16 on. Of a `real` DuckDB may write too many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

# SQL of a value as text, with braces for the value.
WRITTEN = "dbt_anonymize_text({})"
# Of a float without its sign: digits before and behind the point, and the exponent.
_MACROS = (
    "macro dbt_anonymize_placed(digits, power, wide) as case "
    "when digits = '' then '0' "
    "when power < -4 or power >= wide then digits[1] "
    "|| case when strlen(digits) > 1 then '.' || digits[2:] else '' end || 'e' "
    "|| case when power < 0 then '-' else '+' end || lpad(cast(abs(power) as varchar), "
    "cast(greatest(2, strlen(cast(abs(power) as varchar))) as integer), '0') "
    "when power < 0 then '0.' || repeat('0', -power - 1) || digits "
    "when power >= strlen(digits) - 1 then digits || repeat('0', power - strlen(digits) + 1) "
    "else digits[1:power + 1] || '.' || digits[power + 2:] end",
    "macro dbt_anonymize_joined(whole, part, power, wide) as dbt_anonymize_placed("
    "rtrim(ltrim(whole || part, '0'), '0'), cast(strlen(whole) + power - 1 "
    "- (strlen(whole || part) - strlen(ltrim(whole || part, '0'))) as integer), wide)",
    "macro dbt_anonymize_split(mantissa, power, wide) as dbt_anonymize_joined("
    "split_part(mantissa, '.', 1), split_part(mantissa, '.', 2), "
    "coalesce(try_cast(power as integer), 0), wide)",
    "macro dbt_anonymize_float(written, wide) as case "
    "when written = 'nan' then 'NaN' "
    "when ltrim(written, '-') = 'inf' then replace(written, 'inf', 'Infinity') "
    "else case when written like '-%' then '-' else '' end || dbt_anonymize_split("
    "split_part(ltrim(written, '-'), 'e', 1), split_part(written, 'e', 2), wide) end",
    # Whether a text is nearer to a `real` than half way to its neighbours.
    "macro dbt_anonymize_tells(written, number) as coalesce(try_cast(cast(written as double) "
    "+ (cast(written as double) - number) * 1e-6 as float) = try_cast(number as float), false)",
    "macro dbt_anonymize_fewest(number, six, seven, eight) as case "
    "when dbt_anonymize_tells(six, number) then six "
    "when dbt_anonymize_tells(seven, number) then seven "
    "when dbt_anonymize_tells(eight, number) then eight else printf('%.8e', number) end",
    "macro dbt_anonymize_real(number) as case when isnan(number) or isinf(number) "
    "then cast(number as varchar) else dbt_anonymize_fewest(number, printf('%.5e', number), "
    "printf('%.6e', number), printf('%.7e', number)) end",
    "macro dbt_anonymize_text(found) as case typeof(found) "
    "when 'DOUBLE' then dbt_anonymize_float(cast(found as varchar), 15) "
    "when 'FLOAT' then dbt_anonymize_float(dbt_anonymize_real(try_cast(found as double)), 6) "
    "else cast(found as varchar) end",
)


def write_as_postgres(session: duckdb.DuckDBPyConnection) -> None:
    """Make the macros that `WRITTEN` calls, in the first database of a session."""
    for macro in _MACROS:
        session.execute(f"create {macro}")
