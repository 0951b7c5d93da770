"""`dbt-anonymize search` of linked tables, against the build and against all levels."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from dbt_anonymize.extensions.linked.levels import coded
from dbt_anonymize.extensions.linked.levels.searched import SearchedTables, read_searched
from dbt_anonymize.project.generate import generate
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import open_warehouse
from dbt_anonymize.spec import Spec, load_spec
from tests.cli.conftest import run
from tests.extensions.linked import hospital
from tests.extensions.linked.diverse import write_diverse
from tests.projects import Project

pytestmark = [pytest.mark.dbt, pytest.mark.needs("search")]
PARTS = ("raised", "hidden", "left_out", "loss")
TABLES = ("+hospital_frequencies", "+hospital_linked_table_*")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return the project with all losses of its efforts."""
    project = hospital.write(tmp_path_factory.mktemp("hospital") / "project")
    generate(project.folder)
    project.build("-s", "+hospital_linked_information_loss", "--exclude", "resource_type:test")
    return project


@pytest.fixture(scope="module")
def diverse(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project whose releases tell no sensitive value, with all losses of its efforts."""
    project = write_diverse(tmp_path_factory.mktemp("diverse") / "project")
    generate(project.folder)
    project.build("-s", "+hospital_linked_information_loss", "--exclude", "resource_type:test")
    return project


@pytest.fixture
def project(built: Project, tmp_path: Path) -> Project:
    """Return a copy of the built project."""
    return built.copy(tmp_path / "project")


def spec_of(project: Project) -> Spec:
    return load_spec(project.folder / "anonymizations" / "hospital.yml")


def change(project: Project, **keys: Any) -> None:
    """Change keys of the spec; None removes one."""
    path = project.folder / "anonymizations" / "hospital.yml"
    raw = {**yaml.safe_load(path.read_text()), **keys}
    raw = {key: value for key, value in raw.items() if value is not None}
    path.write_text(yaml.safe_dump(raw, sort_keys=False))


def search(project: Project, *options: str) -> Any:
    return run("search", "hospital", "--project-dir", project.folder, *options)


def found(project: Project, *options: str) -> list[dict[str, Any]]:
    done = search(project, "--format", "json", *options)
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def losses(project: Project) -> dict[tuple[int, str], tuple[float, ...]]:
    """Return what each effort of the build raises, hides, leaves out and loses, by table."""
    rows = project.query(
        "select effort, linked_table, raised_records / records, hidden_records / records, "
        "left_out_records / records, loss from hospital_linked_losses"
    )
    return {(effort, table): tuple(shares) for effort, table, *shares in rows}


def without_limits(searched: SearchedTables) -> SearchedTables:
    tables = searched.tables
    lifted = {name: replace(table, most_lost=1.0) for name, table in tables.by_name.items()}
    return replace(searched, tables=replace(tables, by_name=lifted))


@pytest.mark.parametrize("fixture", ["built", "diverse"])
def test_a_forecast_is_what_the_build_loses(fixture: str, request: pytest.FixtureRequest) -> None:
    built: Project = request.getfixturevalue(fixture)
    spec: Any = spec_of(built)
    with open_warehouse(find_project(built.folder)) as warehouse:
        searched = read_searched(warehouse, spec)
        assert searched is not None
        classes = {
            number: warehouse.rows(
                "select case when is_suppressed then '' else equivalence_class end "
                f"from {warehouse.relation_of_ref(f'hospital_effort_{number}')} "
                "order by encode(cast(patient_id as varchar))"
            )
            for number in spec.numbered_efforts
            if number
        }
    for (effort, table), expected in losses(built).items():
        codes = np.unique([name for (name,) in classes[effort]], return_inverse=True)[1]
        is_out = np.array([name == "" for (name,) in classes[effort]])
        levels = spec.numbered_efforts[effort].linked
        nodes = tuple(tuple(levels[name].values()) for name in searched.columns)
        counted = without_limits(searched).search(np.where(is_out, -1, codes), 4).count(nodes)
        assert counted is not None
        place = [*searched.columns].index(table)
        one = counted.outcomes[place]
        shares = (one.raised, one.hidden, one.left_out, one.loss)
        assert shares == pytest.approx(expected, abs=1e-9)


def test_efforts_of_the_search_lose_in_a_build_what_it_says(project: Project) -> None:
    rows = found(project, "--ks", "4,10")
    written = spec_of(project).efforts
    assert [effort.k for effort in written] == [None, 10]
    assert [row["required_k"] for row in rows] == [4, 10]

    generate(project.folder)
    project.build("-s", "+hospital_linked_information_loss", "--exclude", "resource_type:test")

    mean = dict(project.query("select effort, loss from hospital_linked_information_loss"))
    for row in rows:
        effort = row["effort"]
        assert row["loss"] == pytest.approx(mean[effort], abs=1e-9)
        assert row["loss"] == row["lower_bound"]
        for table in ("stays", "results"):
            said = [row[f"{table}_{part}"] for part in PARTS]
            assert said == pytest.approx(losses(project)[effort, table], abs=1e-9)
            assert said[1] + said[2] <= 0.3


def test_efforts_that_tell_no_value_lose_in_a_build_what_the_search_says(
    diverse: Project, tmp_path: Path
) -> None:
    project = diverse.copy(tmp_path / "project")
    (row,) = found(project, "--ks", "4")

    generate(project.folder)
    project.build("-s", "+hospital_linked_information_loss", "--exclude", "resource_type:test")

    for table in ("stays", "results"):
        said = [row[f"{table}_{part}"] for part in PARTS]
        assert said == pytest.approx(losses(project)[1, table], abs=1e-9)
    mean = dict(project.query("select effort, loss from hospital_linked_information_loss"))
    assert row["loss"] == pytest.approx(mean[1], abs=1e-9)
    assert row["loss"] == row["lower_bound"]


def test_no_other_levels_lose_less(built: Project) -> None:
    """The optimum is that of all levels of all tables."""
    from dbt_anonymize.extensions.search import joint
    from dbt_anonymize.extensions.search.efforts import Options, Task
    from dbt_anonymize.extensions.search.load import load
    from dbt_anonymize.extensions.search.records import rows_by_key

    spec = spec_of(built)
    with open_warehouse(find_project(built.folder)) as warehouse:
        loaded = load(warehouse, spec, measure="loss")
        searched = read_searched(warehouse, spec)
        rows = rows_by_key(warehouse, spec, loaded)
    assert searched is not None
    declared = [{"model": "k_anonymity", "k": 4}]
    task = Task(spec, loaded.table, declared, Options(efforts=1, measure="loss"))
    best = joint.JointSearch(task, searched, rows)
    least = np.inf
    for place, k in itertools.product(range(best.lattice.size), [4]):
        checked = best._check(best.lattice.node(place), k)
        if checked is not None:
            beside: Any = best._beside(checked, k)
            nodes = itertools.product(*(table.nodes for table in searched.tables.listed))
            sums = (one.loss for one in map(beside.count, nodes) if one is not None)
            least = min(least, (checked.loss + min(sums, default=np.inf)) / 3)

    for before in (None, best.find(4, 60.0)):
        effort = best.find(4, 60.0, before)
        assert effort is not None
        assert effort.is_proven
        assert effort.loss == pytest.approx(least)


def test_a_spec_without_efforts_is_searched_and_builds(tmp_path: Path) -> None:
    project = hospital.write(tmp_path / "project", patients=100)
    change(project, efforts=None)
    generate(project.folder)
    project.build("-s", *TABLES, "--exclude", "resource_type:test")

    done = search(project, "--efforts", "1")

    assert done.exit_code == 0, done.output
    assert "Records of linked tables in each effort" in done.output
    (effort,) = spec_of(project).efforts
    assert {*effort.levels_beside} == {"stays.ward", "stays.month", "results.test"}
    generate(project.folder)
    project.build("-s", "+hospital_results", "--exclude", "resource_type:test")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--measure", "quality"), "must have the measure loss; got quality"),
        (("--recoding", "local"), "must have --recoding full_domain; got local"),
        (("--evaluations", "9"), "must have no --evaluations"),
    ],
)
def test_what_cannot_be_combined_is_refused(
    built: Project, options: tuple[str, ...], message: str
) -> None:
    done = search(built, "--dry-run", *options)
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())


def test_tables_whose_limits_cannot_be_kept_are_named(project: Project) -> None:
    raw = hospital.spec()["linked"]
    raw["known_count"] = True
    for table in raw["tables"].values():
        table["suppression_limit"] = 0.0
    change(project, linked=raw)
    said = " ".join(search(project, "--dry-run").output.split())
    assert "stays, results lose no more records than their suppression_limit" in said


def test_without_time_the_best_so_far_is_taken(built: Project) -> None:
    done = search(built, "--dry-run", "--time-limit", "0.2", "--efforts", "1")
    said = " ".join(done.output.split())
    assert "The time limit ended it: best so far, not proven. No levels can reach" in said


def test_too_many_levels_are_descended(built: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coded, "_MOST_NODES", 1)
    done = search(built, "--dry-run", "--efforts", "1")
    said = " ".join(done.output.split())
    assert "Descended through 144 nodes" in said
    assert "They are too many to search through: the best from several starts" in said


def test_hierarchies_that_are_not_nested_are_refused(project: Project) -> None:
    raw = hospital.spec()["linked"]
    raw["tables"]["stays"]["columns"]["ward"]["hierarchy"]["nested"] = False
    change(project, linked=raw)
    said = " ".join(search(project, "--dry-run").output.split())
    assert "hierarchies must be nested to be searched; that of ward is not" in said
