"""Needs of engines: `new` writes them, `generate` and `doctor` say them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.extensions.installation import doctor
from dbt_anonymize.extensions.installation.project_files import project_changes
from dbt_anonymize.project import engines
from dbt_anonymize.project.engines.settings import kind_of_target, missing_settings, unmet_settings

ENGINES = [pytest.param(kind, marks=pytest.mark.needs(kind)) for kind in ("postgres", "spark")]
PYTHON = ("vars", "dbt_anonymize_python")
LOCATION = ("vars", "dbt_anonymize_vault_location")
FORMATS = (("models", "+file_format"), ("seeds", "+file_format"))


def written(folder: Path, kind: str, **project: Any) -> Path:
    """Write a project whose target is of an engine."""
    declared = {"name": "shop", "profile": "shop", **project}
    (folder / "dbt_project.yml").write_text(yaml.safe_dump(declared), encoding="utf-8")
    outputs = {"dev": {"type": "duckdb"}, "prod": {"type": kind, "method": "thrift"}}
    profile = {"shop": {"target": "prod", "outputs": outputs}}
    (folder / "profiles.yml").write_text(yaml.safe_dump(profile), encoding="utf-8")
    return folder


def paths(kind: str, folder: Path, project: Mapping[str, Any]) -> list[tuple[str, ...]]:
    return [setting.path for setting in missing_settings(kind, folder, project)]


@pytest.mark.needs("postgres", "spark")
def test_each_engine_needs_its_settings(tmp_path: Path) -> None:
    assert paths("duckdb", tmp_path, {}) == []
    assert paths("postgres", tmp_path, {}) == [PYTHON]
    assert paths("spark", tmp_path, {}) == [PYTHON, LOCATION, *FORMATS]
    assert paths("postgres", tmp_path, {"vars": {"dbt_anonymize_python": True}}) == [PYTHON]
    declared = {
        "vars": {"dbt_anonymize_python": False, "dbt_anonymize_vault_location": "/srv/vault"},
        "models": {"shop": {"+file_format": "delta"}},
        "seeds": {"file_format": "parquet"},
    }
    assert paths("spark", tmp_path, declared) == []


@pytest.mark.dbt  # reads its version
@pytest.mark.parametrize("kind", ENGINES)
def test_new_writes_them_once(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DBT_TARGET", raising=False)
    folder = written(tmp_path, kind, models={"shop": {"+schema": "x"}})
    profiles = folder / "profiles.yml"
    (change,) = [c for c in project_changes(folder, profiles, None) if "dbt_project" in str(c.path)]
    (folder / "dbt_project.yml").write_text(change.after, encoding="utf-8")
    declared = yaml.safe_load(change.after)
    assert declared["vars"]["dbt_anonymize_python"] is False
    assert declared["models"]["shop"] == {"+schema": "x"}
    assert (declared["models"].get("+file_format") == "parquet") is (kind == "spark")
    again = project_changes(folder, profiles, None)
    assert not [c for c in again if "dbt_project" in str(c.path)]
    other = written(tmp_path, kind)
    assert "vars" not in "".join(
        c.after for c in project_changes(other, profiles, "dev") if "dbt_project" in str(c.path)
    )


@pytest.mark.needs("postgres")
def test_generate_says_what_a_build_would_stop_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DBT_TARGET", "DBT_PROFILES_DIR", "DBT_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    (line,) = unmet_settings(written(tmp_path, "postgres"))
    assert line == (
        "postgres needs in dbt_project.yml: vars: {dbt_anonymize_python: false} (it runs no Python "
        "models; `dbt-anonymize build` calls dbt and trains in between). Run `dbt-anonymize new`."
    )
    assert unmet_settings(written(tmp_path, "postgres", vars={"dbt_anonymize_python": False})) == []
    assert kind_of_target(tmp_path, "dev") == "duckdb"
    assert kind_of_target(tmp_path, "nowhere") is None
    (tmp_path / "profiles.yml").write_text("shop: [", encoding="utf-8")
    assert unmet_settings(tmp_path) == []


@pytest.mark.needs("postgres", "spark")
def test_doctor_stops_where_the_server_is_not_reached_or_a_setting_is_missing(
    tmp_path: Path,
) -> None:
    pytest.importorskip("psycopg2")
    place = {"host": "127.0.0.1", "port": 1, "database": "shop", "user": "u", "password": "secret"}
    of_server = SimpleNamespace(
        type="postgres", connect_timeout=2, keepalives_idle=0, sslmode=None, **place
    )
    found = {f.check: f for f in doctor._engine(written(tmp_path, "postgres"), of_server)}
    assert found["engine"].status == found["server"].status == "stop"
    assert "127.0.0.1:1/shop must be reached; it is not (OperationalError)" in found["server"].text
    assert "secret" not in str(found)
    assert "waits 10 s" in found["lock timeout"].text
    assert "grant usage on schema" in found["schema"].text
    (missing, note) = doctor._engine(
        written(tmp_path, "spark"), SimpleNamespace(type="spark", method="thrift")
    )
    assert (missing.status, note.status) == ("stop", "note")
    assert "dbt_anonymize_vault_location" in missing.text
    assert "`method: session`, in their own process; the profile says thrift" in note.text


def test_an_engine_whose_extension_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DBT_TARGET", "DBT_PROFILES_DIR", "DBT_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(engines, "find_engine", lambda _: None)
    root = written(tmp_path, "postgres")
    said = (
        "postgres: needs the extension postgres, which is not here. Add it, or choose another "
        "target."
    )
    assert unmet_settings(root) == [said]
    (found,) = doctor._engine(root, SimpleNamespace(type="postgres"))
    assert (found.status, found.text) == ("stop", said)
    with pytest.raises(WarehouseError, match=re.escape(said)):
        engines.engine_of(SimpleNamespace(kind="postgres"))  # type: ignore[arg-type]
    assert engines.missing_engine("snowflake") is None
