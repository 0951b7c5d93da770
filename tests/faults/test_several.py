"""Several releases at once: of one project in many threads, and one release of two builds.

In full, a project with three anonymizations of 50,000 records is built 3 times, by `make faults`
20 times; by default it is built once, with few records.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dbt_anonymize.project.generate import generate
from dbt_anonymize.release import publish as publish_module
from dbt_anonymize.release.audit import audit
from dbt_anonymize.release.lock import exclusive_publication
from dbt_anonymize.release.publish import publish
from tests.faults.killing import KILLS, wait_for_start
from tests.faults.people import WAREHOUSE, files_of_release, released, write_people
from tests.faults.processes import Launcher
from tests.faults.tasks import RELEASE, TABLE
from tests.projects import Project
from tests.sampling import number_of

pytestmark = pytest.mark.costly

BUILDS = number_of("builds of three large anonymizations", max(3, KILLS // 5), 0)
# Of each of the 400 customers.
COPIES = 125 if BUILDS else 5
NAMES = ("north", "east", "south")
PEOPLE = f"""
{{{{ config(materialized='view', database='vault') }}}}
select customers.* replace (customer_id * {COPIES} + copies.number as customer_id)
from {{{{ ref('customers') }}}} as customers, range({COPIES}) as copies(number)
"""


@pytest.fixture
def session(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a connection to a warehouse with the tables `old` and `new`."""
    write_people(tmp_path, records=20_000)
    with duckdb.connect(str(tmp_path / WAREHOUSE)) as session:
        yield session


def test_threads_that_publish_at_once(session: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """While another looks at all that is there, in transactions, as dbt does.

    What a transaction has seen stays open until it ends; so it never sees what is being published.
    """
    ended = threading.Event()
    seen: set[str] = set()

    def look() -> None:
        cursor = session.cursor()
        while not ended.is_set():
            cursor.execute("begin")
            databases = "select distinct table_catalog from information_schema.tables"
            seen.update(name for (name,) in cursor.execute(databases).fetchall())
            time.sleep(0.01)
            cursor.execute("commit")

    def publish_often(name: str) -> None:
        for relation in ("old", "new") * 3:
            publish(
                session.cursor(), relation=relation, table=TABLE, folder=str(tmp_path), path=name
            )

    names = [f"release/{number}.duckdb" for number in range(3)]
    with ThreadPoolExecutor(4) as threads:
        looking = threads.submit(look)
        publishing = [threads.submit(publish_often, name) for name in names]
        try:
            for one in publishing:
                one.result()
        finally:
            ended.set()
        looking.result()
    assert seen == {"warehouse"}
    for name in names:
        with duckdb.connect(str(tmp_path / name), read_only=True) as reader:
            assert reader.table(TABLE).fetchall() == session.table("new").fetchall()
    assert {path.name for path in (tmp_path / "release").iterdir()} == {
        Path(name).name for name in names
    }


def test_who_comes_second_waits_until_the_first_has_published(
    session: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes when the file of the first is written and not yet renamed."""
    arguments = {"table": TABLE, "folder": str(tmp_path), "path": RELEASE}
    second = threading.Thread(
        target=publish, args=(session.cursor(),), kwargs={"relation": "old", **arguments}
    )
    seen: list[set[str]] = []

    def audit_while_another_comes(*positional: Any, stage: Path, **named: Any) -> None:
        monkeypatch.undo()
        second.start()
        time.sleep(0.3)
        assert second.is_alive()
        seen.append(files_of_release(tmp_path))
        audit(*positional, stage=stage, **named)
        seen.append({stage.parent.name, ".people.duckdb.lock"})

    monkeypatch.setattr(publish_module, "audit", audit_while_another_comes)
    publish(session, relation="new", **arguments)
    second.join()
    assert seen[0] == seen[1], "the second has made nothing yet"
    assert released(tmp_path) == session.table("old").fetchall()
    assert files_of_release(tmp_path) == {"people.duckdb"}


@pytest.mark.sampled_tests(group="faults")
def test_two_builds_of_one_release_take_turns(
    shop: Project, launcher: Launcher, tmp_path: Path
) -> None:
    """Each has a warehouse and a vault of its own; both find that somebody else is publishing."""
    other = shop.copy(tmp_path / "other")
    shutil.rmtree(other.folder / "release")
    (other.folder / "release").symlink_to(shop.folder / "release")
    before, rows = shop.release_file("customers").stat().st_ino, shop.release("customers")
    command = ("run", "-s", "customers_anonymized", "--no-quiet", "--no-use-colors")
    with exclusive_publication(shop.release_file("customers")):
        builds = [launcher.dbt(project.folder, *command) for project in (shop, other)]
        for build in builds:
            wait_for_start(build, "customers_anonymized")
        time.sleep(1)
        assert [build.is_running() for build in builds] == [True, True]
        assert shop.release_file("customers").stat().st_ino == before
    assert [build.wait() for build in builds] == [0, 0], [build.said for build in builds]
    assert shop.release_file("customers").stat().st_ino != before
    assert shop.release("customers") == rows
    assert {path.name for path in (shop.folder / "release" / "dev").iterdir()} == {
        "customers.duckdb"
    }


@pytest.mark.slow
def test_a_project_with_three_releases_is_built(
    shop: Project, launcher: Launcher, record_property: Any
) -> None:
    """At four threads, all of which publish or write the vault at some moment."""
    shop.edit("profiles.yml", lambda text: text.replace("threads: 2", "threads: 4"))
    specs = shop.folder / "anonymizations"
    text = (specs / "customers.yml").read_text(encoding="utf-8")
    (specs / "customers.yml").unlink()
    shutil.rmtree(shop.folder / "models" / "customers")
    for name in NAMES:
        changed = text.replace("name: customers", f"name: {name}", 1)
        changed = changed.replace("{ref: customers}", "{ref: people}")
        changed = changed.replace("repetitions: 1", "repetitions: 1\n  sample: 2000")
        (specs / f"{name}.yml").write_text(changed, encoding="utf-8")
    (shop.folder / "models" / "people.sql").write_text(PEOPLE, encoding="utf-8")
    generate(shop.folder)
    builds = BUILDS or 1
    for number in range(builds):
        build = launcher.dbt(shop.folder, "build")
        assert build.wait() == 0, f"build {number + 1} of {builds}: {build.said}"
        for name in NAMES:
            assert len(shop.release(name)) == 400 * COPIES
    record_property("builds", builds)
