"""A frozen release of linked tables: their labels stay, and everything is counted anew."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from dbt_anonymize.project.generate import check, generate
from tests.commands.conftest import command
from tests.extensions.linked.hospital import HIERARCHIES, K, forget, spec, tables, write
from tests.extensions.linked.released import released, subjects
from tests.oracle.linked import found_by
from tests.projects import Project, run_command

pytestmark = pytest.mark.needs("second_month")

SPEC = "anonymizations/hospital.yml"
LABELS = "seeds/hospital_frozen_labels.csv"
# Wards by name, one level up in their group; months in half-years, one level up `*`.
EFFORT = 3
# A test that nobody had.
UNUSED = "zinc,blood,*\n"
LEVELS = {"stays": {"ward": 0, "month": 2}, "results": {"test": 2}}


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return the project, frozen after a build."""
    efforts = spec()["efforts"]
    efforts[EFFORT - 1]["linked"] = LEVELS
    project = write(
        tmp_path_factory.mktemp("hospital") / "project", efforts=efforts, release={"effort": EFFORT}
    )
    edit_seed(project, "tests", lambda text: text + UNUSED)
    generate(project.folder)
    project.build("-s", "+hospital_anonymized")
    text = (project.folder / SPEC).read_text("utf-8")

    waits = command(project, "freeze", "hospital")

    assert waits.exit_code == 2
    assert "Write release: {joiners: publish}" in " ".join(waits.output.split())
    assert (project.folder / SPEC).read_text("utf-8") == text
    assert not (project.folder / LABELS).exists()
    project.edit(SPEC, lambda text: text.replace("release:\n", "release:\n  joiners: publish\n"))
    done = command(project, "freeze", "hospital")
    assert done.exit_code == 0, done.output
    return project


@pytest.fixture
def project(frozen: Project, tmp_path: Path) -> Project:
    """Return a copy of the frozen project."""
    return frozen.copy(tmp_path / "project")


@pytest.fixture(scope="module")
def later(frozen: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a copy of the frozen project, built with new people, stays and results."""
    project = frozen.copy(tmp_path_factory.mktemp("later") / "project")
    for name, rows in tables(430).items():
        path = project.folder / "seeds" / f"{name}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
    outcome = project.build("-s", "+hospital_anonymized")
    assert "hospital_evaluation" not in " ".join(outcome.statuses)
    return project


def edit_seed(project: Project, name: str, change: Callable[[str], str]) -> None:
    """Change a seed of the clinic."""
    project.edit(f"seeds/clinic_{name}.csv", change)


def build(project: Project) -> str:
    """Build, which must not succeed nor change the release; return what dbt said."""
    before = project.release_file("hospital").read_bytes()
    outcome = project.dbt("build", "-s", "+hospital_anonymized")
    assert not outcome.succeeded
    assert project.release_file("hospital").read_bytes() == before
    return " ".join(outcome.messages.split())


def test_labels_of_linked_tables_are_committed_those_one_level_up_too(frozen: Project) -> None:
    with (frozen.folder / LABELS).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))

    found = {
        (row["attribute"], row["level"], row["leaf"], row["upper_bound"], row["label"])
        for row in rows
    }
    expected = {("results.test", "2", "zinc", "", "*")}
    for name, tree, levels in (
        ("age", "clinic_ages", [2]),
        ("stays.ward", "clinic_wards", [1]),
        ("stays.month", "clinic_months", [2, 3]),
        ("results.test", "clinic_tests", [2]),
    ):
        header, *leaves = HIERARCHIES[tree]
        for leaf in leaves:
            upper = str(leaf[1]) if header[0] == "lower_bound" else ""
            expected |= {
                (name, str(n), str(leaf[0]), upper, leaf[header.index(f"level_{n}")])
                for n in levels
            }
    assert found == expected
    assert len(rows) == len(expected)


def test_only_the_models_of_the_frozen_effort_stay(frozen: Project) -> None:
    models = {path.name for path in (frozen.folder / "models" / "hospital").iterdir()}

    assert check(frozen.folder) == []
    assert {name for name in models if name.endswith(".py")} == {
        f"hospital_linked_decisions_{EFFORT}.py"
    }
    assert {name for name in models if "effort" in name} == {
        "hospital_effort_0.sql",
        f"hospital_effort_{EFFORT}.sql",
    }
    assert not {"hospital_evaluation.py", "hospital_scores.sql"} & models
    assert not [name for name in models if "linked_features" in name]


def test_new_people_are_released_with_the_frozen_labels(later: Project) -> None:
    results = later.query("select effort, qf_mean, is_chosen, reason from hospital_results")

    assert (EFFORT, None, True, "chosen: frozen, and keeps its guarantees") in results
    file = released(later)
    assert len(file["anonymized"]) > 420
    assert {row["ward"] for row in file["released_stays"]} >= {"heart", "medical"}
    assert found_by(subjects(later), 2, K) == (set(), set())


def test_a_frozen_release_is_verified_and_described(later: Project) -> None:
    run_command("dbt-anonymize verify hospital", later.folder)
    said = " ".join(run_command("dbt-anonymize results hospital", later.folder).split())
    assert "finds at least 4 people" in said
    assert "of stays raised by a level" in said
    assert "the effort is frozen" in said
    report = run_command("dbt-anonymize report hospital --format md", later.folder)
    assert "stays.ward" in report


def test_a_leaf_that_is_gone_or_has_another_label_stops_the_build(project: Project) -> None:
    for seed, before, after in (
        # Wards are released by name, and by their group where a stay is raised.
        ("wards", "heart,operative,", "heart,medical,"),
        ("tests", UNUSED, ""),
        ("months", "[1, 7)", "[1, 6)"),
    ):
        edit_seed(project, seed, lambda text, b=before, a=after: text.replace(b, a))

    said = build(project)

    for name, changed, leaves in (("stays.ward", 1, 4), ("results.test", 1, 5)):
        assert f"the labels of {name} are frozen; {changed} of its {leaves} leaves are gone" in said
    assert "the labels of stays.month are frozen; 6 of its 12 leaves" in said


def test_a_new_leaf_does_not(project: Project) -> None:
    for seed, line in (("wards", "bone,operative,*\n"), ("stays", "9901,1,bone,3,100\n")):
        edit_seed(project, seed, lambda text, more=line: text + more)

    project.build("-s", "+hospital_anonymized")


def test_a_limit_of_linked_records_that_is_broken_is_named(project: Project) -> None:
    ((lost,),) = project.query(
        "select lost_share from hospital_linked_losses "
        f"where effort = {EFFORT} and linked_table = 'stays'"
    )
    assert lost > 0.01
    project.edit(SPEC, lambda text: text.replace("suppression_limit: 0.3", "suppression_limit: 0"))
    generate(project.folder)

    said = build(project)

    assert "the frozen effort must keep its guarantees on the data as they are now" in said
    assert f"{100 * lost:.1f} % of stays would be hidden or left out, and at most 0.0 %" in said


def test_own_guarantees_that_are_broken_are_named(project: Project) -> None:
    project.edit(SPEC, lambda text: text.replace("k: 4", "k: 150"))
    generate(project.folder)

    said = build(project)

    assert "of 400 records in" in said
    assert "if nothing is suppressed, k = " in said


def test_a_person_is_erased_from_a_frozen_release(project: Project) -> None:
    forget(project, 7)

    output = run_command("dbt-anonymize erase hospital --subject 7 --yes", project.folder)

    assert "hospital: erased" in output
    everybody = subjects(project)
    assert 399 - K < len(everybody) <= 399
    assert found_by(everybody, 2, K) == (set(), set())


def test_a_frozen_release_is_renamed_and_removed(project: Project) -> None:
    renamed = command(project, "rename", "hospital", "care", "--yes")
    assert renamed.exit_code == 0, renamed.output
    assert (project.folder / "seeds" / "care_frozen_labels.csv").exists()
    assert check(project.folder) == []
    project.build("-s", "+care_anonymized")

    removed = command(project, "remove", "care", "--yes")

    assert removed.exit_code == 0, removed.output
    assert not list((project.folder / "seeds").glob("*frozen_labels*"))
