"""Relations that the plugin of dbt takes for the vault, which no clone may show."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from dbt_anonymize.vault import dbt_plugin


def test_a_state_is_found_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = tmp_path / "project" / "state"
    state.mkdir(parents=True)
    nodes = {"seed.shop.customers": {"database": "vault"}}
    (state / "manifest.json").write_text(json.dumps({"nodes": nodes}), encoding="utf-8")
    flags = SimpleNamespace(DEFER_STATE=None, STATE="state", PROJECT_DIR=str(tmp_path / "project"))
    monkeypatch.setattr(dbt_plugin, "get_flags", lambda: flags)
    monkeypatch.chdir(tmp_path)
    assert dbt_plugin._nodes_of_state() == nodes


def test_names_of_databases_differ_in_more_than_case() -> None:
    def node(database: str, materialized: str) -> dict[str, object]:
        return {"database": database, "schema": "main", "config": {"materialized": materialized}}

    nodes = {
        "tokens": node("vault", "dbt_anonymize_tokens"),
        "seed": node("VAULT", "seed"),
        "model": node("shop", "table"),
    }
    assert dbt_plugin._in_vault(nodes, is_file=True) == {"tokens", "seed"}
