"""No identifier is ever written into a file that others open, not even into a page given up."""

from __future__ import annotations

import random
from collections.abc import Collection
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
    numbers = {value for value in values if value.isdigit()}
    held = {path.name: found(path, values - numbers) for path in files}
    for path in files:
        # Times in logs and in target/ have digits of all kinds.
        if ".duckdb" in path.name:
            held[path.name] |= leaked_numbers(path, numbers)
    return {name: leaked for name, leaked in held.items() if leaked}


def leaked_numbers(file: Path, numbers: Collection[str]) -> set[str]:
    """Return the numbers in a file if there are more than chance puts there.

    A database of megabytes holds some seven digits in a row by accident, packed numbers among them:
    as many as of others that nobody has. So two that leaked alone are not found.
    """
    drawn = random.Random(1)
    others = {
        str(drawn.randrange(10 ** (len(number) - 1), 10 ** len(number))) for number in numbers
    }
    held = found(file, numbers)
    return held if len(held) > 2 + 2 * len(found(file, others - set(numbers))) else set()


def test_the_search_finds_what_is_there(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"\0Sofia\0...Rasmussen, 12345" + "Björn García".encode())
    wanted = {"Sofia", "Rasmussen", "123456", "Björn García", "smussen", "Rasmussen, 1234"}
    assert found(file, wanted) == {"Rasmussen", "Björn García", "smussen", "Rasmussen, 1234"}
    file.write_bytes(b"")
    assert found(file, wanted) == set()


def test_numbers_that_leak_are_told_from_accidents(tmp_path: Path) -> None:
    numbers = [str(number) for number in range(1_000_003, 10_000_000, 9_001)]
    file = tmp_path / "file"
    accidents = random.Random(2)
    file.write_bytes(bytes(accidents.choices(b"0123456789", k=30_000)))
    assert found(file, numbers), "else the accidents prove nothing"
    assert leaked_numbers(file, numbers) == set()
    leaked = set(numbers[:20])
    file.write_bytes(file.read_bytes() + " ".join(leaked).encode())
    assert leaked_numbers(file, numbers) >= leaked
    file.write_bytes(b"packed" + " ".join(numbers[:3]).encode())
    assert leaked_numbers(file, numbers) == set(numbers[:3])


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
        lambda text: (
            text + "1,Planted Person,planted@example.org,1980-01-01,99999,male,1,1,1.0,no\n"
        ),
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
