"""Promises that Spark cannot keep stop a build before anything is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt_anonymize.project.generate import generate
from tests.extensions.spark.conftest import OnSpark
from tests.extensions.spark.session import query
from tests.projects import Project

pytestmark = pytest.mark.slow

SETTINGS = {
    "dbt_anonymize_custodians must be empty": {"dbt_anonymize_custodians": ["protection"]},
    "the vault must be a folder of its own": {"dbt_anonymize_vault_location": ""},
    "must lie in /elsewhere/shop_vault": {"dbt_anonymize_vault_location": "/elsewhere"},
    "the vault must be a schema of its own": {"dbt_anonymize_release_schema": "vault"},
}
SPECS: dict[str, dict[str, Any]] = {
    "composition: strict compares files": {"release": {"composition": "strict"}},
    "release.recompute needs DuckDB": {"release": {"recompute": True}},
    "random generator made for secrets": {"mapping": "token", "subject": "e-mail"},
}


@pytest.fixture
def copied(built: OnSpark, tmp_path: Path) -> Project:
    return built.project.copy(tmp_path / "copied")


def changed(project: Project, file: str, change: Callable[[dict[str, Any]], object]) -> None:
    def edited(text: str) -> str:
        content = yaml.safe_load(text)
        change(content)
        return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)

    project.edit(file, edited)


@pytest.mark.parametrize("reason", SETTINGS)
def test_a_setting(copied: Project, reason: str) -> None:
    changed(copied, "dbt_project.yml", lambda p: p["vars"].update(SETTINGS[reason]))
    outcome = copied.dbt("run", "-s", "customers_identifiers")
    assert not outcome.succeeded
    assert reason in outcome.messages


@pytest.mark.parametrize("reason", SPECS)
def test_a_declaration(copied: Project, reason: str) -> None:
    before = query("select * from shop_release.customers_anonymized")

    changed(copied, "anonymizations/customers.yml", lambda spec: spec.update(SPECS[reason]))
    generate(copied.folder)
    names = ["customers_anonymized"]
    if "token" in SPECS[reason].values():
        names = ["customers_tokens"]
    outcome = copied.dbt("run", "-s", *names)
    assert not outcome.succeeded
    assert reason in outcome.messages
    assert query("select * from shop_release.customers_anonymized") == before


def test_grants(copied: Project) -> None:
    grants = {"+grants": {"select": ["analysts"]}}
    changed(
        copied,
        "dbt_project.yml",
        lambda p: p["models"].update({"shop": {"customers": {"customers_anonymized": grants}}}),
    )
    outcome = copied.dbt("run", "-s", "customers_anonymized")
    assert not outcome.succeeded
    assert "+grants must be empty" in outcome.messages


def test_the_loader_of_dbt_spark(copied: Project) -> None:
    """It makes a text of NULL."""
    changed(copied, "dbt_project.yml", lambda p: p.pop("dispatch"))
    outcome = copied.dbt("seed", "-s", "customers_hierarchy_gender")
    assert not outcome.succeeded
    assert "seeds must be loaded by the macro of this package" in outcome.messages


def test_a_cell_that_does_not_fit_is_named_by_its_line(copied: Project) -> None:
    file = copied.folder / "seeds" / "pets.csv"
    file.write_text("name,age\nRex O'Neill,3\nSnowy,secret\n,\n", encoding="utf-8")
    types = {"seeds": {"shop": {"pets": {"+column_types": {"age": "int"}}}}}
    changed(copied, "dbt_project.yml", lambda p: p["seeds"]["shop"].update(types["seeds"]["shop"]))
    outcome = copied.dbt("seed", "-s", "pets")
    assert not outcome.succeeded
    assert "line 3 column age (not int)" in outcome.messages
    assert "secret" not in outcome.messages
    file.write_text('name,age\nRex O\'Neill,3\n"C:\\dir ""x""",\n,5\n', encoding="utf-8")
    assert copied.dbt("seed", "-s", "pets").succeeded
    assert query("select * from shop.pets") == [
        ("Rex O'Neill", 3),
        ('C:\\dir "x"', None),
        (None, 5),
    ]


def test_a_release_that_breaks_its_guarantee_is_not_published(copied: Project) -> None:
    """The results say 4, and the effort is changed behind their back."""
    before = query("select * from shop_release.customers_anonymized")
    copied.edit(
        "models/customers/customers_anonymized.sql", lambda text: text.replace("'k': 4", "'k': 40")
    )
    outcome = copied.dbt("run", "-s", "customers_anonymized")
    assert not outcome.succeeded
    assert "classes break it" in outcome.messages
    assert query("select * from shop_release.customers_anonymized") == before
