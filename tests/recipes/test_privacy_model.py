"""A privacy model is added by the recipe of CONTRIBUTING: a toy, in a copy of the project."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.projects import Project
from tests.recipes.copies import add_before, copy_smallest_demo, run_command

pytestmark = pytest.mark.sampled_tests(group="recipes")

SQL = """
{# Nobody is in a class of more than `size` subjects. #}
{% macro largest_class(relation, quasi_identifiers, size, subject=none) -%}
{%- set guarantee = dbt_anonymize._checked_guarantee(
    "largest_class", {"size": [size, "an integer >= 2"]}
) -%}
{{ dbt_anonymize._violating_classes(relation, quasi_identifiers, guarantee, subject=subject) }}
{%- endmacro %}


{% test largest_class(model, size, quasi_identifiers, subject=none) %}
{{ dbt_anonymize._test_rows(
    dbt_anonymize.largest_class(model, quasi_identifiers, size, subject),
    ["class_size", "records"],
    model,
    [subject],
) }}
{% endtest %}


{% macro _largest_class_model(guarantee) -%}
    {{ return({
        "conditions": ["class_size > " ~ guarantee.size],
        "in_release": guarantee,
        "in_release_of_subjects": guarantee,
    }) }}
{%- endmacro %}
"""
PYTHON = '''
"""Largest class: a toy."""

from dbt_anonymize.privacy.compiler import Compiler
from dbt_anonymize.privacy.model import K, PrivacyModel, Weakest


class LargestClass(PrivacyModel):
    """No class has more people than declared."""

    WEAKEST = (Weakest("size", 1_000_000, 1),)
    PROMISE = "No group has more than {size} records."
    MAY_DIFFER_BY_EFFORT = True

    size: K
    """Most people in a class."""

    def compile(self, compiler: Compiler) -> None:
        """Say what classes must keep."""
        compiler.class_rules.append(lambda classes: classes.people > self.size)
        compiler.is_monotone_in_generalization = False
'''
ARGUMENTS = """
  - name: largest_class
    description: Query with one row per class of more than `size` subjects.
    arguments:
      - *relation
      - *quasi_identifiers
      - name: size
        type: integer
        description: Most subjects in a class, >= 2.
      - *subject
"""
LINES = {
    "macros/privacy/_privacy_model.sql": (
        '    {%- elif name == "k_map" -%}',
        '    {%- elif name == "largest_class" -%}'
        "{%- do facts.update(dbt_anonymize._largest_class_model(guarantee)) -%}\n",
    ),
    "python/dbt_anonymize/privacy/registry.py": (
        '    "k_map": KMap,',
        '    "largest_class": LargestClass,\n',
    ),
}
IMPORT = "from dbt_anonymize.privacy.largest_class import LargestClass\n"


def add_model(folder: Path) -> None:
    """Write one SQL file, one Python file, the arguments, and a line in each registry."""
    (folder / "macros/privacy/largest_class.sql").write_text(SQL.lstrip(), encoding="utf-8")
    package = folder / "python/dbt_anonymize/privacy"
    (package / "largest_class.py").write_text(PYTHON.lstrip(), encoding="utf-8")
    with (folder / "macros/privacy/_privacy.yml").open("a", encoding="utf-8") as file:
        file.write(ARGUMENTS)
    for name, (before, line) in LINES.items():
        add_before(folder / name, before, line)
    add_before(package / "registry.py", "from dbt_anonymize.privacy.model ", IMPORT)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return the smallest demonstration, in a project that has the toy."""
    project = copy_smallest_demo(tmp_path_factory.mktemp("recipe") / "project")
    folder = project.folder
    add_model(folder)
    path = folder / "anonymizations/wdbc.yml"
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    spec["guarantees"]["largest_class"] = {"size": 150}
    spec["suppression_limit"] = 0.9
    spec["quality"] |= {"model": "decision_tree", "parameters": {}, "repetitions": 3}
    del spec["details"]
    path.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    return project


@pytest.mark.dbt
def test_a_toy_is_generated_built_and_verified(project: Project) -> None:
    for command in ("generate", "build", "verify"):
        code, output = run_command(project, command)
        assert code == 0, output
    reasons = project.query("select reason from wdbc_results where effort = 4")
    assert "546 largest_class (size = 150)" in str(reasons)
    # The recount shares nothing with the SQL: where one of the two is wrong, they differ.
    definition = "python/dbt_anonymize/privacy/largest_class.py"
    project.edit(
        definition, lambda text: text.replace("classes.people > self.size", "classes.people > 9")
    )
    code, output = run_command(project, "verify", "--check", "guarantees")
    assert code == 1, output
    assert "largest_class (size 150)" in output
