"""The script of the charts is made once for each version, and kept."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from dbt_anonymize.extensions.report import rendering


def test_the_script_is_made_once_and_anew_where_it_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def bundle(snippet: str, *, vl_version: str) -> str:
        made.append(vl_version)
        return f"/* Vega */ {snippet}"

    monkeypatch.setitem(sys.modules, "vl_convert", SimpleNamespace(javascript_bundle=bundle))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    script = rendering._bundle.__wrapped__
    assert script() == script()
    assert script().startswith("/* Vega */ window.vegaEmbed")
    assert made == ["6.4"]
    (kept,) = (tmp_path / "cache" / "dbt_anonymize").iterdir()
    kept.write_text(kept.read_text()[:-2])
    assert script() == kept.read_text()
    assert len(made) == 2
    # Where nothing can be kept, it is made each time.
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert script() == kept.read_text()
    assert len(made) == 3
