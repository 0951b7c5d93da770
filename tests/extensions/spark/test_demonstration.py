"""A whole anonymization on Spark, without Python models: what DuckDB finds, Spark finds."""

from __future__ import annotations

import re

import pytest

from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.rows import draw
from dbt_anonymize.project.warehouse import open_warehouse
from dbt_anonymize.spec import load_spec
from tests.commands.conftest import command
from tests.engines.compared import RELATIONS, assert_same
from tests.engines.matrix import check_ran
from tests.extensions.spark.conftest import OnSpark
from tests.extensions.spark.session import query
from tests.oracle.subsets import MODEL, TUPLES, expected_risk

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", RELATIONS)
def test_a_relation_is_that_of_duckdb(built: OnSpark, name: str) -> None:
    # How long steps took is of each run.
    where = " where kind <> 'seconds'" if name == "evaluation" else ""
    there = built.on_duckdb.query(f"select * from customers_{name}{where}")
    assert_same(query(f"select * from shop.customers_{name}{where}"), there, name)


def test_of_many_combinations_one_class_in_some_stands_for_all(built: OnSpark) -> None:
    (built.project.folder / "models" / "estimated.sql").write_text(MODEL, encoding="utf-8")
    outcome = built.project.dbt("run", "--select", "estimated")
    assert outcome.succeeded, outcome.messages
    expected = expected_risk(built.on_duckdb.query(TUPLES))
    assert_same(query("select * from shop.estimated"), expected, "estimated")


def test_the_same_effort_is_chosen(built: OnSpark) -> None:
    columns = "effort, is_chosen, qualifies, k, q, qf_mean, qf_low, qnf, reason, fingerprint"
    there = built.on_duckdb.query(f"select {columns} from customers_results")
    assert_same(query(f"select {columns} from shop.customers_results"), there, "results")
    assert len(query("select effort from shop.customers_results where is_chosen")) == 1


def test_the_vault_leads_to_the_same_groups(built: OnSpark) -> None:
    there = built.on_duckdb.query("select * from vault.main.customers_identifiers")
    assert_same(query("select * from shop_vault.customers_identifiers"), there, "identifiers")
    location = dict(query("describe schema shop_vault"))["Location"]
    assert location.endswith(str(built.folder / "vault" / "shop_vault"))


def test_a_sample_holds_the_records_that_duckdb_would_draw(built: OnSpark) -> None:
    from dbt_anonymize.evaluation.data.sampling import draw_sample

    key, size = "customer_id", 100
    spec = load_spec(built.project.folder / "anonymizations" / "customers.yml")
    spec = spec.model_copy(update={"quality": spec.quality.model_copy(update={"sample": size})})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DBT_PROFILES_DIR", str(built.project.folder))
        with open_warehouse(find_project(built.project.folder)) as warehouse:
            condition = draw(warehouse, spec).condition
    here = {row[0] for row in query(f"select {key} from shop.customers_effort_0 where {condition}")}
    with built.on_duckdb.connection() as connection:
        untouched = connection.table("customers_effort_0")
        drawn = draw_sample(untouched, key, size, spec.quality.random_state)
        there = {row[0] for row in drawn.restrict(untouched).project(key).fetchall()}
    assert len(here) == size
    assert here == there


def test_commands_read_it_and_say_what_they_cannot(built: OnSpark) -> None:
    assert "chosen" in command(built.project, "results", "customers").output
    result = command(built.project, "relink", "customers", "--purpose", "contact tracing")
    assert result.exit_code != 0
    assert "re-linking needs a vault with transactions" in " ".join(result.output.split())


def test_a_release_is_a_folder_and_a_view_that_changes_over(built: OnSpark) -> None:
    before = _release_tables()
    rows = query("select * from shop_release.customers_anonymized")
    assert_same(rows, built.on_duckdb.release("customers"), "anonymized")
    built.project.build("-s", "customers_anonymized")
    after = _release_tables()
    assert len(before) == len(after) == 1
    assert before != after
    assert rows == query("select * from shop_release.customers_anonymized")
    release = built.folder / "warehouse" / "shop_release.db"
    assert {folder.name for folder in release.iterdir()} == after
    assert query("show tables in shop like '*candidate*'") == []


def test_the_register_has_a_row_per_release(built: OnSpark) -> None:
    """It is that of DuckDB, but for time, digests of the data, and what only a vault remembers."""
    columns = (
        "effort, levels, spec, records, suppressed_records, released_records, equivalence_classes, "
        "k, highest_risk, average_risk, qf, qf_low, qf_high, qnf, q"
    )
    there = built.on_duckdb.query(f"select release, {columns} from customers_register")
    assert [row[0] for row in there] == [1]
    before = query("select * from shop.customers_register")
    built.project.build("-s", "customers_anonymized")
    after = query("select * from shop.customers_register")
    assert len(after) == len(before) + 1
    for number, *figures in query(f"select release, {columns} from shop.customers_register"):
        assert 1 <= number <= len(after)
        assert_same([figures], [there[0][1:]], "register")
    assert query("select joined_records from shop.customers_register where release > 1")[0] == (
        None,
    )
    shown = command(built.project, "results", "customers", "--history").output
    assert f"customers: {len(after)} releases" in shown


def _release_tables() -> set[str]:
    names = {row[1] for row in query("show tables in shop_release")}
    return {name for name in names if re.fullmatch(r"customers_anonymized__\d{20}", name)}


def test_the_matrix_says_what_was_compared(built: OnSpark) -> None:
    from pyspark import __version__

    compared = len(RELATIONS) + len(("results", "identifiers", "anonymized"))
    check_ran("Spark", __version__, "dbt-spark", "relations of a demonstration", compared)
