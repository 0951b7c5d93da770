"""The command `schema`: the JSON schema of a spec, printed or written beside the specs."""

from __future__ import annotations

import json
from pathlib import Path

from dbt_anonymize.spec.json_schema import MODELINE, SCHEMA_FILE, json_schema
from tests.cli.conftest import run
from tests.projects import REPOSITORY

STARTERS = sorted(REPOSITORY.glob("python/dbt_anonymize/**/anonymizations/*.yml"))


def test_the_command_prints_it_or_writes_it_beside_the_specs(tmp_path: Path) -> None:
    assert json.loads(run("schema").stdout) == json_schema()
    (tmp_path / "dbt_project.yml").write_text("name: clinic\nversion: '1'\n", encoding="utf-8")
    done = run("schema", "--write", "--project-dir", tmp_path)
    assert done.exit_code == 0, done.output
    written = tmp_path / "anonymizations" / SCHEMA_FILE
    assert json.loads(written.read_text(encoding="utf-8")) == json_schema()
    assert MODELINE in done.stdout
    for starter in STARTERS:
        assert starter.read_text(encoding="utf-8").startswith(f"{MODELINE}\n")
