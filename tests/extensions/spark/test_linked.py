"""Joined knowledge on Spark: queries count what they count on DuckDB."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engines.compared import assert_same, plain
from tests.engines.matrix import check_ran
from tests.extensions.spark.session import on_spark, query

# Not there where the extension was pulled out.
projects = pytest.importorskip("tests.extensions.linked.projects")

pytestmark = [pytest.mark.slow, pytest.mark.needs("linked")]
# Each of them reads what is counted before once more: with three records for a quarter of an hour.
QUERIES = (
    "joined_risk_of_one",
    "joined_risk_of_two_and_numbers",
    "joined_risk_of_all_with_diversity",
)


def test_each_query_counts_what_it_counts_on_duckdb(
    spark: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    from pyspark import __version__

    folder = tmp_path_factory.mktemp("linked")
    here = projects.write(folder / "duckdb")
    there = on_spark(here, folder / "spark", spark, schema="linked")
    for project in (here, there):
        projects.build(project, QUERIES)
    for name in QUERIES:
        theirs = query(f"select * from linked.{name}")
        assert_same(plain(theirs), plain(here.query(f"select * from {name}")), name)
    check_ran("Spark", __version__, "dbt-spark", "queries of linked tables", len(QUERIES))
