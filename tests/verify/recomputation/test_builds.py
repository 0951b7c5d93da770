"""Relations that dbt built follow from their source; later changes are seen."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
import yaml

from dbt_anonymize.project.generate import generate
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.results import release_file
from dbt_anonymize.spec import load_specs
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.recomputation.project import check_release
from tests.extensions import with_known_keys
from tests.projects import Project
from tests.verify.clinic import broken, opened


def verify_build(project: Project, monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    monkeypatch.setenv("DBT_PROFILES_DIR", str(project.folder))
    (spec,) = load_specs(project.folder, ["customers"])
    (project.folder / "vault" / "vault.duckdb").chmod(0o600)
    with opened(project) as warehouse:
        path = project.folder / release_file(warehouse, "customers")
        return check_release(warehouse, find_project(project.folder), spec, release=path)


@pytest.fixture(scope="module")
def recoded(built_consumer: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the stranger's project, which releases its last effort: multidimensional if we can."""
    project = built_consumer.copy(tmp_path_factory.mktemp("recoded") / "project")

    def change(text: str) -> str:
        spec = yaml.safe_load(text)
        spec["efforts"] += with_known_keys([{"recoding": "multidimensional", "k": 6}])
        spec["guarantees"]["l_diversity"] = {
            "attribute": "churned",
            "l": 1.1,
            "variant": "entropy",
        }
        spec["guarantees"]["t_closeness"] = {"attribute": "churned", "t": 0.5}
        spec["release"] = {"effort": len(spec["efforts"]), "recompute": True}
        return yaml.safe_dump(spec, allow_unicode=True, sort_keys=False)

    project.edit("anonymizations/customers.yml", change)
    generate(project.folder)
    outcome = project.dbt("run")
    assert outcome.succeeded, outcome.messages
    return project


@pytest.mark.parametrize("name", ["built_consumer", "recoded"])
def test_what_dbt_built_holds_with_the_numbers_of_the_build(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    project = request.getfixturevalue(name)
    findings = verify_build(project, monkeypatch)
    assert broken(findings) == {}
    ((k, classes),) = project.query(
        "select k, equivalence_classes from customers_privacy p where exists "
        "(select 1 from customers_results r where r.effort = p.effort and r.is_chosen)"
    )
    (message,) = [f.message for f in findings if f.subject == "k_anonymity (k 4)"]
    assert message == f"holds; smallest of {classes} classes: {k} records."
    subjects = {finding.subject for finding in findings}
    ((effort,),) = project.query("select effort from customers_results where is_chosen")
    assert {
        "customers_microdata",
        f"customers_effort_{effort}",
        "customers_identifiers",
    } <= subjects


def test_a_recoded_release_in_which_one_record_moved_is_seen(
    recoded: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = recoded.copy(tmp_path / "project")
    columns = ("birth_date", "birth_date_lower", "birth_date_upper", "zip", "gender", "cqi")
    changed = ", ".join(f"{name} = other.{name}" for name in columns)
    with duckdb.connect(str(project.release_file("customers"))) as connection:
        connection.execute(
            f"update customers_anonymized as one set {changed} from "
            "(select * from customers_anonymized order by rowid desc limit 1) as other "
            "where one.rowid = 0"
        )
    found = broken(verify_build(project, monkeypatch))
    assert "release file, customers_anonymized" in found


def test_a_hierarchy_that_is_not_that_of_its_file_is_seen(
    built_consumer: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = built_consumer.copy(tmp_path / "project")
    (spec,) = load_specs(project.folder, ["customers"])
    (hierarchy, *_) = [h for h in spec.quasi_identifiers.values() if h.kind == "categorical"]
    project.edit(
        f"seeds/{hierarchy.ref}.csv", lambda text: text.replace("\n", " \n").rstrip() + "\n"
    )
    found = broken(verify_build(project, monkeypatch))
    assert set(found) == {hierarchy.ref}
    assert "the table must be that of its file" in found[hierarchy.ref]


def test_a_hierarchy_file_that_cannot_be_read_is_seen_and_all_else_is_verified(
    built_consumer: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = built_consumer.copy(tmp_path / "project")
    project.edit("seeds/customers_hierarchy_zip.csv", lambda text: text + "1,2,3,4,5,6,7\n")
    found = broken(verify_build(project, monkeypatch))
    assert list(found) == ["customers_hierarchy_zip"]
    assert "the file cannot be read" in found["customers_hierarchy_zip"]


def test_a_project_that_was_moved_is_verified_by_its_own_files(
    built_consumer: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manifest of the last dbt run names the old folder."""
    project = built_consumer.copy(tmp_path / "project")
    assert project.dbt("parse", "--no-partial-parse").succeeded
    moved = Project(project.folder.rename(tmp_path / "moved"), project.warehouse)
    assert broken(verify_build(moved, monkeypatch)) == {}


def test_a_build_that_recomputes_publishes_nothing_that_differs(
    recoded: Project, tmp_path: Path
) -> None:
    project = recoded.copy(tmp_path / "project")
    release = project.release_file("customers")
    assert project.dbt("run", "-s", "customers_anonymized").succeeded
    published = release.read_bytes()
    project.execute(
        "update customers_microdata set churned = not churned "
        "where customer_id = (select min(customer_id) from customers_microdata)"
    )
    outcome = project.dbt("run", "-s", "customers_anonymized")
    assert not outcome.succeeded
    message = str(outcome.messages)
    assert "customers must be what follows from its source" in message
    assert "1 rows are missing and 1 should not be there" in message
    assert release.read_bytes() == published
