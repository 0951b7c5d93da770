"""`dbt-anonymize verify` on Spark: what holds there as on DuckDB, and which leaks are found."""

from __future__ import annotations

import random
import struct
from collections import Counter
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from dbt_anonymize.extensions.spark.text import write_as_spark
from dbt_anonymize.project.engines import WRITTEN
from tests.commands.conftest import command
from tests.engines.verified import OF_FILES, statuses, verified
from tests.extensions.spark.conftest import OnSpark
from tests.extensions.spark.session import query

pytestmark = pytest.mark.slow

RELEASE, VAULT = "shop_release.customers_anonymized", "shop_vault.customers_identifiers"
NOT_RUN = {("content", "files"), ("recomputation", "release file")}
OF_SPARK = NOT_RUN | {("recomputation", "schema shop_release")}


def session() -> Any:
    from pyspark.sql import SparkSession

    return SparkSession.builder.getOrCreate()


def folder() -> str:
    """Return the table of the files that the release reads."""
    (name,) = (row[1] for row in query("show tables in shop_release") if "__" in row[1])
    return f"shop_release.{name}"


def publish(rows: list[dict[str, Any]]) -> None:
    """Give the release other rows, in this order."""
    schema = session().table(folder()).schema
    found = session().createDataFrame([tuple(row.values()) for row in rows], schema)
    found.coalesce(1).write.insertInto(folder(), overwrite=True)


@pytest.fixture
def rows(built: OnSpark) -> Iterator[list[dict[str, Any]]]:
    """Give the released rows in their order, and put them back."""
    stored = session().table(folder())
    found = [row.asDict() for row in stored.orderBy(*stored.columns).collect()]
    yield [dict(row) for row in found]
    publish(found)


def broken(findings: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(found["check"], found["subject"]) for found in findings if found["holds"] is False}


def test_verify_holds_as_on_duckdb_but_for_what_it_names(built: OnSpark) -> None:
    here, result = verified(built.project)
    there, _ = verified(built.on_duckdb)
    assert result.exit_code == 0, result.output
    # There the source with identifiers lies in the file of the warehouse.
    in_file = {("content", f"main.customers.{name}") for name in ("e-mail", "full name")}
    in_cells = {("content", "warehouse")}
    assert statuses(here, OF_SPARK) == statuses(there, OF_FILES | in_file | in_cells) | Counter(
        {("content", "warehouse", True): 1}
    )
    assert {(f["check"], f["subject"]) for f in here if not f["was_run"]} == NOT_RUN
    numbers = [
        {f["subject"]: f["message"] for f in found if f["check"] in {"guarantees", "attacks"}}
        for found in (here, there)
    ]
    assert numbers[0] == numbers[1]
    # What was found belongs to the rows that the register has.
    registered = query("select content, spec from shop.customers_register order by release")
    for part in ("verification", "attacks"):
        found = query(f"select distinct content, spec from shop.customers_{part}")
        assert found == registered[-1:], part


def test_what_was_changed_or_copied_is_found(built: OnSpark, rows: list[dict[str, Any]]) -> None:
    ((mail, name),) = query(f"select min(`e-mail`), max(`full name`) from {VAULT}")
    rows[0] |= {"zip": "99***", "churned": mail}
    publish(rows[::-1])
    query(f"create table shop.copied using parquet as select `full name` as person from {VAULT}")
    query(f"create table shop_release.more using parquet as select * from {RELEASE}")
    query(f"comment on table {folder()} is '{name}'")
    try:
        checks = ("--check", "content", "--check", "recomputation")
        found, result = verified(built.project, *checks)
    finally:
        query("drop table shop.copied")
        query("drop table shop_release.more")
        query(f"comment on table {folder()} is null")
    assert result.exit_code == 1
    assert broken(found) == {
        ("content", "customers_anonymized.churned"),
        ("content", "customers_anonymized (comments and defaults)"),
        ("content", "shop.copied.person"),
        ("recomputation", "customers_anonymized"),
        ("recomputation", "customers_anonymized, order of rows"),
        ("recomputation", "schema shop_release"),
    }, result.output
    assert mail not in result.output
    assert name not in result.output


def test_a_class_that_is_too_small_is_found(built: OnSpark, rows: list[dict[str, Any]]) -> None:
    first = min(row["cqi"] for row in rows)
    two = [row for row in rows if row["cqi"] == first][:2]
    publish([row for row in rows if row["cqi"] != first or row in two])
    found, result = verified(built.project, "--check", "guarantees", "--check", "attacks")
    assert result.exit_code == 1
    of_class = {("guarantees", "k_anonymity (k 4)"), ("attacks", "linkage, highest_success")}
    assert of_class <= broken(found), result.output


def test_a_single_changed_row_is_found(built: OnSpark, rows: list[dict[str, Any]]) -> None:
    rows[-1]["churned"] = next(r["churned"] for r in rows if r["churned"] != rows[-1]["churned"])
    publish(rows)
    result = command(built.project, "verify", "customers", "--check", "recomputation")
    assert "FAILED recomputation customers_anonymized: " in " ".join(result.output.split())


def test_values_are_written_as_spark_writes_them(spark: Any, built: OnSpark) -> None:
    draw = random.Random(7)
    drawn = [repr(struct.unpack("d", draw.randbytes(8))[0]) for _ in range(2000)]
    drawn += [f"{draw.randrange(-(10**6), 10**6)}e{draw.randrange(-20, 20)}" for _ in range(2000)]
    special = ["0", "-0.0", "1e7", "9999999", "0.001", "0.0001", "NaN", "Infinity", "-Infinity"]
    plain = [f"{draw.randrange(-(10**9), 10**9)}e{draw.randrange(-9, 0)}" for _ in range(2000)]
    exact = [*special, *plain]
    listed = ", ".join(f"('{text}')" for text in exact + drawn)
    there = query(f"select cast(cast(t as double) as string) from values {listed} as rows_ (t)")
    with duckdb.connect() as memory:
        write_as_spark(memory)
        text = WRITTEN.format("cast(t as double)")
        here = memory.execute(f"select {text} from (values {listed}) as rows_ (t)").fetchall()
        times = ["2024-02-29 10:00:00", "1969-12-31 23:59:59.5", "2024-07-01 00:00:00.000001"]
        for time in times:
            sql = WRITTEN.format(f"timestamptz '{time}+00'")
            assert memory.execute(f"set timezone = 'UTC'; select {sql}").fetchall() == query(
                f"select cast(timestamp '{time}' as string)"
            )
    assert here[: len(exact)] == there[: len(exact)]
    differing = [pair for pair in zip(here, there, strict=True) if pair[0] != pair[1]]
    # Java 17 writes a digit too many here and there.
    assert len(differing) <= len(drawn) / 50
    assert all(float(ours) == float(theirs) for (ours,), (theirs,) in differing)
