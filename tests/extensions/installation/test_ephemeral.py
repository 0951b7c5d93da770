"""Sources that are nowhere to be read are told before a build."""

from __future__ import annotations

import pytest

from dbt_anonymize.extensions.installation.doctor import examine
from tests.extensions.provenance.test_build import clinic, pytestmark, written
from tests.projects import Project

__all__ = ["clinic", "pytestmark", "written"]


def test_ephemeral_sources_stop(clinic: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    clinic.edit("models/people.sql", "{{{{ config(materialized='ephemeral') }}}} {}".format)
    assert clinic.dbt("seed").succeeded
    assert not clinic.dbt("run", "-s", "visits_microdata").succeeded
    monkeypatch.setenv("DBT_PROFILES_DIR", str(clinic.folder))
    stopped = [finding for finding in examine(clinic.folder) if finding.status == "stop"]
    assert [finding.check for finding in stopped] == ["sources"]
    assert "visits reads people, which must be a table or a view" in stopped[0].text
