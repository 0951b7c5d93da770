"""`dbt-anonymize build` calls dbt and the steps between in the right order, with one exit code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dbt_anonymize.project.layout import Project as Layout
from dbt_anonymize.project.stages import Stage, stages_of
from dbt_anonymize.spec import load_spec
from tests.commands.conftest import command, rows_written
from tests.extensions import has
from tests.projects import CONSUMER_PROJECT, Project

pytestmark = pytest.mark.sampled_tests(group="commands")

SPEC = load_spec(CONSUMER_PROJECT / "anonymizations" / "customers.yml")
CLUSTERS = [SPEC.efforts[0].model_copy(update={"recoding": "clustering"})]
CLUSTERED = SPEC.model_copy(
    update={
        "efforts": [*SPEC.efforts, *(CLUSTERS if has("recoding") else [])],
        "quality": SPEC.quality.model_copy(update={"outer_share": 0.2}),
    }
)


def stages(tmp_path: Path, *, has_python: bool = False) -> list[Stage]:
    models, seeds = tmp_path / "models", tmp_path / "seeds"
    return stages_of(Layout(tmp_path, "shop", models, seeds, has_python), CLUSTERED)


def test_each_step_comes_before_what_follows_from_it(tmp_path: Path) -> None:
    found = stages(tmp_path)
    recoded = ["customers_recoding_4"] if has("recoding") else []
    steps = [*recoded, "customers_evaluation", "customers_outer_quality"]
    assert [stage.step.model if stage.step else None for stage in found] == [None, *steps]
    own = "+path:models/customers"
    assert [stage.selected for stage in found] == [
        (own,),
        *((f"{step}+,{own}",) for step in steps),
    ]
    later = tuple(f"{step}+" for step in steps)
    assert [stage.excluded for stage in found] == [later[n:] for n in range(len(found))]
    assert [stage.has_results for stage in found] == [
        step == "customers_evaluation" for step in (None, *steps)
    ]


def test_where_models_may_be_python_dbt_is_called_once(tmp_path: Path) -> None:
    (stage,) = stages(tmp_path, has_python=True)
    assert (stage.step, stage.selected, stage.excluded) == (None, ("+path:models/customers",), ())


def test_a_build_from_nothing_releases_what_dbt_build_releases(
    built_consumer: Project, commanded: Project
) -> None:
    for file in commanded.folder.glob("*/*.duckdb"):
        file.unlink()
    commanded.release_file("customers").unlink()
    result = command(commanded, "build", "customers")
    assert result.exit_code == 0, result.output
    assert rows_written(built_consumer) in result.output
    assert commanded.release("customers") == built_consumer.release("customers")
    assert commanded.query("select count(distinct run_id) from anonymization_results") == [(1,)]


def test_a_spec_whose_models_are_older_is_not_built(commanded: Project) -> None:
    """The release would keep what the spec promised before."""
    commanded.edit("anonymizations/customers.yml", lambda text: text.replace("{k: 4}", "{k: 5}"))
    result = command(commanded, "build", "customers", "--dbt", "/bin/false")
    assert result.exit_code == 1
    said = " ".join(result.output.split())
    assert re.search(r"be those of their specs; models/\S+ is (different|missing|stale)", said)
    assert "dbt failed" not in result.output


@pytest.mark.dbt
def test_a_dbt_that_fails_gives_exit_code_1(commanded: Project) -> None:
    result = command(commanded, "build", "customers", "--dbt", "/bin/false")
    assert result.exit_code == 1
    assert "customers: dbt failed; nothing that follows was built." in result.output


@pytest.mark.dbt
def test_a_dbt_that_is_not_there_gives_exit_code_2(commanded: Project) -> None:
    result = command(commanded, "build", "customers", "--dbt", "no/such/dbt")
    assert result.exit_code == 2
    assert "no/such/dbt: must be an executable of dbt. Name it with --dbt." in result.output
