"""Messages of dbt for missing things and failures: who, which rule, and what to do."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.projects import Project
from tests.vault.projects import edit_spec

pytestmark = pytest.mark.sampled_tests(group="builds")


def test_a_missing_folder_of_the_vault_is_named_before_duckdb_opens_it(consumer: Project) -> None:
    folder = consumer.folder / "vault"
    shutil.rmtree(folder)
    for command in ("build", "seed"):
        outcome = consumer.dbt(command)
        assert not outcome.succeeded
        assert f"Run `mkdir -m 700 {folder}`." in outcome.messages
        assert "Cannot open file" not in outcome.messages
    # Whoever only reads the project needs no vault.
    assert consumer.dbt("parse").succeeded


def test_a_failing_test_names_the_measure_and_the_limit(consumer: Project) -> None:
    models = consumer.folder / "models"
    (models / "few.sql").write_text("select 1 as age, 'a' as \"*/ ill\"", encoding="utf-8")
    tests = [
        {"dbt_anonymize.k_anonymity": {"arguments": {"quasi_identifiers": ["age"], "k": 7}}},
        {
            "dbt_anonymize.l_diversity": {
                "arguments": {"quasi_identifiers": ["age"], "attribute": "*/ ill", "l": 3},
                "config": {"severity": "warn"},
            }
        },
        {
            "dbt_anonymize.uniqueness": {
                "arguments": {"quasi_identifiers": ["age"], "sample_share": 0.5},
                "config": {"error_if": "> 5", "warn_if": "> 0"},
            }
        },
    ]
    content = json.dumps({"version": 2, "models": [{"name": "few", "data_tests": tests}]})
    (models / "few.yml").write_text(content, encoding="utf-8")
    said = consumer.dbt("build", "-s", "few").messages
    required = "k_anonymity requires at least 7 records in each equivalence class; these are"
    assert f"Got 1 result, configured to fail if != 0 /* {required}" in said
    assert "configured to warn if != 0 /* l_diversity of * / ill requires l = 3" in said
    assert "Got 1 result, configured to warn if > 0" in said, "the project's own condition stays"


def test_dbt_knows_the_test_of_a_release_again_after_k_was_changed(consumer: Project) -> None:
    """Else `dbt retry` ends in a traceback."""

    def tests() -> set[str]:
        assert consumer.dbt("parse").succeeded
        manifest = json.loads((consumer.folder / "target" / "manifest.json").read_text("utf-8"))
        return {name for name in manifest["nodes"] if name.startswith("test.shop.")}

    before = tests()
    assert any("customers_anonymized_k_anonymity" in name for name in before)
    edit_spec(consumer, "customers", "k: 4", "k: 5")
    assert tests() == before


def test_the_test_of_a_release_demands_what_the_release_declares(consumer: Project) -> None:
    test = ("test", "-s", "customers_anonymized_k_anonymity")
    passed = consumer.dbt(*test)
    assert passed.succeeded
    assert sorted(passed.statuses.values()) == ["pass", "success"], "the test, and the hook"
    consumer.execute("delete from main_release.customers_anonymized where rowid > 0")
    broken = consumer.dbt(*test)
    assert not broken.succeeded
    says = "k_anonymity requires at least 4 records in each equivalence class; build the release"
    assert says in broken.messages


def test_tokens_that_are_drawn_anew_are_warned_of(members: Project) -> None:
    members.execute("drop table vault.main.members_tokens")
    says = "everybody gets a new token"
    first = members.dbt("run", "-s", "members_tokens").messages.lower()
    assert says not in first, "nothing was re-linked"
    members.execute("drop table vault.main.members_tokens")
    members.execute("create table vault.main.members_relinkings as select 1 as attempt")
    again = members.dbt("run", "-s", "members_tokens").messages.lower()
    assert says in again
    assert "1 attempt to re-link are" not in again
    assert says not in members.dbt("run", "-s", "members_tokens").messages.lower()
