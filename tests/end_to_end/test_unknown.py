"""A value that nobody foresaw becomes `*` where its hierarchy says so, else it stops a build."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from dbt_anonymize.project.generate import generate
from tests.extensions import has, with_known_keys
from tests.projects import Project, copy_consumer

pytestmark = pytest.mark.sampled_tests(group="builds")
# A gender and a birth date that are in no hierarchy, of two customers.
CHANGED = {"8411": ("male", "agender"), "8629": ("1961-08-13", "2961-08-13")}
RECODINGS: dict[str, dict[str, Any]] = {
    "levels": {"birth_date": 2, "zip": 2, "gender": 0},
    "local": {"recoding": "local", "rounds": [{"birth_date": 2, "zip": 1, "gender": 1}], "k": 4},
    "multidimensional": {"recoding": "multidimensional", "k": 4},
    "modes": {"recoding": "microaggregation", "k": 5, "categories": "mode"},
    "cell_suppression": {
        "recoding": "cell_suppression",
        "levels": {"birth_date": 2, "zip": 2, "gender": 0},
        "k": 4,
    },
}
RECODINGS = {name: one for name, one in RECODINGS.items() if with_known_keys([one])}


def project_with(folder: Path, effort: dict[str, Any]) -> Project:
    """Copy the stranger's project with two values that its hierarchies do not hold."""
    project = copy_consumer(folder)
    (folder / "models" / "unit_tests.yml").unlink()

    def change(text: str) -> str:
        lines = text.splitlines()
        for number, line in enumerate(lines):
            old, new = CHANGED.get(line.split(",")[0], ("", ""))
            lines[number] = line.replace(old, new) if old else line
        return "\n".join(lines) + "\n"

    project.edit("seeds/customers.csv", change)
    spec = folder / "anonymizations" / "customers.yml"
    content = yaml.safe_load(spec.read_text(encoding="utf-8"))
    for name in ("birth_date", "gender"):
        content["columns"][name]["hierarchy"]["unknown"] = "*"
    if "recoding" not in effort:
        # Whose labels are known before there are records, only those can be counted for everybody.
        content["population"] = {"ref": "customers"}
        content["guarantees"]["k_map"] = {"k": 4}
    content["efforts"] = [effort]
    content["suppression_limit"] = 0.9
    content["release"] = {"effort": 1}
    content["quality"]["repetitions"] = 2
    spec.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")
    generate(folder)
    return project


@pytest.mark.parametrize("effort", RECODINGS.values(), ids=RECODINGS)
def test_it_is_released_as_a_missing_value_and_verified(
    effort: dict[str, Any], tmp_path: Path
) -> None:
    project = project_with(tmp_path / "project", effort)
    outcome = project.build()
    missing = "select count(*) from {} where gender is null or gender = 'agender'"
    ((number,),) = project.query(missing.format("customers"))
    assert project.query(missing.format("customers_microdata")) == [(number,)]
    said = f"{number} of 400 records have no gender, or one that its hierarchy does not hold"
    assert said in outcome.messages
    text = str(project.query("from customers_effort_0")) + str(project.release("customers"))
    assert "agender" not in text
    assert "2961" not in text
    command = ["verify", "customers", "--project-dir", str(project.folder)]
    checks = ["--check", "recomputation", "--check", "guarantees"]
    checks += ["--check", "attacks"] if has("attacks") else []
    environment = {"DBT_PROFILES_DIR": str(project.folder)}
    result = CliRunner().invoke(app, [*command, *checks], env=environment)
    assert result.exit_code == 0, result.output


def test_where_it_is_not_declared_it_stops_the_build(tmp_path: Path) -> None:
    project = project_with(tmp_path / "project", RECODINGS["levels"])
    spec = project.folder / "anonymizations" / "customers.yml"
    spec.write_text(spec.read_text(encoding="utf-8").replace("unknown:", "nested: true #"))
    generate(project.folder)
    outcome = project.dbt("build", "--select", "+customers_microdata")
    assert not outcome.succeeded
    assert "the hierarchy of gender does not cover the column" in outcome.messages
    assert (
        "Extend it (`dbt-anonymize hierarchy extend <its seed>.csv --ref customers "
        "--column gender`)" in outcome.messages
    )
    assert "agender" not in outcome.messages
    # An empty text can be in no seed, which reads it as NULL: extending leads in a circle.
    project.execute(
        "update customers set gender = '' where customer_id in "
        "(select customer_id from customers order by customer_id limit 2)"
    )
    outcome = project.dbt("build", "--select", "customers_microdata")
    assert "2 of these are an empty text, which no seed can hold." in outcome.messages
    assert "write `unknown: \"*\"` for the hierarchy, or nullif(gender, '')" in outcome.messages
