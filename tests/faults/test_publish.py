"""Publishing is write, audit, rename, by one build at a time."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import stat
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dbt_anonymize.errors import PublishError
from dbt_anonymize.literals import quote_name
from dbt_anonymize.release import publish as publish_module
from dbt_anonymize.release.audit import audit, holds_release
from dbt_anonymize.release.lock import exclusive_publication
from dbt_anonymize.release.publish import publish
from tests.faults.people import RELEASE, TABLE, WAREHOUSE, files_of_release, released, write_people
from tests.faults.processes import Launcher, wait_for

pytestmark = pytest.mark.sampled_tests(10)


@pytest.fixture
def people(tmp_path: Path) -> dict[str, Any]:
    """Give the rows of the tables that can be published."""
    return write_people(tmp_path)


@pytest.fixture
def session(tmp_path: Path, people: dict[str, Any]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a connection to the warehouse that holds them."""
    with duckdb.connect(str(tmp_path / WAREHOUSE)) as session:
        yield session


def publish_table(session: duckdb.DuckDBPyConnection, folder: Path, relation: str) -> None:
    publish(session, relation=relation, table=TABLE, folder=str(folder), path=RELEASE)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_only_the_owner_enters_the_stage_and_everybody_reads_the_release(
    session: duckdb.DuckDBPyConnection,
    tmp_path: Path,
    umask: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    staged: list[int] = []

    def audit_and_look(session: Any, *, stage: Path, **rest: Any) -> None:
        staged.append(mode(stage.parent))
        audit(session, stage=stage, **rest)

    monkeypatch.setattr(publish_module, "audit", audit_and_look)
    before = os.umask(umask)
    try:
        publish(session, relation="new", table=TABLE, folder=str(tmp_path), path="a/b/c.duckdb")
    finally:
        os.umask(before)
    assert staged == [0o700]
    modes = {path: mode(tmp_path / path) for path in ("a", "a/b", "a/b/c.duckdb")}
    assert modes == {"a": 0o755, "a/b": 0o755, "a/b/c.duckdb": 0o644}


def test_the_file_is_on_the_disk_before_its_name_is_and_then_the_name(
    session: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a power cut could leave the name of the release on a file that was never written."""
    happened: list[int | str] = []
    sync, replace = os.fsync, Path.replace

    def record_sync(descriptor: int) -> None:
        happened.append(os.fstat(descriptor).st_ino)
        sync(descriptor)

    def record_replace(path: Path, target: Path) -> Path:
        happened.append("rename")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", record_sync)
    monkeypatch.setattr(Path, "replace", record_replace)
    publish_table(session, tmp_path, "new")
    file = tmp_path / RELEASE
    assert happened == [file.stat().st_ino, "rename", file.parent.stat().st_ino]


def test_a_log_of_the_earlier_file_is_removed(
    session: duckdb.DuckDBPyConnection, tmp_path: Path, people: dict[str, Any]
) -> None:
    """A reader that was killed may have left it, and it would belong to another file."""
    publish_table(session, tmp_path, "old")
    Path(f"{tmp_path / RELEASE}.wal").write_bytes(b"of another file")
    publish_table(session, tmp_path, "new")
    assert files_of_release(tmp_path) == {"people.duckdb"}
    assert released(tmp_path) == people["new"]


def test_a_folder_that_was_there_keeps_its_mode(
    session: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    folder = (tmp_path / RELEASE).parent
    folder.mkdir(mode=0o750)
    publish_table(session, tmp_path, "new")
    assert mode(folder) == 0o750


def test_a_release_that_is_a_link_is_not_replaced_by_a_file(
    session: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    """Readers of what it leads to would keep the earlier release without knowing."""
    target, shared = tmp_path / RELEASE, tmp_path / "shared.duckdb"
    target.parent.mkdir(exist_ok=True)
    shared.write_bytes(b"earlier")
    target.symlink_to(shared)
    with pytest.raises(PublishError, match="it is a symbolic link"):
        publish_table(session, tmp_path, "new")
    assert target.is_symlink()
    assert shared.read_bytes() == b"earlier"


def test_what_killed_builds_left_is_removed_and_nothing_else(
    session: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    folder = (tmp_path / RELEASE).parent
    (folder / ".people.duckdb.abc.stage").mkdir(parents=True)
    (folder / ".people.duckdb.abc.stage" / "people.duckdb.wal").write_bytes(b"half")
    (folder / ".people.duckdb.lock").write_bytes(b"99999999999999")
    (folder / ".people_too.duckdb.abc.stage").mkdir()
    (folder / "notes.txt").touch()
    publish_table(session, tmp_path, "new")
    left = {"people.duckdb", ".people_too.duckdb.abc.stage", "notes.txt"}
    assert files_of_release(tmp_path) == left


def test_a_lock_that_its_holder_removed_in_between_is_no_lock(
    session: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other build ends between opening the file and locking it: then it locks nothing."""
    lock = (tmp_path / RELEASE).parent / ".people.duckdb.lock"
    flock, inodes = fcntl.flock, []

    def flock_late(descriptor: int, operation: int) -> None:
        if not inodes:
            lock.unlink()
        inodes.append(os.fstat(descriptor).st_ino)
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock_late)
    publish_table(session, tmp_path, "new")
    assert len(inodes) == 2
    assert files_of_release(tmp_path) == {"people.duckdb"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("delete from {0} where rowid = 3", "have 2000 records; got 1999"),
        ("insert into {0} select * from {0} limit 1", "have 2000 records; got 2001"),
        ("update {0} set amh = amh + 1 where rowid = 3", "another checksum"),
        ("update {0} set cqi = null where rowid = 3", "another checksum"),
        ("alter table {0} rename age to AGE", "have the columns of the relation"),
        ("alter table {0} alter amh type varchar", "have the columns of the relation"),
        ("alter table {0} add column name varchar", "have the columns of the relation"),
        ("create table {1}.main.more (i integer)", "got more, people_anonymized"),
        ("create schema {1}.more", "got more, people_anonymized"),
        ("create view {1}.main.more as select 1 as one", "got more, people_anonymized"),
        ("create macro {1}.main.more() as 1", "got more, people_anonymized"),
        ("create type {1}.main.more as enum ('a')", "got more, people_anonymized"),
        ("create sequence {1}.main.more", "got more, people_anonymized"),
        ("create index more on {0} (amh)", "got more, people_anonymized"),
        ("alter table {0} rename to others", "hold nothing but people_anonymized; got others"),
        ("drop table {0}", "got nothing"),
    ],
)
def test_a_file_that_is_not_the_relation_is_never_published(
    session: duckdb.DuckDBPyConnection,
    tmp_path: Path,
    people: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    *,
    change: str,
    says: str,
) -> None:
    publish_table(session, tmp_path, "old")

    def change_and_audit(session: Any, *, stage: Path, **rest: Any) -> None:
        with duckdb.connect(str(stage)) as file:
            file.execute(change.format(f"people.main.{TABLE}", "people"))
        audit(session, stage=stage, **rest)

    monkeypatch.setattr(publish_module, "audit", change_and_audit)
    with pytest.raises(PublishError, match=re.escape(says)) as error:
        publish_table(session, tmp_path, "new")
    assert "The earlier release is unchanged" in str(error.value)
    assert "new 3" not in str(error.value)
    assert released(tmp_path) == people["old"]
    assert files_of_release(tmp_path) == {"people.duckdb"}


def test_a_file_with_a_log_beside_it_is_never_published(
    session: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def add_log_and_audit(session: Any, *, stage: Path, **rest: Any) -> None:
        Path(f"{stage}.wal").touch()
        audit(session, stage=stage, **rest)

    monkeypatch.setattr(publish_module, "audit", add_log_and_audit)
    with pytest.raises(PublishError, match="be one file without a log"):
        publish_table(session, tmp_path, "new")
    assert files_of_release(tmp_path) == set()


def test_a_table_without_rows_is_published_as_it_is(
    session: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    session.execute("create table nobody as from new limit 0")
    publish_table(session, tmp_path, "nobody")
    assert released(tmp_path) == []


def test_every_type_is_published_as_it_is(
    session: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    values = {
        "truth": "true", "tiny": "1::utinyint", "sum": "sum(2::hugeint ** 100)::hugeint",
        "price": "1.50::decimal(38, 2)", "zero": "'-0.0'::double", "nan": "'nan'::double",
        "never": "date 'infinity'", "at": "timestamptz '2020-01-01 10:00:00+02'",
        "nano": "timestamp_ns '2020-01-01 10:00:00.123456789'", "zone": "'12:00:00+02'::timetz",
        "zones": "['12:00:00+02'::timetz]", "span": "interval '1 year 3 days 5 microseconds'",
        "bits": "'0101'::bit", "bytes": "'a\\x00'::blob", "mood": "'sad'::enum('happy', 'sad')",
        "id": "'8f1f6b4e-7b1e-4f0e-9d0a-000000000001'::uuid", "no": "null::integer",
        "json": """'{"a": 1}'::json""", "map": "map {'a': [1, null]}", "pair": "{'a b': 1}",
        "triple": "array[1, 2, 3]::int[3]", 'a "name"': "'O''Neil'",
    }  # fmt: skip
    columns = ", ".join(f"{value} as {quote_name(name)}" for name, value in values.items())
    session.execute(f"create table typed as select {columns}")
    publish_table(session, tmp_path, "typed")
    typed = session.execute("describe typed").fetchall()
    text = session.execute("select columns(*)::varchar from typed").fetchall()
    with duckdb.connect(str(tmp_path / RELEASE), read_only=True) as reader:
        assert reader.execute(f"describe {TABLE}").fetchall() == typed
        assert reader.execute(f"select columns(*)::varchar from {TABLE}").fetchall() == text


@pytest.mark.parametrize("name", ["Planted Person", "IO Error: Planted Person"])
def test_an_error_of_the_database_tells_no_value(
    session: duckdb.DuckDBPyConnection, tmp_path: Path, people: dict[str, Any], name: str
) -> None:
    """The engine quotes the value that it cannot convert; dbt prints the whole chain of errors."""
    publish_table(session, tmp_path, "old")
    session.execute(f"create table named as select '{name}' as name")
    session.execute("create view numbered as select name::integer as number from named")
    with pytest.raises(duckdb.ConversionException, match=name):
        session.execute("from numbered")
    with pytest.raises(PublishError, match=r"could not be published \(ConversionException\)") as e:
        publish_table(session, tmp_path, "numbered")
    assert "Planted" not in "".join(traceback.format_exception(e.value))
    assert released(tmp_path) == people["old"]


def test_an_error_of_the_database_names_what_is_missing(
    session: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    with pytest.raises(PublishError, match=r"CatalogException: Catalog Error: .*no_such_table"):
        publish_table(session, tmp_path, "no_such_table")


def test_a_platform_without_the_lock_publishes_nothing(
    session: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(PublishError, match=rf"{sys.platform} has no flock .*Nothing was published"):
        publish_table(session, tmp_path, "new")
    assert files_of_release(tmp_path) == set()


def test_who_publishes_while_another_process_does_is_told_so(
    tmp_path: Path, launcher: Launcher
) -> None:
    """The other holds the lock until it is killed, which gives the lock to who waits for it."""
    people = write_people(tmp_path)
    arguments = {"folder": str(tmp_path), "warehouse": WAREHOUSE}
    assert launcher.start("publish_table", relation="old", **arguments).wait() == 0
    holds = tmp_path / "holds"
    holder = launcher.start("hold_lock", folder=str(tmp_path), holds=str(holds))
    wait_for(holds)
    refused = launcher.start("publish_table", relation="new", longest_wait=0.2, **arguments)
    assert refused.wait() == 1
    assert f"one build at a time; process {holder.pid} is publishing it now" in refused.said
    assert released(tmp_path) == people["old"]
    waiting = launcher.start("publish_table", relation="new", **arguments)
    assert holder.kill() == -signal.SIGKILL
    assert waiting.wait() == 0
    assert released(tmp_path) == people["new"]
    assert files_of_release(tmp_path) == {"people.duckdb"}


def test_two_that_publish_at_once_never_mix(tmp_path: Path, launcher: Launcher) -> None:
    """Both have a warehouse of their own and the same release; a reader looks all the time."""
    people = {**write_people(tmp_path), **write_people(tmp_path, "other.duckdb")}
    builds = [
        launcher.start(
            "publish_in_turn",
            folder=str(tmp_path),
            warehouse=warehouse,
            relations=["old", "new"],
            times=15,
        )
        for warehouse in (WAREHOUSE, "other.duckdb")
    ]
    while any(build.is_running() for build in builds):
        if (tmp_path / RELEASE).exists():
            assert released(tmp_path) in people.values()
    assert [build.wait() for build in builds] == [0, 0], [build.said for build in builds]
    assert released(tmp_path) in people.values()
    assert files_of_release(tmp_path) == {"people.duckdb"}


def test_a_lock_that_is_a_link_destroys_nothing(tmp_path: Path) -> None:
    """Whoever may write the folder of the releases must not get at other files of the builder."""
    precious = tmp_path / "vault.duckdb"
    precious.write_bytes(b"people" * 100)
    folder = tmp_path / "release"
    folder.mkdir()
    (folder / ".a.duckdb.lock").symlink_to(precious)
    refused = pytest.raises(PublishError, match="cannot be taken")
    with refused, exclusive_publication(folder / "a.duckdb"):
        pytest.fail("the lock was taken")
    assert precious.read_bytes() == b"people" * 100


def test_a_lock_with_a_second_name_destroys_nothing(tmp_path: Path) -> None:
    precious = tmp_path / "vault.duckdb"
    precious.write_bytes(b"people")
    (tmp_path / ".a.duckdb.lock").hardlink_to(precious)
    refused = pytest.raises(PublishError, match="cannot be taken")
    with refused, exclusive_publication(tmp_path / "a.duckdb"):
        pytest.fail("the lock was taken")
    assert precious.read_bytes() == b"people"


@pytest.mark.parametrize(
    ("statements", "is_held"),
    [
        (["create table people as select 1 as age, 'a' as city"], True),
        (["create table people as select 2 as age, 'a' as city"], False),
        (["create table people as select 1 as age, 'a' as city, 3 as more"], False),
        (["create table people as select 1::smallint as age, 'a' as city"], False),
        (["create table people as select unnest([1, 1]) as age, 'a' as city"], False),
        (
            ["create table people as select 1 as age, 'a' as city", "create view more as select 1"],
            False,
        ),
        ([], False),
        (None, False),
    ],
    ids=[
        "the rows",
        "another value",
        "another column",
        "another type",
        "another row",
        "something else",
        "nothing",
        "no database",
    ],
)
def test_a_file_holds_a_release_or_does_not(
    tmp_path: Path, statements: list[str] | None, is_held: bool
) -> None:
    file = tmp_path / "people.duckdb"
    if statements is None:
        file.write_bytes(b"no database")
    else:
        with duckdb.connect(str(file)) as connection:
            for statement in statements:
                connection.execute(statement)
    with duckdb.connect() as session:
        session.execute("create table built as select 1 as age, 'a' as city")
        held = holds_release(session, relation="memory.main.built", table="people", file=file)
        assert held is is_held
        link = tmp_path / "link.duckdb"
        link.symlink_to(file)
        assert not holds_release(session, relation="memory.main.built", table="people", file=link)
        # Nothing stays attached.
        databases = "select count(*) from duckdb_databases() where not internal"
        assert session.execute(databases).fetchall() == [(1,)]
