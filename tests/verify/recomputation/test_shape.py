"""The release file holds one plain table, and nothing is left over in it or beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.release.publish import publish
from dbt_anonymize.verify.recomputation.shape import check_file, check_folder, check_vault
from dbt_anonymize.verify.relations import open_release
from tests.verify.recomputation.world import World, open_world, spec_of

pytestmark = pytest.mark.costly

TABLE = "visits_anonymized"


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with open_world(spec_of()) as opened:
        yield opened


@pytest.fixture
def release(world: World, tmp_path: Path) -> Path:
    publish(
        world.connection,
        relation="anonymized",
        table=TABLE,
        folder=str(tmp_path),
        path="release/visits.duckdb",
    )
    return tmp_path / "release" / "visits.duckdb"


def broken(world: World, release: Path) -> list[str]:
    with open_release(world.spec, release) as released:
        findings = list(check_file(released, release, TABLE, "the file"))
    return [finding.message for finding in findings if not finding.holds]


def test_a_published_file_holds_one_plain_table(world: World, release: Path) -> None:
    assert broken(world, release) == []
    (copy,) = world.connection.execute("select count(*) from release").fetchall()
    with duckdb.connect(str(release), read_only=True) as connection:
        assert connection.execute(f"select count(*) from {TABLE}").fetchall() == [copy]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "change",
    [
        "create table more as select 1 as one",
        "create view more as select 1 as one",
        "create schema more",
        "create type more as enum ('Moreau')",
        "create macro more() as 'Moreau'",
        "create sequence more",
        f"create index more on {TABLE} (note)",
        f"comment on table {TABLE} is 'Moreau'",
        f"comment on column {TABLE}.note is 'Moreau'",
        f"alter table {TABLE} alter note set default 'Moreau'",
        f"alter table {TABLE} alter age set not null",
        f"create or replace table {TABLE} as select * replace (note collate nocase as note) "
        f"from {TABLE}",
        f"create or replace table {TABLE} as select * replace (note::enum('seen', 'Seen', 'seen ', "
        f"'', 'Moreau') as note) from {TABLE}; alter table {TABLE} alter note type varchar",
        f"delete from {TABLE} where rowid < 10",
        f"insert into {TABLE} from {TABLE}; delete from {TABLE} where rowid > 70",
    ],
)
def test_whatever_else_a_file_holds_is_seen(world: World, release: Path, change: str) -> None:
    with duckdb.connect(str(release)) as connection:
        connection.execute(change)
    release.chmod(0o644)
    (message,) = broken(world, release)
    assert message.startswith(f"the file must hold the table {TABLE} and nothing else; got ")
    assert "Moreau" not in message


def test_bytes_behind_the_table_and_a_log_beside_it_are_seen(world: World, release: Path) -> None:
    with release.open("ab") as file:
        file.write(b"Moreau")
    assert "bytes that belong to no table" in broken(world, release)[0]


def test_a_file_that_others_may_write_is_seen(world: World, release: Path) -> None:
    release.chmod(0o666)
    assert broken(world, release) == ["the mode of the file is 666; it must be 644. Build again."]


def test_a_missing_file_and_a_file_of_something_else_are_errors(
    world: World, release: Path
) -> None:
    with duckdb.connect(str(release)) as connection:
        connection.execute(f"alter table {TABLE} rename to visits")
    with pytest.raises(VerificationError, match=f"must hold the table {TABLE}"):
        broken(world, release)
    release.write_bytes(b"Moreau" * 1000)
    with pytest.raises(VerificationError, match="must be a DuckDB file") as error:
        broken(world, release)
    assert "Moreau" not in str(error.value)
    release.unlink()
    with pytest.raises(VerificationError, match="there is none"):
        broken(world, release)


def test_what_lies_beside_a_release_is_seen_but_other_releases(release: Path) -> None:
    folder = release.parent
    assert check_folder(folder, "release", {release}).holds
    (folder / "Moreau.csv").write_text("name\nMoreau\n", encoding="utf-8")
    (folder / ".visits.duckdb.x.stage").mkdir()
    finding = check_folder(folder, "release", {release})
    assert not finding.holds
    assert "got 2 other files or folders" in finding.message
    assert "Moreau" not in finding.message


def test_a_vault_that_others_may_read_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "vault" / "vault.duckdb"
    file.parent.mkdir(mode=0o700)
    file.touch(mode=0o600)
    assert all(finding.holds for finding in check_vault(file, tmp_path))
    file.chmod(0o640)
    file.parent.chmod(0o755)
    assert [finding.message for finding in check_vault(file, tmp_path)] == [
        "the mode of the vault is 755; others must not have access. Run `chmod 700 vault`.",
        "the mode of the vault is 640; others must not have access. "
        "Run `chmod 600 vault/vault.duckdb`.",
    ]
