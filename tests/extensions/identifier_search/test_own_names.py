"""Columns of a table may be called like those of the statements that verify its release."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from dbt_anonymize.cli.verify import _verdict
from dbt_anonymize.project.generate import generate
from dbt_anonymize.verify.finding import Status
from tests.projects import Project
from tests.vault.projects import copy_with

pytestmark = pytest.mark.sampled_tests(group="builds")
# Each of them is an alias in a statement of the attacks or of the recount.
CALLED = {
    "customer_id": "key",
    "full name": "found_person",
    "e-mail": "person",
    "birth_date": "label_0",
    "zip": "key_0",
    "gender": "people",
    "order": "rowid",
    "größe": "class",
    "spending": "found",
    "churned": "value",
}


def renamed(content: Any) -> Any:
    """Return a spec with the other names wherever a column is named."""
    if isinstance(content, dict):
        return {CALLED.get(key, key): renamed(value) for key, value in content.items()}
    if isinstance(content, list):
        return [renamed(item) for item in content]
    return CALLED.get(content, content) if isinstance(content, str) else content


def rename(project: Project, mapping: str) -> None:
    """Rename the columns of the table and of its spec, which demands what a recount reads."""
    seed = project.folder / "seeds" / "customers.csv"
    header, rows = seed.read_text(encoding="utf-8").split("\n", 1)
    columns = ",".join(CALLED[column] for column in header.split(","))
    seed.write_text(f"{columns}\n{rows}", encoding="utf-8")
    project.edit("seeds/_seeds.yml", lambda text: text.replace("{zip: text}", "{key_0: text}"))
    path = project.folder / "anonymizations" / "members.yml"
    spec = renamed(yaml.safe_load(path.read_text(encoding="utf-8")))
    # Only names of columns were meant.
    spec["source"] = {"ref": "customers"}
    spec["mapping"] = mapping
    spec["guarantees"] |= {
        "l_diversity": {"attribute": "value", "l": 2},
        "t_closeness": {"attribute": "value", "t": 0.9},
    }
    path.write_text(yaml.safe_dump(spec, sort_keys=False, allow_unicode=True), encoding="utf-8")
    generate(project.folder)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("mapping", ["class", "token"])
def test_every_promise_holds_whatever_columns_are_called(tmp_path: Path, mapping: str) -> None:
    project = copy_with(tmp_path / "project", "members")
    rename(project, mapping)
    project.build()
    command = ["verify", "--format", "json", "--project-dir", str(project.folder)]
    result = CliRunner().invoke(app, command, env={"DBT_PROFILES_DIR": str(project.folder)})
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert "\n".join(str(f) for f in found if f["holds"] is False) == ""
    assert result.exit_code == 0, result.output
    assert {"mapping", "linkage"} <= {
        finding["subject"].split(",")[0] for finding in found if finding["check"] == "attacks"
    }


@pytest.mark.parametrize(
    ("failed", "holding", "says"),
    [
        (1, 0, "1 of 1 promise does not hold"),
        (1, 2, "1 of 3 promises does not hold"),
        (2, 0, "2 of 2 promises do not hold"),
    ],
)
def test_broken_promises_are_counted_in_words(failed: int, holding: int, says: str) -> None:
    total: Counter[Status] = Counter({"FAILED": failed, "holds": holding})
    assert _verdict(total) == says
