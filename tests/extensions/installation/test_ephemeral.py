"""Sources that are nowhere to be read are told before a build."""

from __future__ import annotations

import pytest

from dbt_anonymize.extensions.installation.doctor import examine
from dbt_anonymize.project.generate import generate
from tests.projects import Project

pytestmark = pytest.mark.sampled_tests(group="installation")


def test_ephemeral_sources_stop(consumer: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    people = consumer.folder / "models" / "people.sql"
    people.write_text("{{ config(materialized='ephemeral') }} select * from {{ ref('customers') }}")
    spec = "anonymizations/customers.yml"
    consumer.edit(spec, lambda text: text.replace("{ref: customers}", "{ref: people}"))
    generate(consumer.folder)
    monkeypatch.setenv("DBT_PROFILES_DIR", str(consumer.folder))
    stopped = [finding for finding in examine(consumer.folder) if finding.status == "stop"]
    assert [finding.check for finding in stopped] == ["sources"]
    assert "customers reads people, which must be a table or a view" in stopped[0].text
