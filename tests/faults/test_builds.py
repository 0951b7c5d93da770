"""Readers and other builds, full disks, missing rights, little memory, changed inputs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.people import WAREHOUSE, files_of_release, other_people, released, write_people
from tests.faults.processes import Launcher, wait_for
from tests.projects import Project

pytestmark = pytest.mark.sampled_tests(group="faults")

RELEASE = "release/dev/customers.duckdb"
CUSTOMERS = "seeds/customers.csv"
ZIP_CODES = "seeds/customers_hierarchy_zip.csv"
_ROOM = 700_000
IDENTIFIERS = "from vault.main.customers_identifiers order by all"


def assert_unchanged(project: Project, release: bytes) -> None:
    """Assert that the release is the same to the byte, and nothing beside it."""
    assert (project.folder / RELEASE).read_bytes() == release
    assert {path.name for path in (project.folder / RELEASE).parent.iterdir()} == {
        "customers.duckdb"
    }


def test_a_reader_that_keeps_the_release_open_blocks_nobody_and_sees_no_mixture(
    shop: Project, launcher: Launcher, tmp_path: Path
) -> None:
    before = shop.release("customers")
    stop = tmp_path / "stop"
    query = "select * from customers_anonymized"
    reader = launcher.start(
        "read_while_open", file=str(shop.folder / RELEASE), query=query, stop=str(stop)
    )
    wait_for(Path(f"{stop}.reading"))
    shop.edit(CUSTOMERS, other_people)
    shop.build()
    stop.touch()
    assert reader.wait() == 0, reader.said
    assert int(reader.said) > 1
    assert shop.release("customers") != before


def test_of_two_builds_at_once_one_wins_and_the_other_says_why(
    shop: Project, launcher: Launcher
) -> None:
    """The first stands still while it holds the warehouse, until the second has ended."""
    before = shop.release("customers")
    shop.edit(CUSTOMERS, other_people)
    first = launcher.dbt(shop.folder, "build")
    with first.standing_still_with(shop.folder / shop.warehouse):
        second = launcher.dbt(shop.folder, "build")
        assert second.wait() == 1, second.said
        assert shop.release("customers") == before
    assert first.wait() == 0, first.said
    says = rf"Could not set lock on file .*shop\.duckdb.*\(PID {first.pid}\)"
    assert re.search(says, second.said)
    assert shop.release("customers") != before
    people = shop.query("select count(*), count(distinct customer_id) from vault.main.customers")
    assert people == [(400, 400)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("file_bytes", [4096, 100_000, 600_000])
def test_a_disk_that_is_full_while_publishing(
    tmp_path: Path, launcher: Launcher, file_bytes: int
) -> None:
    people = write_people(tmp_path, records=20_000)
    arguments = {"folder": str(tmp_path), "warehouse": WAREHOUSE}
    assert launcher.start("publish_table", relation="old", **arguments).wait() == 0
    full = launcher.start("publish_table", relation="new", file_bytes=file_bytes, **arguments)
    assert full.wait() == 1
    assert "could not be published" in full.said
    assert "The earlier release is unchanged. Check that the folder is writable" in full.said
    assert released(tmp_path) == people["old"]
    assert files_of_release(tmp_path) == {"people.duckdb"}
    assert launcher.start("publish_table", relation="new", **arguments).wait() == 0
    assert released(tmp_path) == people["new"]


def test_a_disk_that_is_full_during_a_build(shop: Project, launcher: Launcher) -> None:
    """A new warehouse cannot grow as it must; the build after it needs no repair."""
    release = (shop.folder / RELEASE).read_bytes()
    before = shop.query(IDENTIFIERS)
    shop.edit(CUSTOMERS, other_people)
    (shop.folder / shop.warehouse).unlink()
    # Room for what dbt itself writes (its manifest), and not for the database or its log.
    build = launcher.dbt(shop.folder, "build", "--no-write-json", file_bytes=_ROOM)
    assert build.wait() == 1, build.said
    assert_unchanged(shop, release)
    assert shop.query(IDENTIFIERS) == before
    assert shop.dbt("build", "--full-refresh").succeeded
    assert (shop.folder / RELEASE).read_bytes() != release
    people = 'count(*), count(distinct customer_id), count(distinct "e-mail")'
    assert shop.query(f"select {people} from vault.main.customers_identifiers") == [(400,) * 3]


def test_a_folder_that_cannot_be_written(shop: Project, launcher: Launcher) -> None:
    release = (shop.folder / RELEASE).read_bytes()
    folder = (shop.folder / RELEASE).parent
    folder.chmod(0o555)
    build = launcher.dbt(shop.folder, "run", "-s", "customers_anonymized", is_powerless=True)
    assert build.wait() == 1
    folder.chmod(0o755)
    assert "cannot be taken (Permission denied)" in build.said
    assert "Check that the folder is writable" in build.said
    assert_unchanged(shop, release)


def test_a_seed_that_cannot_be_read(shop: Project, launcher: Launcher) -> None:
    release = (shop.folder / RELEASE).read_bytes()
    shop.edit(CUSTOMERS, other_people)
    (shop.folder / CUSTOMERS).chmod(0)
    build = launcher.dbt(shop.folder, "build", is_powerless=True)
    assert build.wait() != 0
    assert "Permission denied" in build.said
    assert "customers.csv" in build.said
    assert_unchanged(shop, release)


def test_a_build_that_needs_more_memory_than_it_may_use(shop: Project, launcher: Launcher) -> None:
    release = (shop.folder / RELEASE).read_bytes()
    before = shop.query(IDENTIFIERS)
    shop.edit(CUSTOMERS, other_people)
    unlimited = (shop.folder / "profiles.yml").read_text(encoding="utf-8")
    shop.edit(
        "profiles.yml",
        lambda text: text.replace(
            "      threads: 2\n", "      threads: 2\n      settings: {memory_limit: 8MB}\n"
        ),
    )
    # In a process of its own: what a failed build may still have open ends with it.
    build = launcher.dbt(shop.folder, "build", "--exclude-resource-type", "test")
    assert build.wait() == 1, build.said
    assert "Out of Memory Error" in build.said
    assert_unchanged(shop, release)
    assert shop.query(IDENTIFIERS) == before
    (shop.folder / "profiles.yml").write_text(unlimited, encoding="utf-8")
    assert shop.dbt("run", "-s", "customers_microdata").succeeded


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("add column card varchar default 'x'", "without one: card"),
        ("drop column spending", "declared columns are not in the source"),
        ("rename spending to spent", "without one: spent"),
    ],
)
def test_a_source_with_other_columns_stops_the_build(shop: Project, change: str, says: str) -> None:
    release = (shop.folder / RELEASE).read_bytes()
    shop.execute(f"alter table vault.main.customers {change}")
    outcome = shop.dbt("run")
    assert not outcome.succeeded
    assert says in outcome.messages
    assert_unchanged(shop, release)


def test_a_source_that_changes_during_the_build_stops_the_vault(shop: Project) -> None:
    """One record is doubled and another of its group is gone: every group is as large as it was."""
    before = shop.query(IDENTIFIERS)
    ((one, other),) = shop.query(
        "select min(customer_id) as one, max(customer_id) from customers_effort_1"
        " where not is_suppressed group by equivalence_class order by one limit 1"
    )
    change = f"customer_id = {one} where customer_id = {other}"
    shop.execute(f"update vault.main.customers set {change}")
    outcome = shop.dbt("run", "-s", "customers_identifiers")
    assert not outcome.succeeded
    for says in ("vault is unchanged", "1 of 400 repeat another"):
        assert says in outcome.messages
    assert "same groups of people" not in outcome.messages
    assert shop.query(IDENTIFIERS) == before


def relabel(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new)


def without_leaf(text: str) -> str:
    return "".join(line for line in text.splitlines(True) if not line.startswith("01067"))


_BUILD_AGAIN = "Build again from the microdata on"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("change", "says", "says_of_a_part"),
    [
        pytest.param(relabel("0****", "0xxxx"), None, _BUILD_AGAIN, id="another label"),
        pytest.param(relabel("1****", "0****"), None, None, id="a label for two"),
        pytest.param(
            relabel("041**,0****", "041**,04***"), None, _BUILD_AGAIN, id="two labels for one"
        ),
        pytest.param(
            without_leaf, "hierarchy of zip does not cover", _BUILD_AGAIN, id="a leaf less"
        ),
    ],
)
def test_a_hierarchy_that_was_edited_between_builds(
    shop: Project,
    change: Callable[[str], str],
    says: str | None,
    says_of_a_part: str | None,
) -> None:
    """The release alone is built first, on classes and results of the earlier hierarchy."""
    release = (shop.folder / RELEASE).read_bytes()
    shop.edit(ZIP_CODES, change)
    part = ["-s", "customers_hierarchy_zip", "customers_anonymized"]
    for selection, expected in ((part, says_of_a_part), ([], says)):
        outcome = shop.dbt("build", *selection)
        assert outcome.succeeded == (expected is None), outcome.messages
        if expected is not None:
            assert expected in outcome.messages
            assert_unchanged(shop, release)
    if says is None:
        table = "release_customers.main.customers_anonymized"
        labels = {line.split(",")[2] for line in (shop.folder / ZIP_CODES).open(encoding="utf-8")}
        found = {label for (label,) in shop.query(f"select distinct zip from {table}")}
        assert found <= labels
        sizes = f"select count(*) as records from {table} group by birth_date, zip, gender"
        assert shop.query(f"select min(records) >= 4 from ({sizes})") == [(True,)]
