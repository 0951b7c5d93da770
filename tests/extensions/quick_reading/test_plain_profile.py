"""Profiles that are read without dbt are read as dbt reads them; what is not ordinary is dbt's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt_anonymize.errors import ProjectError
from dbt_anonymize.extensions.quick_reading.reading import read_profile as read_plain_profile
from dbt_anonymize.project.profile import read_profile, read_profile_by_dbt

pytestmark = pytest.mark.dbt

DUCKDB: dict[str, Any] = {"type": "duckdb", "path": "warehouse/shop.duckdb", "threads": 2}
PROD = {**DUCKDB, "path": "warehouse/prod.duckdb"}
SERVER: dict[str, Any] = {
    "type": "postgres",
    "host": "localhost",
    "port": 5432,
    "user": "me",
    "password": "secret",
    "dbname": "shop",
    "schema": "main",
}
ATTACHED = {"path": "vault/vault.duckdb", "alias": "vault", "options": {"storage_version": "v1"}}
ENVIRONMENT = {
    "SHOP_FILE": "a/b.duckdb",
    "SHOP_HOST": "db.example",
    "SHOP_PORT": "5433",
    "SHOP_JINJA": "{{ 1 + 1 }}",
    "SHOP_PADDED": "05433",
    "SHOP_TARGET": "dev",
    "SHOP_EMPTY": "",
    "DBT_ENV_SECRET_SHOP": "hush",
}
ORDINARY: dict[str, dict[str, Any]] = {
    "a file": DUCKDB,
    "a schema": {**DUCKDB, "schema": "people"},
    "its database": {**DUCKDB, "database": "shop"},
    "a vault": {**DUCKDB, "attach": [ATTACHED]},
    "attached read-only": {**DUCKDB, "attach": [{"path": "b.duckdb", "read_only": True}]},
    "settings": {**DUCKDB, "settings": {"threads": 1}, "config_options": {"memory_limit": "1GB"}},
    "no list": {**DUCKDB, "attach": None, "settings": None},
    "a variable": {**DUCKDB, "path": "{{ env_var('SHOP_FILE') }}"},
    "within a path": {**DUCKDB, "path": "data/{{ env_var('SHOP_TARGET') }}/shop.duckdb"},
    "a server": SERVER,
    "aliases": {**{k: v for k, v in SERVER.items() if k != "password"}, "pass": "secret"},
    "options": {**SERVER, "sslmode": "require", "connect_timeout": 3, "keepalives_idle": 5},
    "a host": {**SERVER, "host": '{{ env_var("SHOP_HOST") }}'},
    "a default": {**SERVER, "host": "{{env_var('SHOP_NOWHERE', 'localhost')}}"},
    "an empty default": {**SERVER, "password": "{{ env_var('SHOP_NOWHERE', '') }}"},
    "an empty variable": {**SERVER, "password": "{{ env_var('SHOP_EMPTY', 'other') }}"},
    "a secret": {**SERVER, "password": "{{ env_var('DBT_ENV_SECRET_SHOP') }}"},
    "a port": {**SERVER, "port": "{{ env_var('SHOP_PORT') | int }}"},
    "a native port": {**SERVER, "port": "{{ env_var('SHOP_PORT', '1') | as_number }}"},
    "two variables": {**SERVER, "user": "{{ env_var('SHOP_HOST') }}_{{ env_var('SHOP_PORT') }}"},
    "of digits": {**SERVER, "user": "{{ env_var('SHOP_PORT') }}"},
    "Jinja in a value": {**SERVER, "user": "{{ env_var('SHOP_JINJA') }}"},
    "closing braces": {**SERVER, "password": "a}}b"},
}
FOR_DBT: dict[str, dict[str, Any]] = {
    "a number as text": {**SERVER, "port": "5432"},
    "a variable as number": {**SERVER, "port": "{{ env_var('SHOP_PORT') }}"},
    "a padded number": {**SERVER, "port": "{{ env_var('SHOP_PADDED') | int }}"},
    "a number within": {**SERVER, "user": "a{{ env_var('SHOP_PORT') | int }}"},
    "no variable": {**SERVER, "host": "{{ env_var('SHOP_NOWHERE') }}"},
    "a --var": {**SERVER, "schema": "{{ var('schema', 'main') }}"},
    "other Jinja": {**SERVER, "schema": "{{ 'a' ~ 'b' }}"},
    "a filter": {**SERVER, "host": "{{ env_var('SHOP_HOST') | upper }}"},
    "a statement": {**SERVER, "host": "{% if true %}a{% endif %}"},
    "a comment": {**SERVER, "host": "a{# b #}"},
    "a line break": {**SERVER, "password": "secret\n"},
    "both aliases": {**SERVER, "database": "shop"},
    "a password of digits": {**SERVER, "password": 12345},
    "no host": {k: v for k, v in SERVER.items() if k != "host"},
    "a role": {**SERVER, "role": "owner"},
    "a search path": {**SERVER, "search_path": "a, b"},
    "another type": {"type": "snowflake", "account": "a"},
    "a rendered type": {**DUCKDB, "type": "{{ 'duckdb' }}"},
    "no type": {"path": "a.duckdb"},
    "in memory": {"type": "duckdb", "path": ":memory:"},
    "no path": {"type": "duckdb"},
    "MotherDuck": {**DUCKDB, "path": "md:shop"},
    "a URL": {**DUCKDB, "path": "s3://bucket/shop.duckdb?x=y"},
    "two dots": {**DUCKDB, "path": "my.shop.duckdb"},
    "hidden": {**DUCKDB, "path": "warehouse/.duckdb"},
    "another database": {**DUCKDB, "database": "other"},
    "extensions": {**DUCKDB, "extensions": ["httpfs"]},
    "secrets": {**DUCKDB, "secrets": [{"type": "s3"}]},
    "plugins": {**DUCKDB, "plugins": [{"module": "excel"}]},
    "a ducklake": {**DUCKDB, "attach": [{"path": "ducklake:a.ducklake", "alias": "lake"}]},
    "an attached server": {**DUCKDB, "attach": [{"path": "dbname=a", "type": "postgres"}]},
    "an alias to quote": {**DUCKDB, "attach": [{"path": "b.duckdb", "alias": "a b"}]},
    "an option to type": {**DUCKDB, "attach": [{**ATTACHED, "options": {"type": "sqlite"}}]},
    "an option in quotes": {
        **DUCKDB,
        "attach": [{**ATTACHED, "options": {"storage_version": "'v1'"}}],
    },
    "a key that nobody knows": {**DUCKDB, "colour": "red"},
}


def _marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.needs("postgres")] if ORDINARY[name]["type"] == "postgres" else []


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "dbt_project.yml").write_text("name: shop\nprofile: shop\n")
    return tmp_path


def write(folder: Path, output: Any, **more: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    profile = {"target": "dev", "outputs": {"dev": output}, **more}
    (folder / "profiles.yml").write_text(yaml.safe_dump({"shop": profile}))


def assert_read_alike(root: Path, target: str | None = None) -> None:
    """Compare all that commands ask of a profile."""
    ours, theirs = read_plain_profile(root, target), read_profile_by_dbt(root, target)
    assert ours is not None
    assert (ours.profile_name, ours.target_name) == (theirs.profile_name, theirs.target_name)
    mine, given = ours.credentials, theirs.credentials
    for name in mine.__dataclass_fields__:
        if name not in {"threads", "attach"}:
            assert (getattr(mine, name) or None) == (getattr(given, name) or None), name
    attached = [
        [(one.path, one.alias, one.type, one.read_only, one.options) for one in many or ()]
        for many in (getattr(mine, "attach", ()), getattr(given, "attach", ()))
    ]
    assert attached[0] == attached[1]


@pytest.mark.parametrize("name", [pytest.param(n, marks=_marks(n)) for n in ORDINARY])
def test_an_ordinary_profile_is_read_as_dbt_reads_it(project: Path, name: str) -> None:
    write(project, ORDINARY[name])
    assert_read_alike(project)


@pytest.mark.parametrize("name", FOR_DBT)
def test_what_is_not_ordinary_is_left_to_dbt(project: Path, name: str) -> None:
    write(project, FOR_DBT[name])
    assert read_plain_profile(project) is None


def test_targets_and_folders_are_chosen_as_dbt_does(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {"outputs": {"dev": DUCKDB, "prod": PROD, "default": {**DUCKDB, "schema": "d"}}}
    write(project / "home" / ".dbt", DUCKDB, **other)
    assert_read_alike(project)
    assert_read_alike(project, "prod")
    write(project / "home" / ".dbt", DUCKDB, **other, target="{{ env_var('SHOP_TARGET') }}")
    assert_read_alike(project)
    monkeypatch.setenv("DBT_TARGET", "prod")
    assert_read_alike(project)
    assert_read_alike(project, "dev")
    monkeypatch.delenv("DBT_TARGET")
    write(project, PROD)
    assert_read_alike(project)
    write(project / "ci", {**DUCKDB, "schema": "ci"})
    monkeypatch.setenv("DBT_PROFILES_DIR", str(project / "ci"))
    assert_read_alike(project)
    monkeypatch.setenv("DBT_PROFILES_DIR", "ci")
    assert_read_alike(project)


def test_the_profile_without_a_target_is_that_called_default(project: Path) -> None:
    content = {"shop": {"outputs": {"default": DUCKDB, "dev": SERVER}}}
    (project / "profiles.yml").write_text(yaml.safe_dump(content))
    assert_read_alike(project)


def test_another_profile_may_be_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = {n: {"target": "a", "outputs": {"a": {**DUCKDB, "schema": n}}} for n in ("b", "c")}
    (project / "profiles.yml").write_text(yaml.safe_dump(content))
    monkeypatch.setenv("DBT_PROFILE", "c")
    assert_read_alike(project)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "must have the profile shop"),
        ("shop: {outputs: {}}", "must have targets"),
        ("shop: {target: dve, outputs: {dev: {type: duckdb}}}", "dve: must be a target"),
        ("shop: {target: dev, outputs: {dev: 1}}", "must be one that dbt can read"),
        ("shop: [", "valid YAML"),
    ],
)
def test_what_is_wrong_is_said_as_before(project: Path, content: str, says: str) -> None:
    (project / "profiles.yml").write_text(content)
    assert read_plain_profile(project) is None
    with pytest.raises(ProjectError, match=says):
        read_profile(project)


def test_a_project_that_names_no_profile_is_told_to(project: Path) -> None:
    (project / "dbt_project.yml").write_text("name: shop\n")
    write(project, DUCKDB)
    with pytest.raises(ProjectError, match=r"must name a profile. Add `profile: shop`"):
        read_profile(project)
