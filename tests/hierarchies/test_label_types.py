"""Labels that dbt would read as numbers or dates are refused, with the lines that keep them."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from dbt_anonymize.hierarchies.label_types import is_text
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import open_warehouse
from dbt_anonymize.spec import load_specs
from dbt_anonymize.verify.recomputation.project import changed_labels
from tests.projects import Project
from tests.verify.clinic import opened


def test_texts_of_every_engine_are_texts() -> None:
    texts = ("VARCHAR", "text", "string", "character varying(20)", "varchar(3)")
    assert all(map(is_text, texts))
    assert not any(map(is_text, ("INTEGER", "DECIMAL(18,3)", "date", "", "booleans")))


@pytest.mark.needs("hierarchy_builders")
def test_a_command_says_what_to_declare_of_the_file_that_it_writes(tmp_path: Path) -> None:
    file = tmp_path / "dates.csv"
    span = ["--first", "2023-01-01", "--last", "2024-05-01", "--granularities", "year"]
    result = CliRunner().invoke(app, ["hierarchy", "dates", *span, "-o", str(file)])
    assert result.exit_code == 0
    lines = "  - name: dates\n    config:\n      column_types: {level_1: text, level_2: text}"
    assert lines in result.output
    # Nobody knows what a file beside no project is for.
    result = CliRunner().invoke(app, ["hierarchy", "check", str(file)])
    assert result.exit_code == 0
    assert lines in result.output


@pytest.mark.needs("second_month")
def test_a_frozen_release_keeps_its_labels_with_a_warning(
    consumer: Project,
) -> None:
    seed = "customers_hierarchy_birth_date"
    consumer.execute(f"alter table {seed} alter level_1 type integer")
    found = list[str]()
    with open_warehouse(find_project(consumer.folder), None) as warehouse:
        tree = {
            "name": "birth_date",
            "kind": "interval",
            "levels": 4,
            "nested": True,
            "hierarchy": warehouse.relation_of_ref(seed),
        }
        for is_frozen in (False, True):
            found += warehouse.macro(
                "_hierarchy_errors", quasi_identifier=tree, is_frozen=is_frozen
            )
    (error,) = found
    assert "level_1 is integer" in error
    broken = f"labels of {seed}"
    (spec,) = load_specs(consumer.folder, ["customers"])
    with opened(consumer) as warehouse:
        for freeze, status in ((False, "FAILED"), (True, "warning")):
            frozen = spec.model_copy(update={"freeze": freeze})
            node = next(n for n in warehouse.manifest.nodes.values() if n.name == seed)
            kinds = dict(warehouse.columns(warehouse.relation_of_ref(seed)))
            (finding,) = changed_labels(warehouse, frozen, node, kinds)
            assert (finding.subject, finding.status) == (broken, status)
            assert "{level_1: text, level_2: text, level_3: text, level_4: text}" in finding.message
