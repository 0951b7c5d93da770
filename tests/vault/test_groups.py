"""Nobody outside of the custodians' group can build on the vault, and nobody else is granted it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from dbt_anonymize.project.generate import render
from dbt_anonymize.spec import Spec
from tests.projects import Project
from tests.spec.declarations import spec
from tests.vault.projects import copy_with

pytestmark = pytest.mark.sampled_tests(3)


@pytest.fixture(scope="module")
def parsed(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return copy_with(tmp_path_factory.mktemp("groups") / "project", "members")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("table", ["members_identifiers", "members_tokens"])
@pytest.mark.parametrize("group", ["", "{{ config(group='sales') }}"])
def test_a_model_outside_of_the_group_that_reads_the_vault_stops_everything(
    parsed: Project, tmp_path: Path, table: str, group: str
) -> None:
    project = parsed.copy(tmp_path / "project")
    (project.folder / "models" / "curious.sql").write_text(
        f"{group} select * from {{{{ ref('{table}') }}}}", encoding="utf-8"
    )
    (project.folder / "models" / "sales.yml").write_text(
        "groups: [{name: sales, owner: {name: sales}}]\n", encoding="utf-8"
    )
    outcome = project.dbt("parse")
    assert not outcome.succeeded
    assert "attempted to reference" in outcome.messages
    assert "members_custodians" in outcome.messages


def test_a_model_of_the_custodians_may_read_it(parsed: Project, tmp_path: Path) -> None:
    project = parsed.copy(tmp_path / "project")
    (project.folder / "models" / "of_custodians.sql").write_text(
        "{{ config(group='members_custodians', access='private') }}"
        " select * from {{ ref('members_identifiers') }}",
        encoding="utf-8",
    )
    assert project.dbt("parse").succeeded


def test_the_generated_properties_declare_group_and_access(parsed: Project, tmp_path: Path) -> None:
    project = parsed.copy(tmp_path / "project")
    assert project.dbt("parse").succeeded
    manifest = json.loads((project.folder / "target" / "manifest.json").read_text())
    found = {
        node["name"].removeprefix("members_"): (node["access"], node["group"])
        for node in manifest["nodes"].values()
        if node["resource_type"] == "model" and node["name"].startswith("members_")
    }
    custodians = "members_custodians"
    assert found.pop("identifiers") == ("private", custodians)
    assert found.pop("tokens") == ("private", custodians)
    assert found.pop("anonymized") == ("protected", custodians)
    assert set(found.values()) == {("protected", "members_anonymization")}
    assert manifest["groups"]["group.shop.members_custodians"]["owner"]["name"] == (
        "custodians of members"
    )


def properties(**changes: object) -> dict[str, object]:
    files = render(Spec.model_validate(spec(**changes)))
    return yaml.safe_load(files["_visits.yml"])


def models(**changes: object) -> dict[str, dict[str, object]]:
    found = properties(**changes)["models"]
    assert isinstance(found, list)
    return {model["name"]: model for model in found}


def test_a_public_release_is_public() -> None:
    found = models(release={"access": "public"})
    of_all = {"tags": ["dbt_anonymize", "visits"]}
    assert found["visits_anonymized"]["config"] == {
        **of_all,
        "access": "public",
        "group": "visits_anonymization",
    }
    assert found["visits_identifiers"]["config"] == {
        **of_all,
        "access": "private",
        "group": "visits_custodians",
    }


def test_without_a_mapping_there_are_no_custodians_and_no_vault() -> None:
    groups = properties(mapping="none")["groups"]
    assert isinstance(groups, list)
    assert [group["name"] for group in groups] == ["visits_anonymization"]
    assert not {"visits_identifiers", "visits_tokens"} & models(mapping="none").keys()
    files = render(Spec.model_validate(spec(mapping="none")))
    assert not {"visits_identifiers.sql", "visits_tokens.sql"} & files.keys()


@pytest.mark.parametrize("mapping", ["class", "token", "none"])
def test_the_mapping_changes_no_fingerprint(mapping: str) -> None:
    """The mapping changes no result."""
    changed = Spec.model_validate(spec(mapping=mapping, release={"access": "protected"}))
    assert changed.fingerprint == Spec.model_validate(spec()).fingerprint


def test_every_generated_test_keeps_its_rows_to_itself() -> None:
    """Rows that fail are rows of people; the command line must not store them either."""
    private = {"store_failures": False, "store_failures_as": "ephemeral"}.items()
    tests = []
    for model in models().values():
        tests += model.get("data_tests", [])
        for column in model.get("columns", []):  # type: ignore[attr-defined]
            tests += column.get("data_tests", [])
    assert len(tests) >= 5
    for test in tests:
        ((_, settings),) = test.items()
        assert settings["config"].items() >= private


def test_grants_are_for_custodians_alone_where_there_are_grants(
    parsed: Project, tmp_path: Path
) -> None:
    """DuckDB has none, and warns of them."""
    project = parsed.copy(tmp_path / "project")
    (project.folder / "macros").mkdir()
    (project.folder / "macros" / "shown.sql").write_text(
        "{% macro shown() %}{% do log("
        "'here: ' ~ dbt_anonymize._custodian_grants() ~ ' elsewhere: '"
        " ~ dbt_anonymize.default___custodian_grants(), info=true"
        ") %}{% endmacro %}",
        encoding="utf-8",
    )
    outcome = project.dbt("run-operation", "shown")
    assert "here: {} elsewhere: {'select': []}" in outcome.messages, outcome.messages
    outcome = project.dbt(
        "run-operation", "shown", "--vars", "{dbt_anonymize_custodians: [data_protection]}"
    )
    assert "elsewhere: {'select': ['data_protection']}" in outcome.messages
