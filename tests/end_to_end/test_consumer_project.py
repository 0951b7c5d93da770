"""A stranger's dbt project that installs the package and anonymizes a table of its own."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from typing import Any

import pytest
import yaml

from dbt_anonymize.project.generate import check
from tests.projects import CONSUMER_PROJECT, Project


@pytest.fixture(scope="module")
def manifest(built_consumer: Project) -> dict[str, Any]:
    text = (built_consumer.folder / "target" / "manifest.json").read_text(encoding="utf-8")
    read: dict[str, Any] = json.loads(text)
    return read


@pytest.fixture(scope="module")
def nodes(manifest: dict[str, Any]) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = manifest["nodes"]
    return found


def test_it_contains_none_of_our_models_seeds_tests_and_names(
    manifest: dict[str, Any], nodes: dict[str, dict[str, object]]
) -> None:
    """Not even disabled: dbt would read them each time, and nothing could be called as they are."""
    ours = {name for name, node in nodes.items() if node["package_name"] != "shop"}
    assert ours == {"operation.dbt_anonymize.dbt_anonymize-on-run-start-0"}, "closes the vault"
    assert manifest["disabled"] == {}
    groups = ["group.shop.customers_anonymization", "group.shop.customers_custodians"]
    assert list(manifest["groups"]) == groups


@pytest.mark.needs("details")
@pytest.mark.needs("search")
def test_its_models_are_what_its_spec_says() -> None:
    assert check(CONSUMER_PROJECT) == []


def test_the_release_keeps_k_for_each_combination_of_quasi_identifiers(
    built_consumer: Project,
) -> None:
    sizes = built_consumer.query(
        "select count(*) from release_customers.customers_anonymized"
        " group by birth_date, zip, gender"
    )
    assert min(size for (size,) in sizes) >= 4


def test_the_release_has_the_declared_columns_and_nothing_else(built_consumer: Project) -> None:
    columns = built_consumer.query(
        "select column_name from duckdb_columns() where database_name = 'release_customers'"
        " order by column_index"
    )
    assert [name for (name,) in columns] == [
        "birth_date",
        "birth_date_lower",
        "birth_date_upper",
        "zip",
        "gender",
        "order",
        "größe",
        "spending",
        "churned",
        "cqi",
    ]


def test_every_released_value_is_the_image_of_its_source_value(built_consumer: Project) -> None:
    """Recounted in Python from the seeds and the chosen levels, as multisets of whole rows."""
    import csv

    def read(name: str) -> list[dict[str, str]]:
        with (built_consumer.folder / "seeds" / f"{name}.csv").open(encoding="utf-8") as file:
            return list(csv.DictReader(file))

    ((chosen,),) = built_consumer.query("select effort from customers_results where is_chosen")
    levels = {
        1: {"birth_date": 2, "zip": 1, "gender": 0},
        2: {"birth_date": 2, "zip": 2, "gender": 1},
        3: {"birth_date": 3, "zip": 2, "gender": 1},
    }[chosen]
    dates = read("customers_hierarchy_birth_date")
    places = {row["value"]: row for row in read("customers_hierarchy_zip")}

    def generalize(row: dict[str, str]) -> tuple[str, str, str]:
        born = "*"
        if row["birth_date"]:
            (leaf,) = [d for d in dates if d["lower_bound"] <= row["birth_date"] < d["upper_bound"]]
            born = leaf[f"level_{levels['birth_date']}"]
        gender = (row["gender"] or "*") if levels["gender"] == 0 else "*"
        return born, places[row["zip"]][f"level_{levels['zip']}"], gender

    source = read("customers")
    sizes = Counter(generalize(row) for row in source)
    expected = Counter(
        (*generalize(row), int(row["order"]), float(row["spending"]), row["churned"])
        for row in source
        if sizes[generalize(row)] >= 4
    )
    released = built_consumer.query(
        'select birth_date, zip, gender, "order", spending, churned'
        " from release_customers.customers_anonymized"
    )
    assert Counter(released) == expected


def test_the_vault_leads_to_the_same_groups_as_the_release(built_consumer: Project) -> None:
    vault = dict(
        built_consumer.query(
            "select cqi, count(*) from vault.main.customers_identifiers group by cqi"
        )
    )
    released = dict(
        built_consumer.query(
            "select cqi, count(*) from release_customers.customers_anonymized group by cqi"
        )
    )
    vault.pop(None, None)
    assert vault == released
    assert min(released.values()) >= 4


def test_leading_zeros_survive(built_consumer: Project) -> None:
    zips = built_consumer.query("select distinct zip from customers_microdata where zip like '0%'")
    assert ("01067",) in zips


def test_ids_and_identifiers_stay_out_of_the_release_and_of_the_working_copy(
    built_consumer: Project,
) -> None:
    columns = built_consumer.query(
        "select database_name, table_name, column_name from duckdb_columns()"
        " where column_name in ('customer_id', 'full name', 'e-mail') and database_name <> 'vault'"
    )
    holders = {(table, column) for _, table, column in columns}
    assert not {t for t, _ in holders if t.endswith("_anonymized")}
    assert {t for t, c in holders if c != "customer_id"} == {"customers"}, "the seed alone"


def test_all_data_tests_and_unit_tests_pass(consumer: Project) -> None:
    shutil.copy(CONSUMER_PROJECT / "models" / "unit_tests.yml", consumer.folder / "models")
    outcome = consumer.dbt("test")
    assert outcome.succeeded, outcome.messages
    declared = yaml.safe_load((consumer.folder / "models" / "unit_tests.yml").read_text("utf-8"))
    ran = [
        name for name in outcome.statuses if ".unit_test" in name or name.startswith("unit_test")
    ]
    assert len(ran) == len(declared["unit_tests"]) >= 8


def test_an_empty_build_passes_and_publishes_nothing(consumer: Project) -> None:
    before = consumer.release("customers")
    outcome = consumer.dbt("build", "--empty")
    assert outcome.succeeded, outcome.messages
    assert consumer.release("customers") == before
