"""Digest of the rows of a table in any order, as in the macro `_check_external_release`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbt_anonymize.evaluation.data.relations import SOURCE, query

if TYPE_CHECKING:
    import duckdb

_ROW = f"md5(cast({SOURCE} as varchar))"


def digest_of(relation: duckdb.DuckDBPyRelation) -> str:
    """Return the digest of the rows of a relation."""
    sql = f"select md5(string_agg({_ROW}, '' order by {_ROW})) from {SOURCE}"  # noqa: S608
    return str(query(relation, sql).fetchall()[0][0])
