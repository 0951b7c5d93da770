"""Rows that repeat are counted, others are joined by all columns: every bit is compared."""

from __future__ import annotations

import duckdb
import pytest

from dbt_anonymize.verify.recomputation.canonical import Comparer, Comparison
from dbt_anonymize.verify.recomputation.tables import Tables

pytestmark = pytest.mark.costly

PAIRS = {
    "a zero": ("DOUBLE", "0.0", "cast('-0' as double)"),
    "letters of a collated column": ("VARCHAR COLLATE NOCASE", "'Ann'", "'ANN'"),
    "accents of a collated column": ("VARCHAR COLLATE NOACCENT", "'Jose'", "'José'"),
    "nothing, and its name": ("VARCHAR", "null", "'NULL'"),
    "a month, and its days": ("INTERVAL", "interval 1 month", "interval 30 days"),
    "a zero in a list": ("DOUBLE[]", "[0.0::double]", "[cast('-0' as double)]"),
    "a number": ("INTEGER", "7", "8"),
}


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("key", [None, "b", "a"])
@pytest.mark.parametrize("distinct", [2, 6])
def test_what_is_equal_but_not_the_same_differs(name: str, key: str | None, distinct: int) -> None:
    kind, one, other = PAIRS[name]
    with duckdb.connect() as connection:
        tables = Tables(connection, source="", hierarchies={})
        connection.execute(f"create table built (a {kind}, b integer)")
        connection.execute(f"insert into built select {one}, i % {distinct} from range(6) as t(i)")
        connection.execute("create table same as select * from built order by b")
        connection.execute("create table less as select * from built limit 5")
        connection.execute(f"create table others (a {kind}, b integer)")
        value = f"if(i = 3, {other}, {one})"
        connection.execute(
            f"insert into others select {value}, i % {distinct} from range(6) as t(i)"
        )
        connection.execute("create table empty as select * from built limit 0")

        def differing(relation: str) -> str | None:
            expected = Comparison("built", "select * from built", relation, key=key)
            return Comparer(tables).differences(expected)

        assert differing("same") is None
        assert differing("less") == "1 rows are missing and 0 should not be there"
        assert differing("others") == "1 rows are missing and 1 should not be there"
        assert differing("empty") == "6 rows are missing and 0 should not be there"


KEYED = {
    "none": "select * from built",
    "in another order": "select * from built order by a",
    "one twice": "select * from built union all select * from built where b = 1",
    "one twice instead of another": "select least(a, 4) as a, least(b, 4) as b from built",
    "keys of others": "select a, (b + 1) % 6 as b from built",
    "a key that is missing": "select a, nullif(b, 3) as b from built",
    "all with one key": "select a, 1 as b from built",
}


@pytest.mark.sampled(10)
@pytest.mark.parametrize("built", KEYED)
@pytest.mark.parametrize("other", KEYED)
def test_a_key_changes_no_verdict(built: str, other: str) -> None:
    with duckdb.connect() as connection:
        tables = Tables(connection, source="", hierarchies={})
        connection.execute("create table built as select i as a, i as b from range(6) as t(i)")
        sides = [f"({KEYED[side]})" for side in (built, other)]

        def differing(key: str | None) -> str | None:
            comparison = Comparison("built", f"select * from {sides[0]}", sides[1], key=key)
            return Comparer(tables).differences(comparison)

        assert differing("b") == differing(None)
        is_same = built == other or {built, other} == {"none", "in another order"}
        assert (differing("b") is None) == is_same


def test_rows_with_a_key_are_joined_and_not_hashed() -> None:
    with duckdb.connect() as connection:
        connection.execute("create table built as select i as a, i as b from range(6) as t(i)")
        connection.execute("create macro md5_number_lower(x) as error('hashed')")
        tables = Tables(connection, source="", hierarchies={})
        by_key = Comparison("built", "select * from built", "built", key="a")
        assert Comparer(tables).differences(by_key) is None
        with pytest.raises(duckdb.Error, match="hashed"):
            Comparer(tables).differences(Comparison("built", "select * from built", "built"))
