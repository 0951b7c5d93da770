"""No identifier is ever written into a file that others open, not even into a page given up."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.projects import Project
from tests.vault.byte_search import SHORTEST, found
from tests.vault.projects import IDENTIFIERS

CLINIC = ("patient_number", "first_name", "surname", "phone", "email", "address")


def texts(project: Project, relation: str, *columns: str) -> set[str]:
    """Return the values of columns that are long enough to be found by no accident."""
    values = {
        str(value)
        for row in project.query(f"select {', '.join(columns)} from {relation}")
        for value in row
    }
    return {value for value in values if len(value.encode()) >= SHORTEST}


def leaks(project: Project, values: set[str]) -> dict[str, set[str]]:
    """Return what is found in each file of the project outside of vault, sources and packages."""
    kept_apart = {"vault", "seeds", "dbt_packages", ".venv"}
    files = [
        path
        for path in project.folder.rglob("*")
        if path.is_file() and path.relative_to(project.folder).parts[0] not in kept_apart
    ]
    assert any(path.suffix == ".duckdb" for path in files)
    # Times in logs and in target/ have digits of all kinds.
    words = {value for value in values if not value.isdigit()}
    return {
        path.name: held
        for path in files
        if (held := found(path, values if ".duckdb" in path.name else words))
    }


def test_the_search_finds_what_is_there(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"\0Sofia\0...Rasmussen, 12345" + "Björn García".encode())
    wanted = {"Sofia", "Rasmussen", "123456", "Björn García", "smussen", "Rasmussen, 1234"}
    assert found(file, wanted) == {"Rasmussen", "Björn García", "smussen", "Rasmussen, 1234"}
    file.write_bytes(b"")
    assert found(file, wanted) == set()


@pytest.mark.sampled_tests(group="bytes")
def test_a_project_with_tokens_leaves_no_identifier_and_no_person_behind(members: Project) -> None:
    values = texts(members, "vault.main.customers", *IDENTIFIERS)
    assert len(found(members.folder / "vault" / "vault.duckdb", values)) > 0.5 * len(values)
    assert leaks(members, values) == {}
    members.build("--full-refresh")
    assert leaks(members, values) == {}
    # A build that fails after the source, and one that fails at the gate.
    members.edit(
        "seeds/customers.csv",
        lambda text: text + "1,Planted Person,planted@example.org,1980-01-01,,male,1,1,1.0,\n",
    )
    assert not members.dbt("build").succeeded
    members.execute("update members_results set is_chosen = false")
    assert not members.dbt("run", "-s", "members_identifiers", "members_anonymized").succeeded
    members.dbt("build", "--empty")
    values |= {"Planted Person", "planted@example.org"}
    assert leaks(members, values) == {}


@pytest.mark.sampled_tests(group="bytes")
def test_the_demonstration_leaves_no_identifier_behind(demo: Project) -> None:
    values = texts(demo, "vault.main.fertility_clinic_patients", *CLINIC)
    assert len(values) > 4000
    in_the_vault = found(demo.folder / "vault" / "vault.duckdb", values)
    assert len(in_the_vault) > 0.5 * len(values), "else the search below proves little"
    assert leaks(demo, values) == {}
