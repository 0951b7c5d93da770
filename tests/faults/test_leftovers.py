"""Obstacles to a release are named; files that no build can have left are never removed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from dbt_anonymize.errors import PublishError
from dbt_anonymize.release.publish import publish
from tests.faults.people import WAREHOUSE, files_of_release, released, write_people
from tests.faults.tasks import RELEASE, TABLE

pytestmark = pytest.mark.costly

STAGE = ".people.duckdb.abc.stage"
LOG = "people.duckdb.wal"
_SOMEBODY = 4242


@pytest.fixture
def session(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a connection to a warehouse whose table `old` is published."""
    write_people(tmp_path, records=50)
    with duckdb.connect(str(tmp_path / WAREHOUSE)) as session:
        publish_table(session, tmp_path, "old")
        yield session


def publish_table(session: duckdb.DuckDBPyConnection, folder: Path, relation: str) -> None:
    publish(session, relation=relation, table=TABLE, folder=str(folder), path=RELEASE)


def link_to_a_folder(path: Path) -> None:
    path.symlink_to(path.parent.parent)


def link_to_nothing(path: Path) -> None:
    path.symlink_to(path.parent / "nothing")


def somebodys_folder(path: Path) -> None:
    path.mkdir()
    os.chown(path, _SOMEBODY, _SOMEBODY)


def somebodys_file(path: Path) -> None:
    path.touch()
    os.chown(path, _SOMEBODY, _SOMEBODY)


by_root = pytest.mark.skipif(os.geteuid() != 0, reason="root alone gives files away")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "put", "says"),
    [
        pytest.param(STAGE, link_to_a_folder, "it is a symbolic link", id="stage is a link"),
        pytest.param(STAGE, link_to_nothing, "it is a symbolic link", id="stage is a dead link"),
        pytest.param(STAGE, Path.touch, "it is a file", id="stage is a file"),
        pytest.param(
            STAGE, somebodys_folder, "another account", id="stage of another", marks=by_root
        ),
        pytest.param(LOG, Path.mkdir, "it is a folder", id="log is a folder"),
        pytest.param(LOG, link_to_nothing, "it is a symbolic link", id="log is a link"),
        pytest.param(LOG, somebodys_file, "another account", id="log of another", marks=by_root),
    ],
)
def test_what_lies_in_the_way_is_named_and_stays(
    session: duckdb.DuckDBPyConnection,
    tmp_path: Path,
    *,
    name: str,
    put: Callable[[Path], None],
    says: str,
) -> None:
    path = (tmp_path / RELEASE).with_name(name)
    put(path)
    before, release = path.lstat(), (tmp_path / RELEASE).read_bytes()
    with pytest.raises(PublishError, match=rf"while {re.escape(str(path))} is there.*{says}") as e:
        publish_table(session, tmp_path, "new")
    assert "Look at it, remove it, and build again." in str(e.value)
    assert path.lstat() == before
    assert files_of_release(tmp_path) == {"people.duckdb", name}
    assert (tmp_path / RELEASE).read_bytes() == release
    path.rename(tmp_path / "moved away")
    publish_table(session, tmp_path, "new")
    assert released(tmp_path) == session.table("new").fetchall()


def test_a_release_that_is_a_folder_is_named(
    session: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    target = tmp_path / RELEASE
    target.unlink()
    (target / "kept").mkdir(parents=True)
    with pytest.raises(PublishError, match=rf"while {re.escape(str(target))} is there.*a folder"):
        publish_table(session, tmp_path, "new")
    assert (target / "kept").is_dir()


def test_a_leftover_that_cannot_be_removed_is_named(
    session: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = (tmp_path / RELEASE).with_name(STAGE)
    path.mkdir()

    def refuse(path: Path) -> None:
        raise PermissionError(1, "Operation not permitted", str(path))

    monkeypatch.setattr("dbt_anonymize.release.publish.shutil.rmtree", refuse)
    with pytest.raises(PublishError, match=rf"while {re.escape(str(path))} .*Operation not perm"):
        publish_table(session, tmp_path, "new")
