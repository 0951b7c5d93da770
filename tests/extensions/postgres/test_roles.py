"""Roles that dbt_project.yml names."""

from __future__ import annotations

from dbt_anonymize.extensions.postgres.server import granted_roles


def test_whom_a_project_lets_read() -> None:
    project = {
        "vars": {"dbt_anonymize_custodians": ["protection"]},
        "models": {
            "shop": {"a": {"+grants": {"select": ["analysts", "{{ env_var('X') }}"]}}},
            "+grants": {"select": "public"},
        },
    }
    assert granted_roles(project) == ["analysts", "protection", "public"]
    assert granted_roles({}) == []
