"""A loss measure is added by the recipe of CONTRIBUTING: a toy, in a copy of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.projects import Project
from tests.recipes.copies import add_before, copy_smallest_demo, run_command

pytestmark = pytest.mark.sampled_tests(group="recipes")

SQL = """
{# Select with one row per effort and its `largest_class`. #}
{% macro largest_class(classes) -%}
select
    effort,
    max(case when not is_suppressed then class_size end) as largest_class
from {{ classes }}
group by effort
{%- endmacro %}
"""
ARGUMENTS = """
  - name: largest_class
    description: Select with one row per effort and its `largest_class`.
    arguments: [*classes]
"""
LINE = '        "largest_class": [dbt_anonymize.largest_class(classes), none_],\n'
PYTHON = """    Measure(
        "largest_class", "Subjects of the largest released class, NULL where nothing is released."
    ),
"""


@pytest.mark.dbt
def test_a_toy_is_generated_and_built(tmp_path: Path) -> None:
    project: Project = copy_smallest_demo(tmp_path / "project")
    macros = project.folder / "macros" / "information_loss"
    (macros / "largest_class.sql").write_text(SQL.lstrip(), encoding="utf-8")
    with (macros / "_information_loss.yml").open("a", encoding="utf-8") as file:
        file.write(ARGUMENTS)
    add_before(macros / "_loss_measures.sql", '        "total_information_loss": [', LINE)
    registry = project.folder / "python/dbt_anonymize/information_loss.py"
    add_before(registry, '    Measure(\n        "sse_sst",', PYTHON)
    code, output = run_command(project, "generate")
    assert code == 0, output
    properties = (project.folder / "models/wdbc/_wdbc.yml").read_text(encoding="utf-8")
    assert "name: largest_class" in properties
    project.build("--select", "+wdbc_information_loss")
    released = "select effort, max(class_size) from wdbc_classes where not is_suppressed group by 1"
    assert project.query(
        "select effort, largest_class from wdbc_information_loss order by 1"
    ) == project.query(f"{released} order by 1")
