"""`dbt-anonymize evaluate` finds what the Python model of a build finds, to the last digit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt_anonymize.project.generate import generate
from tests.commands.conftest import closed, command, rows_written, without_python
from tests.projects import Project

pytestmark = pytest.mark.sampled_tests(group="commands")

# Seconds are others in each run.
FACTS = "select * from {} where kind <> 'seconds' order by all"
MISSING = "customers_evaluation_rows does not exist. Run `dbt-anonymize evaluate customers`"
OTHERS = "must be of the spec, the hierarchies and the records as they are; it is of others."


@pytest.fixture
def evaluated(built_consumer: Project, commanded: Project) -> Project:
    """Give the project with rows of the command, and the results that follow from them."""
    assert commanded.dbt("run", "-s", "customers_fingerprint").succeeded
    result = command(commanded, "evaluate", "customers")
    assert result.exit_code == 0, result.output
    assert rows_written(built_consumer) in result.output
    return commanded


def test_rows_are_those_of_the_python_model(built_consumer: Project, evaluated: Project) -> None:
    with closed(evaluated):
        outcome = evaluated.dbt("run", "-s", "customers_evaluation+")
    assert outcome.succeeded, outcome.messages
    assert command(evaluated, "publish").exit_code == 0
    expected = built_consumer.query(FACTS.format("customers_evaluation"))
    assert len(expected) > 1000
    assert evaluated.query(FACTS.format("customers_evaluation")) == expected
    results = "select * from customers_results order by effort"
    assert evaluated.query(results) == built_consumer.query(results)
    assert evaluated.release("customers") == built_consumer.release("customers")


def test_a_build_stops_where_rows_are_missing(commanded: Project) -> None:
    outcome = commanded.dbt("run", "-s", "customers_fingerprint", "customers_evaluation")
    assert not outcome.succeeded
    assert MISSING in outcome.messages.replace('"', "").replace("shop.main.", "")
    assert "or `dbt-anonymize build customers`, which does both." in outcome.messages


@pytest.mark.parametrize("changed", ["spec", "hierarchy", "records"])
def test_a_build_stops_where_rows_are_of_something_else(evaluated: Project, changed: str) -> None:
    if changed == "spec":
        evaluated.edit(
            "anonymizations/customers.yml",
            lambda text: text.replace("random_state: 7", "random_state: 8"),
        )
        generate(evaluated.folder)
        assert evaluated.dbt("run", "-s", "customers_fingerprint").succeeded
    elif changed == "hierarchy":
        evaluated.execute("update customers_hierarchy_zip set level_2 = level_2 || '.'")
    else:
        one = "(select min(customer_id) from customers_microdata)"
        evaluated.execute(
            f"update customers_microdata set spending = spending + 1 where customer_id = {one}"
        )
    outcome = evaluated.dbt("run", "-s", "customers_evaluation")
    assert not outcome.succeeded
    assert OTHERS in outcome.messages


def test_a_run_without_rows_needs_none(commanded: Project) -> None:
    """`--empty` tries the SQL."""
    outcome = commanded.dbt("run", "--empty", "-s", "customers_fingerprint", "customers_evaluation")
    assert outcome.succeeded, outcome.messages
    assert commanded.query("select count(*) from customers_evaluation") == [(0,)]


def test_a_project_with_python_models_is_told_so(consumer: Project) -> None:
    result = command(consumer, "evaluate", "customers")
    assert result.exit_code == 2
    assert "customers: its generated models must be without Python; they are not." in result.output


def test_a_step_that_a_spec_has_not_is_refused(commanded: Project) -> None:
    result = command(commanded, "evaluate", "customers", "--step", "recoding_1")
    assert result.exit_code == 2
    assert (
        "customers: --step must be one that it has (evaluation); got recoding_1." in result.output
    )


@pytest.mark.slow  # builds twice
@pytest.mark.parametrize(
    ("step", "change"),
    [
        pytest.param(
            "recoding_4",
            {"efforts": [{"recoding": "clustering"}]},
            marks=pytest.mark.needs("recoding"),
        ),
        (
            "outer_quality",
            {"quality": {"outer_share": 0.3, "fit": "per_split", "measure": "roc_auc"}},
        ),
    ],
    ids=["recoding", "outer_quality"],
)
def test_other_steps_find_what_their_python_models_find(
    consumer: Project, tmp_path: Path, step: str, change: dict[str, Any]
) -> None:
    def changed(text: str) -> str:
        spec = yaml.safe_load(text)
        spec["efforts"] += change.get("efforts", [])
        spec["quality"] |= change.get("quality", {})
        return yaml.safe_dump(spec, sort_keys=False)

    consumer.edit("anonymizations/customers.yml", changed)
    generate(consumer.folder)
    consumer.build("--exclude", "resource_type:test", "resource_type:seed")
    copy = without_python(consumer, tmp_path / "commanded")
    assert not [*(copy.folder / "models" / "customers").glob("*.py")]
    assert copy.dbt("run", "-s", "customers_fingerprint").succeeded
    for each in [step] if step == "recoding_4" else ["evaluation", step]:
        result = command(copy, "evaluate", "customers", "--step", each)
        assert result.exit_code == 0, result.output
        outcome = copy.dbt("run", "-s", f"customers_{each}")
        assert outcome.succeeded, outcome.messages
        facts = FACTS if each == "evaluation" else "select * from {} order by all"
        facts = facts.format(f"customers_{each}")
        assert copy.query(facts) == consumer.query(facts) != []
