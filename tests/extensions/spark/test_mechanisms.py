"""Recodings find on Spark what they find on DuckDB.

What rolls up from them is not compared: of ten efforts Spark takes minutes to plan `<n>_classes`,
and longer to plan `<n>_fidelity`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.conftest import command
from tests.engines.compared import assert_same
from tests.engines.matrix import check_ran
from tests.engines.mechanisms import EFFORTS, FIRST, with_mechanisms
from tests.extensions.spark.session import on_spark, query
from tests.projects import Project

pytestmark = pytest.mark.slow

NUMBERS = range(FIRST, FIRST + len(EFFORTS))


@pytest.fixture(scope="module")
def on_duckdb(
    spark: Path, built_consumer: Project, tmp_path_factory: pytest.TempPathFactory
) -> Project:
    """Build them on both; on Spark in a schema of their own."""
    folder = tmp_path_factory.mktemp("mechanisms")
    there = built_consumer.copy(folder / "duckdb")
    with_mechanisms(there)
    there.build("--exclude", "resource_type:test", "customers_evaluation+")
    here = on_spark(there, folder / "spark", spark, schema="recoded")
    without_tests = ("--exclude", "resource_type:test")
    here.build("-s", "+customers_microdata", "customers_fingerprint", *without_tests)
    for number in NUMBERS:
        result = command(here, "evaluate", "customers", "--step", f"recoding_{number}")
        assert result.exit_code == 0, result.output
        here.build("-s", f"customers_recoding_{number}", *without_tests)
    return there


@pytest.mark.parametrize("number", NUMBERS)
def test_a_recoding_is_that_of_duckdb(on_duckdb: Project, number: int) -> None:
    there = on_duckdb.query(f"select * from customers_recoding_{number}")
    here = query(f"select * from recoded.customers_recoding_{number}")
    assert_same(here, there, f"recoding_{number}")


def test_the_matrix_says_what_was_compared(on_duckdb: Project) -> None:
    from pyspark import __version__

    check_ran("Spark", __version__, "dbt-spark", "recodings", len(NUMBERS))
