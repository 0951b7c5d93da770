"""A test that fails shows how many rows fail, and stores none of them, whatever one asks for."""

from __future__ import annotations

import pytest

from tests.projects import Project

pytestmark = pytest.mark.sampled_tests(group="builds")


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("setting", "flags"),
    [
        ("", ["--store-failures"]),
        ("data_tests:\n  +store_failures: true\n", []),
        ("data_tests:\n  +store_failures_as: table\n", []),
    ],
)
def test_rows_that_fail_are_not_stored(members: Project, setting: str, flags: list[str]) -> None:
    if setting:
        members.edit("dbt_project.yml", lambda text: text + setting)
    members.execute(
        "delete from main_release.members_anonymized where token not in"
        " (select max(token) from main_release.members_anonymized group by birth_date, zip)"
    )
    members.execute("insert into members_microdata from members_microdata limit 3")
    outcome = members.dbt("test", *flags)
    assert not outcome.succeeded
    failed = [name for name, status in outcome.statuses.items() if status == "fail"]
    assert any("k_anonymity" in name for name in failed)
    assert any("unique_members_microdata" in name for name in failed)
    stored = members.query(
        "select schema_name, table_name from duckdb_tables() where schema_name like '%test__audit'"
        " union all select schema_name, view_name from duckdb_views()"
        " where schema_name like '%test__audit'"
    )
    assert not [name for _, name in stored if "members" in name], stored
