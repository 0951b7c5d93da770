"""Rows that repeat are hashed once and counted: the comparison stays one of every bit."""

from __future__ import annotations

import duckdb
import pytest

from dbt_anonymize.verify.recomputation.canonical import Comparer, Comparison
from dbt_anonymize.verify.recomputation.tables import Tables

PAIRS = {
    "a zero": ("DOUBLE", "0.0", "cast('-0' as double)"),
    "letters of a collated column": ("VARCHAR COLLATE NOCASE", "'Ann'", "'ANN'"),
    "accents of a collated column": ("VARCHAR COLLATE NOACCENT", "'Jose'", "'José'"),
    "nothing, and its name": ("VARCHAR", "null", "'NULL'"),
    "a month, and its days": ("INTERVAL", "interval 1 month", "interval 30 days"),
    "a zero in a list": ("DOUBLE[]", "[0.0::double]", "[cast('-0' as double)]"),
    "a number": ("INTEGER", "7", "8"),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("repeats", [True, False])
def test_what_is_equal_but_not_the_same_differs(name: str, repeats: bool) -> None:
    kind, one, other = PAIRS[name]
    with duckdb.connect() as connection:
        tables = Tables(connection, source="", hierarchies={})
        connection.execute(f"create table built (a {kind}, b integer)")
        connection.execute(f"insert into built select {one}, i % 2 from range(6) as t(i)")
        connection.execute("create table same as select * from built order by b")
        connection.execute("create table less as select * from built limit 5")
        connection.execute(f"create table others (a {kind}, b integer)")
        connection.execute(
            f"insert into others select if(i = 3, {other}, {one}), i % 2 from range(6) as t(i)"
        )
        connection.execute("create table empty as select * from built limit 0")

        def differing(relation: str) -> str | None:
            expected = Comparison("built", "select * from built", relation, repeats=repeats)
            return Comparer(tables).differences(expected)

        assert differing("same") is None
        assert differing("less") == "1 rows are missing and 0 should not be there"
        assert differing("others") == "1 rows are missing and 1 should not be there"
        assert differing("empty") == "6 rows are missing and 0 should not be there"
