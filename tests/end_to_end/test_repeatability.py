"""Two builds of the same input give the same tables; a reader never blocks a build."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.extensions import has
from tests.projects import Project

pytestmark = pytest.mark.sampled_tests(group="builds")

TABLES = (
    "customers_frequencies",
    "customers_privacy",
    "customers_scores",
    "customers_results",
    *(["customers_alpha_ranges"] if has("details") else []),
    "vault.main.customers_identifiers",
    "release_customers.customers_anonymized",
)


READER = """
import duckdb, sys

connection = duckdb.connect(sys.argv[1], read_only=True)
for _ in range(2):
    (count,) = connection.execute("select count(*) from customers_anonymized").fetchall()[0]
    print(count, flush=True)
    sys.stdin.readline()
"""


def test_a_second_build_gives_the_same_tables(consumer: Project) -> None:
    first = {table: consumer.query(f"from {table} order by all") for table in TABLES}
    released = consumer.release("customers")
    consumer.build()
    assert {table: consumer.query(f"from {table} order by all") for table in TABLES} == first
    assert consumer.release("customers") == released, "also in the same order"


def test_the_order_of_the_source_leaves_no_trace(consumer: Project) -> None:
    scores = consumer.query("from customers_scores order by all")
    released = consumer.release("customers")
    consumer.edit(
        "seeds/customers.csv",
        lambda text: "\n".join([text.splitlines()[0], *reversed(text.splitlines()[1:])]) + "\n",
    )
    consumer.build()
    assert consumer.release("customers") == released
    assert consumer.query("from customers_scores order by all") == scores


def test_history_is_appended_and_survives_a_full_refresh(consumer: Project) -> None:
    ((before,),) = consumer.query("select count(*) from anonymization_results")
    consumer.build("--full-refresh")
    rows = consumer.query(
        "select count(*), count(distinct run_id), count(distinct name) from anonymization_results"
    )
    assert rows == [(2 * before, 2, 1)]


def test_a_history_from_before_gets_the_columns_that_are_new(consumer: Project) -> None:
    new = ["levels_in_words", "target", "measure", "coarser_features"]
    for column in new:
        consumer.execute(f"alter table anonymization_results drop column {column}")
    consumer.build("-s", "customers_results", "anonymization_results")
    assert consumer.query(
        "select distinct target, measure, levels_in_words is null from anonymization_results"
        " where effort = 1 order by all"
    ) == [("churned", "f1", False), (None, None, True)]
    assert consumer.query(
        "select levels_in_words, coarser_features from anonymization_results"
        " where target is not null order by effort"
    ) == consumer.query(
        "select levels_in_words, coarser_features from customers_results order by effort"
    )


def test_history_holds_only_what_a_run_computed(consumer: Project) -> None:
    before = consumer.query("select count(*) from anonymization_results")
    consumer.build("-s", "customers_privacy", "anonymization_results")
    assert consumer.query("select count(*) from anonymization_results") == before


def test_a_retry_records_what_the_failed_run_could_not(consumer: Project) -> None:
    ((before,),) = consumer.query("select count(*) from anonymization_results")
    consumer.execute("alter table customers_hierarchy_zip rename column level_1 to other")
    assert not consumer.dbt("run").succeeded
    consumer.execute("alter table customers_hierarchy_zip rename column other to level_1")
    retried = consumer.dbt("retry")
    assert retried.succeeded, retried.messages
    assert consumer.query("select count(*) from anonymization_results") == [(2 * before,)]


def test_a_reader_keeps_its_release_and_blocks_no_build(consumer: Project) -> None:
    """Another process holds the release open for the whole build, as a dashboard does."""
    reader = subprocess.Popen(
        [
            sys.executable,
            "-c",
            READER,
            str(consumer.release_file("customers")),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert reader.stdout is not None
    before = int(reader.stdout.readline())
    consumer.edit(
        "seeds/customers.csv",
        lambda text: text + "".join(line + "\n" for line in _copies(text.splitlines()[1:])),
    )
    consumer.build()
    after, _ = reader.communicate("\n\n")
    assert int(after) == before
    assert len(consumer.release("customers")) > before


def _copies(lines: list[str]) -> list[str]:
    """Every record once more, under another record key."""
    return [f"9{line}" for line in lines]
