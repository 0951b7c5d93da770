"""`kill -9` at any moment of a build: nothing is mixed, lost or doubled, and nothing lies open.

Once one of two projects, and each more often in full; DBT_ANONYMIZE_SEED chooses other moments.
"""

from __future__ import annotations

import json
import shutil
import signal
import stat
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.faults.killing import KILLS, SEED, Kills, wait_for_start
from tests.faults.people import Rows, other_people
from tests.faults.processes import Launcher, wait_for
from tests.projects import Project
from tests.sampling import FULL
from tests.vault.byte_search import found as found_in

pytestmark = pytest.mark.sampled_tests(group="faults")

CUSTOMERS = "seeds/customers.csv"
PEOPLE = 400
# What a build is doing when it is killed: a model that publishes or writes the vault, or anything.
ANYTHING = "anything"
PLACES = {
    "customers": ("customers_anonymized", "customers_identifiers", ANYTHING),
    "members": ("members_tokens", "members_anonymized", "members_identifiers", ANYTHING),
}


@dataclass(frozen=True)
class State:
    """Content of release and vault."""

    release: Rows
    identifiers: Rows
    tokens: dict[str, str]


def state(project: Project, name: str) -> State:
    """Return what is there now without repairing it: the vault as a copy, with its log."""
    copies = project.folder.parent / "vault_copy"
    shutil.rmtree(copies, ignore_errors=True)
    shutil.copytree(project.folder / "vault", copies)
    with duckdb.connect(str(copies / "vault.duckdb")) as vault:
        identifiers = vault.execute(f"from {name}_identifiers order by all").fetchall()
        tokens = (
            vault.execute("select person, token from members_tokens").fetchall()
            if name == "members"
            else []
        )
    people = {person for person, _ in tokens}
    assert len(people) == len({token for _, token in tokens}) == len(tokens), "doubled"
    # By its path: a killed build may have left another file of that name in its stage.
    file = project.folder / "release" / "dev" / f"{name}.duckdb"
    with duckdb.connect(str(file), read_only=True) as reader:
        release = reader.execute(f"from {name}_anonymized").fetchall()
    return State(release, identifiers, dict(tokens))


def identifiers_of(text: str) -> set[str]:
    """Return the names and e-mails of a seed."""
    return {cell for line in text.splitlines()[1:] for cell in line.split(",")[1:3]}


def lying_open(project: Project, values: set[str]) -> dict[str, set[str]]:
    """Return what the bytes of each file hold that others than custodians may open."""
    files = [
        path
        for folder in ("warehouse", "release")
        for path in (project.folder / folder).rglob("*")
        if path.is_file()
    ]
    assert {path.suffix for path in files} >= {".duckdb"}
    return {str(path): held for path in files if (held := found_in(path, values))}


def files_of(project: Project, folder: str) -> set[str]:
    return {path.name for path in (project.folder / folder).iterdir()}


def seconds(project: Project) -> dict[str, float]:
    """Return how long the last complete build took, and each model of it."""
    results = json.loads((project.folder / "target" / "run_results.json").read_text("utf-8"))
    models = {one["unique_id"].split(".")[-1]: one["execution_time"] for one in results["results"]}
    return {ANYTHING: results["elapsed_time"], **models}


def test_the_search_finds_what_a_killed_process_left_behind(
    shop: Project, launcher: Launcher, tmp_path: Path
) -> None:
    """In the log of the warehouse, which holds what is not yet in its file."""
    values = identifiers_of((shop.folder / CUSTOMERS).read_text(encoding="utf-8"))
    assert lying_open(shop, values) == {}
    in_the_vault = found_in(shop.folder / "vault" / "vault.duckdb", values)
    assert len(in_the_vault) > 0.5 * len(values), "else the search proves little"
    written, value = tmp_path / "written", sorted(values)[0]
    child = launcher.start(
        "write_and_wait",
        file=str(shop.folder / shop.warehouse),
        sql=f"create table leak as select '{value}' as name",
        written=str(written),
    )
    wait_for(written)
    child.kill()
    assert lying_open(shop, values) == {f"{shop.folder / shop.warehouse}.wal": {value}}


def test_what_a_killed_build_leaves_of_the_vault_is_for_its_owner(
    shop: Project, launcher: Launcher
) -> None:
    """The engine makes the log of the vault when it is written, and anew after each checkpoint."""
    shop.edit(CUSTOMERS, other_people)
    child = launcher.dbt(shop.folder, "build", "--no-quiet", "--no-use-colors")
    wait_for_start(child, "customers_evaluation")
    assert child.kill() == -signal.SIGKILL, child.said
    files = ["vault/vault.duckdb", "vault/vault.duckdb.wal", shop.warehouse]
    files.append("release/dev/customers.duckdb")
    modes = {name: stat.S_IMODE((shop.folder / name).stat().st_mode) for name in files}
    assert list(modes.values()) == [0o600, 0o600, 0o644, 0o644], modes


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", PLACES)
def test_a_build_that_is_killed(
    request: pytest.FixtureRequest, launcher: Launcher, record_property: Any, name: str
) -> None:
    """Every build is of another year, whose records all differ from those of the year before."""
    project: Project = request.getfixturevalue({"customers": "shop", "members": "members"}[name])
    text = (project.folder / CUSTOMERS).read_text(encoding="utf-8")
    planted, before, longest = identifiers_of(text), state(project, name), seconds(project)
    kills = Kills(KILLS if FULL else 1)
    died: Counter[str] = Counter()
    for number in kills:
        changed = other_people(text, number + 1)
        planted |= identifiers_of(changed)
        (project.folder / CUSTOMERS).write_text(changed, encoding="utf-8")
        place = PLACES[name][number % len(PLACES[name])]
        child = launcher.dbt(project.folder, "build", "--no-quiet", "--no-use-colors")
        if place != ANYTHING:
            wait_for_start(child, place)
        moment = kills.kill(child, longest[place])
        where = f"seed {SEED}, kill {number}, {place}, after {moment} of {longest[place]:.3f} s"
        assert lying_open(project, planted) == {}, where
        found = state(project, name)
        started = time.monotonic()
        repaired = launcher.dbt(project.folder, "build")
        assert repaired.wait() == 0, f"{where}: {repaired.said}"
        longest = seconds(project) | {ANYTHING: time.monotonic() - started}
        after = state(project, name)
        assert_of_one_build(before, found, after, where)
        assert lying_open(project, planted) == {}, where
        assert files_of(project, "release/dev") == {f"{name}.duckdb"}, where
        assert files_of(project, "vault") == {".gitignore", "vault.duckdb"}, where
        if moment is not None:
            died[f"{place}, {'new' if found.release == after.release else 'old'} release"] += 1
        before = after
    record_property("died", dict(died))
    print(dict(died))  # noqa: T201 (shown by pytest -s and -rP)


def assert_of_one_build(before: State, found: State, after: State, where: str) -> None:
    """Assert that release and vault are those of before or after, and that no token is lost."""
    for old, new in ((before.release, after.release), (before.identifiers, after.identifiers)):
        assert not set(map(str, old)) & set(map(str, new)), "else a mixture would not show"
    assert found.release in (before.release, after.release), where
    assert found.identifiers in (before.identifiers, after.identifiers), where
    keys = {row[0] for row in after.identifiers}
    assert len(after.identifiers) == len(keys) == PEOPLE, where
    assert before.tokens.items() <= found.tokens.items() <= after.tokens.items(), where
    if after.tokens:
        assert len(after.tokens) == len(before.tokens) + PEOPLE, where
        # A released token leads to its person, also right after the kill.
        known = {row[-1] for row in after.identifiers}
        assert {row[-1] for row in after.release} <= known, where
        assert {row[-1] for row in found.release} <= set(found.tokens.values()), where
        assert known <= set(after.tokens.values()), where
