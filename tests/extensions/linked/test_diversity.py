"""A release of linked tables that tells no sensitive value, of people or of their records."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
import yaml

from dbt_anonymize.project.generate import generate
from tests.extensions.linked.diverse import DIVERSITY, write_diverse
from tests.extensions.linked.hospital import K
from tests.extensions.linked.test_verify import everywhere, failed, findings
from tests.oracle.linked import Subject, found_by
from tests.projects import Project

CHECKED = "hospital: own values and up to 2 linked records, sensitive values"


@pytest.fixture(scope="module", params=[False, True], ids=["", "known_count"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return the project, built; numbers of records may be known as well."""
    folder = tmp_path_factory.mktemp("diverse") / "project"
    project = write_diverse(folder, 200, known_count=request.param)
    generate(project.folder)
    project.build("-s", "+hospital_anonymized")
    return project


@pytest.fixture
def project(built: Project, tmp_path: Path) -> Project:
    """Return a copy of the built project."""
    return built.copy(tmp_path / "project")


def _subjects(project: Project) -> list[Subject]:
    """Return everybody in the file with what is known and what is sensitive of her."""
    with duckdb.connect(str(project.release_file("hospital")), read_only=True) as file:
        people = {
            token: Subject(age, [], [("sex", sex)])
            for token, age, sex in file.execute(
                "select token, age, sex from hospital_anonymized"
            ).fetchall()
        }
        stays = {}
        for stay, token, ward, month, cost in file.execute(
            "select stays_key, token, ward, month, cost from hospital_released_stays"
        ).fetchall():
            stays[stay] = (token, (ward, month))
            people[token].records.append(("stay", ward, month))
            people[token].sensitive.append(("cost", cost))
        for stay, test in file.execute(
            "select stays_key, test from hospital_released_results"
        ).fetchall():
            token, value = stays[stay]
            people[token].records.append(("result", test, value))
    raw = yaml.safe_load((project.folder / "anonymizations" / "hospital.yml").read_text())
    if raw["linked"]["known_count"]:
        for one in people.values():
            kinds = [record[0] for record in one.records]  # type: ignore[index]
            one.own = (one.own, kinds.count("stay"), kinds.count("result"))
    return list(people.values())


def test_no_value_is_told_by_the_definition(built: Project) -> None:
    everybody = _subjects(built)

    assert found_by(everybody, 2, K, DIVERSITY) == (set(), set())
    assert len(everybody) > 100
    assert sum(len(one.records) for one in everybody) > 100


def test_verify_counts_it_again(built: Project) -> None:
    found = {one.subject: one for one in findings(built)}

    assert [one for one in found.values() if one.holds is False] == []
    assert "no more than 1 in 2 may have the same" in found[CHECKED].message
    assert "; 0 of " in found[CHECKED].message


def test_a_value_that_is_told_is_found_and_not_published(project: Project) -> None:
    everywhere(project, "update hospital_released_stays set cost = 1")

    assert CHECKED in failed(project)
    outcome = project.dbt("run", "-s", "hospital_anonymized")
    assert not outcome.succeeded
    assert "a sensitive value of" in outcome.messages
