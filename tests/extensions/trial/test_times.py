"""A target that is a time: `try --time` drafts a survival model, and the build keeps it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dbt_anonymize.spec import load_spec
from tests.cli.conftest import run
from tests.projects import Project, copy_consumer

pytestmark = pytest.mark.dbt

# Patients, the older of whom die sooner; most outlive the study, which ends after 1,000 days, and
# all below 30 do.
PATIENTS = """
with drawn as (
    select i as id, 20 + i * i % 61 as age, i * 37 % 101 / 101.0 as chance, i * 7 % 3 as clinic
    from range(1500) as t(i)
), lived as (
    select *, if(age < 30, 1001, cast(1 + 60000 * (0.1 + chance) / (age - 10) as integer)) as days
    from drawn
)
select
    id, 'Person ' || id as full_name, age, substr('NSE', 1 + clinic, 1) as clinic,
    least(days, 1000) as followed, if(days <= 1000, 'died', 'alive') as state,
    if(days <= 1000, 'b', 'a') as code, 'x' as nothing
from lived
"""
NAMED = ("--predict", "state", "--time", "followed")


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = copy_consumer(tmp_path_factory.mktemp("times") / "project")
    (project.folder / "models" / "patients.sql").write_text(PATIENTS)
    project.build("--select", "patients")
    return project


def tried(project: Project, *words: str) -> str:
    done = run("try", "patients", *words, "--evaluations", "30", "--project-dir", project.folder)
    assert done.exit_code == 0, done.output
    return " ".join(done.stdout.split())


@pytest.mark.sampled_tests(group="installation")
def test_what_is_tried_is_built_and_scored_by_concordance(hospital: Project) -> None:
    shown = tried(hospital, *NAMED)
    assert "concordance_index of models scored on untouched records" in shown
    assert "--predict state --time followed --evaluations" in shown
    tried(hospital, *NAMED, "--take", "balanced")
    spec = load_spec(hospital.folder / "anonymizations" / "patients.yml")
    assert spec.tests.measure == "concordance_index"
    assert (spec.tests.time, spec.tests.positive) == ("followed", "died")
    assert spec.columns["followed"].role == spec.columns["state"].role == "sensitive"
    assert not {"followed", "state"} & {*spec.features}
    hospital.build("--select", "path:models/patients", "patients_hierarchy_*")
    ((quality, floor),) = hospital.query(
        "select qf_mean, zero_rule from patients_results where is_chosen"
    )
    assert quality > 0.6 > floor == 0.5
    assert hospital.release("patients")
    _classes_that_reveal_the_event_are_said(hospital, shown)


def _classes_that_reveal_the_event_are_said(hospital: Project, shown: str) -> None:
    """All below 30 outlive the study."""
    alike = [
        int(one or 0)
        for (one,) in hospital.query(
            "select sum(records) filter (where not is_suppressed and majority_records = records) "
            "from patients_classes where effort > 0 group by effort order by effort"
        )
    ]
    said = re.search(r"In classes of which all have the same state: ([0-9, ]+) records", shown)
    assert said, shown
    assert [int(one) for one in re.split(", ", said[1])] == alike
    ((chosen,),) = hospital.query("select effort from patients_results where is_chosen")
    done = run("results", "patients", "--project-dir", hospital.folder)
    expected = f"{alike[chosen - 1]} released records are in classes of which all have the same"
    assert f"{expected} state" in " ".join(done.stdout.split())


@pytest.mark.sampled_tests(group="installation")
def test_init_drafts_the_same_and_takes_the_event_that_is_named(
    hospital: Project, tmp_path: Path
) -> None:
    project = hospital.copy(tmp_path / "project")
    words = ("--ref", "patients", "--yes", "--project-dir", project.folder)
    asked = ("--predict", "code", "--time", "followed")
    done = run("init", "followed", *asked, *words)
    assert "Name it: --event <value>." in " ".join(done.stderr.split())
    done = run("init", "followed", *asked, "--event", "B", *words)
    assert done.exit_code == 0, done.output
    assert "followed: sensitive, time until code or the last sight" in done.output
    spec = load_spec(project.folder / "anonymizations" / "followed.yml")
    assert (spec.tests.model, spec.tests.positive) == ("cox", "b")
    assert not re.search(r"attribute: \"?followed", (spec_text(project)))


def spec_text(project: Project) -> str:
    return (project.folder / "anonymizations" / "followed.yml").read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--time", "followed"), "needs one: --predict <column>"),
        (("--predict", "state", "--event", "died"), "needs it: --time <column>"),
        (("--predict", "state", "--time", "days"), "there is no days"),
        (("--predict", "state", "--time", "state"), "it has the target, too"),
        (("--predict", "state", "--time", "full_name"), "it has the type character varying"),
        (("--predict", "clinic", "--time", "followed"), "a target with 3 classes beside it"),
        ((*NAMED, "--event", "gone"), "--event must be a value of state"),
        ((*NAMED, "--purpose", "statistics"), "are of models"),
    ],
)
def test_what_is_no_time_is_said_in_one_line(
    hospital: Project, words: tuple[str, ...], message: str
) -> None:
    done = run("try", "patients", *words, "--project-dir", hospital.folder)
    assert done.exit_code == 2, done.output
    assert message in " ".join(done.stderr.split())
    assert len(done.stderr.splitlines()) == 1
    assert "gone" not in done.stderr.replace("--event gone", "")
