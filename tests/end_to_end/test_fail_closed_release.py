"""A release that must not be is not published, and the earlier one stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_anonymize.project.generate import generate
from tests.end_to_end.stopping import RELEASE, SEED_AND_RUN, require, stops
from tests.projects import Project

pytestmark = pytest.mark.sampled_tests(group="fail closed")


def test_effort_zero_is_never_released(consumer: Project) -> None:
    consumer.execute("update customers_results set is_chosen = (effort = 0)")
    stops(consumer, "run", "-s", "customers_anonymized", says=("effort 0 is chosen",))


def test_two_chosen_efforts_are_one_too_many(consumer: Project) -> None:
    consumer.execute("update customers_results set is_chosen = effort > 1")
    stops(consumer, "run", "-s", "customers_anonymized", says=("got 2",))


def test_a_choice_between_two_ends_of_the_frontier_is_warned_of(consumer: Project) -> None:
    reason = (
        "chosen: highest QF of a frontier of 2 efforts, whose Q is the same at their break point"
    )
    consumer.execute(f"update customers_results set reason = '{reason}, alpha 0.2' where is_chosen")
    outcome = consumer.dbt("run", "-s", "customers_anonymized")
    assert outcome.succeeded, outcome.messages
    for text in ("break point, alpha 0.2", "Use `choose: strongest_non_inferior` with a margin"):
        assert text in outcome.messages


def test_results_that_are_gone_stop_the_release(consumer: Project) -> None:
    consumer.execute("drop table customers_results")
    stops(consumer, "run", "-s", "customers_anonymized", says=("does not exist",))


def test_a_release_trusts_no_earlier_result(consumer: Project) -> None:
    """The results say that the effort qualifies; the records, changed since, say otherwise."""
    consumer.execute(
        "delete from customers_microdata where customer_id not in"
        " (select min(customer_id) from customers_effort_3 group by equivalence_class)"
    )
    stops(
        consumer,
        "run",
        "-s",
        "customers_anonymized",
        says=("k_anonymity requires at least 4 records in each equivalence class",),
    )


def test_a_hierarchy_that_lost_a_value_stops_the_release(consumer: Project) -> None:
    consumer.execute("delete from customers_hierarchy_zip where value = '01067'")
    stops(consumer, "run", "-s", "customers_anonymized", says=("is not in the hierarchy",))


def test_a_vault_that_disagrees_with_the_release_keeps_its_earlier_state(consumer: Project) -> None:
    before = consumer.query("from vault.main.customers_identifiers order by all")
    consumer.execute(
        "delete from customers where customer_id in"
        " (select customer_id from customers_effort_3 where not is_suppressed limit 1)"
    )
    outcome = consumer.dbt("run", "-s", "customers_identifiers")
    assert not outcome.succeeded
    assert "must hold the same groups of people" in outcome.messages
    assert consumer.query("from vault.main.customers_identifiers order by all") == before


def test_a_release_folder_that_cannot_be_written_stops_the_build(
    consumer: Project, tmp_path: Path
) -> None:
    consumer.edit(
        "dbt_project.yml",
        lambda text: text + "vars:\n  dbt_anonymize_release_folder: warehouse/shop.duckdb\n",
    )
    stops(consumer, "run", "-s", "customers_anonymized", says=("could not be published",))
    assert consumer.query("select count(*) from main_release.customers_anonymized") != [(0,)]


def test_a_retry_is_as_strict_as_the_build_that_failed(consumer: Project) -> None:
    require(consumer, k=399, suppression_limit=0.1)
    stops(consumer, "run", says=("exactly one effort must be chosen",))
    stops(consumer, "retry", says=("exactly one effort must be chosen",))


def test_a_hierarchy_that_repeats_a_row_counts_nobody_twice(consumer: Project) -> None:
    """Only the release is built anew, from a seed that nobody has checked."""
    before = consumer.release("customers")
    consumer.execute("insert into customers_hierarchy_zip from customers_hierarchy_zip")
    consumer.execute(
        "insert into customers_hierarchy_birth_date from customers_hierarchy_birth_date"
    )
    assert consumer.dbt("run", "-s", "customers_anonymized", "customers_identifiers").succeeded
    assert consumer.release("customers") == before
    people = consumer.query(
        "select count(*), count(distinct customer_id) from vault.main.customers_identifiers"
    )
    assert people == [(400, 400)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("default_collation: nocase", "default_collation must be binary"),
        ("default_order: desc", "default_order must be ascending"),
    ],
)
def test_a_setting_cannot_hide_a_class_of_one(consumer: Project, setting: str, says: str) -> None:
    """`Female` and `female` are one class for the engine, and two for everybody who looks."""
    consumer.edit(
        "anonymizations/customers.yml",
        lambda text: text.replace(
            "features: [birth_date, zip, gender,", "features: [birth_date, zip,"
        ).replace("qnf: 1 - 1/k", "qnf: 1 - 1/k\nrelease: {effort: 1}"),
    )
    generate(consumer.folder)
    consumer.edit("seeds/customers.csv", lambda text: text.replace(",female,", ",Female,", 1))
    consumer.edit(
        "profiles.yml",
        lambda text: text.replace(
            "      threads: 2\n", f"      threads: 2\n      settings: {{{setting}}}\n"
        ),
    )
    stops(consumer, *SEED_AND_RUN, says=(says,))


def test_a_collation_cannot_make_a_test_pass(consumer: Project) -> None:
    """The tests of any relation, too, see a class as everybody sees it."""
    consumer.execute("create table raw (initial varchar collate nocase, answer integer)")
    consumer.execute("insert into raw values ('a', 1), ('A', 2)")
    assert consumer.query("select count(distinct initial) from raw") == [(1,)]
    folder = consumer.folder / "models"
    (folder / "collated.sql").write_text("select * from main.raw\n", encoding="utf-8")
    (folder / "collated.yml").write_text(
        "models:\n  - name: collated\n    data_tests:\n"
        "      - dbt_anonymize.k_anonymity:\n"
        "          arguments: {quasi_identifiers: [initial], k: 2}\n"
        "      - dbt_anonymize.l_diversity:\n"
        "          arguments: {quasi_identifiers: [initial], attribute: answer, l: 2}\n",
        encoding="utf-8",
    )
    outcome = consumer.dbt("build", "-s", "collated")
    assert outcome.messages.count("FAIL 2 dbt_anonymize") == 2, outcome.messages


def test_a_column_with_a_collation_cannot_hide_a_class_of_one(consumer: Project) -> None:
    consumer.execute("alter table customers_microdata alter gender type varchar collate nocase")
    consumer.execute(
        "update customers_microdata set gender = 'Female' where customer_id ="
        " (select min(customer_id) from customers_effort_1"
        " where gender = 'female' and not is_suppressed)"
    )
    consumer.execute("update customers_results set is_chosen = (effort = 1), qualifies = true")
    stops(consumer, "run", "-s", "customers_anonymized", says=("k_anonymity requires",))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("flag", [["--empty"], ["--sample", "1 day"]])
def test_a_trial_run_touches_neither_release_nor_vault(consumer: Project, flag: list[str]) -> None:
    relations = ("main_release.customers_anonymized", "vault.main.customers_identifiers")
    before = [consumer.query(f"from {relation} order by all") for relation in relations]
    file = (consumer.folder / RELEASE).read_bytes()
    consumer.edit(
        "seeds/_seeds.yml",
        lambda text: text.replace(
            "      column_types: {zip: text}\n",
            "      column_types: {zip: text}\n      event_time: birth_date\n",
        ),
    )
    consumer.dbt("run", *flag)
    after = [consumer.query(f"from {relation} order by all") for relation in relations]
    assert after == before
    assert (consumer.folder / RELEASE).read_bytes() == file


def test_results_of_another_version_of_the_spec_do_not_count(consumer: Project) -> None:
    consumer.edit(
        "anonymizations/customers.yml", lambda text: text.replace("alpha: 0.05", "alpha: 0.5")
    )
    generate(consumer.folder)
    stops(consumer, "run", "-s", "customers_anonymized", says=("another version of the spec",))


def test_a_choice_among_other_records_stops_the_release(consumer: Project) -> None:
    consumer.execute(
        "delete from customers_microdata where customer_id in"
        " (select customer_id from customers_effort_3 order by equivalence_class limit 200)"
    )
    says = ("the effort was chosen from 400 records; there are 200 now",)
    stops(consumer, "run", "-s", "customers_anonymized", says=says)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("type_", "says"),
    [
        ("enum('no', 'yes', 'only-of-the-suppressed')", "got enum."),
        ("struct(answer varchar)", "got struct."),
        ("varchar[]", "got varchar"),
    ],
)
def test_a_kept_column_of_a_type_that_shows_more_than_its_values_stops_the_build(
    consumer: Project, type_: str, says: str
) -> None:
    value = {"e": "churned", "s": "{answer: churned}", "v": "[churned]"}[type_[0]]
    consumer.execute(f"alter table customers alter churned type {type_} using {value}")
    stops(consumer, "run", says=("column churned must be a number, text, date or boolean", says))
    assert "only-of-the-suppressed" not in consumer.dbt("run").messages


def test_the_vault_must_not_be_the_warehouse(consumer: Project) -> None:
    (consumer.folder / "macros").mkdir()
    (consumer.folder / "macros" / "names.sql").write_text(
        "{% macro generate_database_name(custom_database_name=none, node=none) -%}"
        "{{ return(target.database) }}{%- endmacro %}"
    )
    outcome = consumer.dbt("run", "-s", "customers_identifiers")
    assert "the vault must be a database file of its own" in outcome.messages
    left = "select count(*) from duckdb_tables() where table_name = 'dbt_anonymize_owner'"
    assert consumer.query(f"{left} and database_name = current_database()") == [(0,)]


def test_a_profile_without_a_vault_is_told_what_to_add(consumer: Project) -> None:
    consumer.edit("profiles.yml", lambda text: text.split("      attach:")[0])
    outcome = consumer.dbt("parse")
    assert not outcome.succeeded
    assert "attach: [{path: vault/vault.duckdb, alias: vault}]" in outcome.messages


def test_a_log_that_a_killed_reader_left_does_not_spoil_the_next_release(consumer: Project) -> None:
    (consumer.folder / f"{RELEASE}.wal").write_bytes(b"of the earlier file")
    assert consumer.dbt("run", "-s", "customers_anonymized").succeeded
    assert len(consumer.release("customers")) > 0


def test_a_failing_hook_leaves_the_release_as_it_was(consumer: Project) -> None:
    consumer.edit(
        "dbt_project.yml",
        lambda text: text + "models:\n  +post-hook: \"select error('a hook of the project')\"\n",
    )
    consumer.execute(
        "update customers_microdata set spending = spending + 1 where customer_id ="
        " (select min(customer_id) from customers_effort_3 where class_size > 20)"
    )
    stops(consumer, "run", "-s", "customers_anonymized", says=("a hook of the project",))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("records", "is_released"), [(100, True), (99, True), (101, False)])
def test_the_suppression_limit_of_a_release_is_exact(
    consumer: Project, records: int, is_released: bool
) -> None:
    """As binary fractions 0.29 * 100 is less than 29; of 101 records, 30 are one too many."""
    consumer.edit(
        "models/customers/customers_anonymized.sql",
        lambda text: text.replace("'suppression_limit': 0.1", "'suppression_limit': 0.29"),
    )
    consumer.execute(
        "create table alike as select person.* from"
        " (from customers_effort_3 where not is_suppressed limit 1) as person, range(71);"
        "drop view customers_effort_3; create view customers_effort_3 as from alike;"
        f"update customers_results set records = {records}, is_chosen = (effort = 3);"
        "delete from customers_microdata where customer_id not in"
        f" (select customer_id from customers_microdata limit {records})"
    )
    outcome = consumer.dbt("run", "-s", "customers_anonymized")
    assert outcome.succeeded == is_released, outcome.messages
    assert (len(consumer.release("customers")) == 71) == is_released
