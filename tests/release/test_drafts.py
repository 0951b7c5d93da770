"""Builds of targets that do not publish are drafts, which register and composition leave out."""

from __future__ import annotations

import pytest

from tests.projects import Project

STATE = (
    "select (select count(*) from customers_register), "
    "(select count(*) from vault.customers_releases)"
)
RELEASE = ("run", "-s", "customers_anonymized")


@pytest.mark.sampled_tests(group="builds")
@pytest.mark.dbt
def test_a_target_with_a_register_publishes_until_it_is_taken_out(consumer: Project) -> None:
    settings = (consumer.folder / "dbt_project.yml").read_text("utf-8")

    def declare(**variables: object) -> None:
        text = f"{settings}\nvars: {variables}\n"
        (consumer.folder / "dbt_project.yml").write_text(text, encoding="utf-8")

    def build() -> str:
        outcome = consumer.dbt(*RELEASE)
        assert outcome.succeeded, outcome.messages
        return " ".join(outcome.messages.split())

    ((releases, remembered),) = consumer.query(STATE)
    declare(dbt_anonymize_published_targets=["prod"])
    assert "a draft" not in build(), "others have what was released before"
    assert consumer.query(STATE) == [(releases + 1, remembered)]
    declare(dbt_anonymize_published_targets=["prod"], dbt_anonymize_draft_targets=["dev"])
    consumer.execute("delete from vault.customers_releases")
    file = consumer.release_file("customers")
    file.unlink()
    assert "customers: a draft" in build()
    assert consumer.query(STATE) == [(releases + 1, 0)]
    assert file.is_file()
    # A text would be searched for a part of it.
    for wrong, says in (
        ({"dbt_anonymize_published_targets": "dev"}, "must be a list of names of targets"),
        (
            {
                "dbt_anonymize_published_targets": ["dev"],
                "dbt_anonymize_draft_targets": ["dev"],
            },
            "dev is in both",
        ),
    ):
        declare(**wrong)
        outcome = consumer.dbt(*RELEASE)
        assert not outcome.succeeded
        assert says in " ".join(outcome.messages.split())
