"""The smallest part of Spark, for `make test`: seeds, and the relations up to privacy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.engines.compared import assert_same
from tests.extensions.spark.session import on_spark, query
from tests.extensions.spark.standalone import VARIABLE
from tests.projects import Project, copy_consumer

pytestmark = pytest.mark.slow

RELATIONS = ("microdata", "frequencies", "classes", "privacy")


@pytest.fixture(scope="module")
def on_duckdb(spark: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Build them on both; on Spark in a schema of their own."""
    folder = tmp_path_factory.mktemp("smallest")
    there = copy_consumer(folder / "duckdb")
    (there.folder / "models" / "unit_tests.yml").unlink()
    here = on_spark(there, folder / "spark", spark, schema="smallest")
    for project in (there, here):
        project.build("-s", "+customers_privacy", "--exclude", "resource_type:test")
    return there


@pytest.mark.usefixtures("on_duckdb")
def test_it_ran_on_the_executors_that_were_asked_for() -> None:
    from pyspark.sql import SparkSession

    context = SparkSession.builder.getOrCreate().sparkContext
    assert context.master == os.environ.get(VARIABLE, "local[2]")
    processes = context._jsc.sc().getExecutorMemoryStatus().size()
    assert processes == (3 if VARIABLE in os.environ else 1), "with the driver"


@pytest.mark.parametrize("name", RELATIONS)
def test_a_relation_is_that_of_duckdb(on_duckdb: Project, name: str) -> None:
    there = on_duckdb.query(f"select * from customers_{name}")
    assert_same(query(f"select * from smallest.customers_{name}"), there, name)
