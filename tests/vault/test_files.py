"""The vault is a file that only its owner reads, in a folder of its own, before it is filled."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest

from dbt_anonymize.errors import VaultError
from dbt_anonymize.vault.files import keep_files_private, protect_vault, require_folders
from tests.projects import Project
from tests.vault.projects import copy_with

pytestmark = [
    pytest.mark.sampled_tests(3),
    pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX"),
]


def mode(path: Path) -> str:
    return oct(path.stat().st_mode & 0o777)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give a project as git checks it out: everybody may look into its folders."""
    for folder in ("vault", "warehouse", "release"):
        (tmp_path / folder).mkdir(mode=0o755)
    return tmp_path


@pytest.fixture
def session(root: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(root / "warehouse" / "shop.duckdb")) as connection:
        yield connection


def protect(session: duckdb.DuckDBPyConnection, root: Path, vault: str = "vault") -> None:
    protect_vault(session, vault=vault, warehouse="shop", project=str(root), release="release")


def attach(session: duckdb.DuckDBPyConnection, path: Path) -> None:
    session.execute(f"attach '{path}' as vault")


@pytest.mark.parametrize("how", ["no database", "checksums", "log"])
def test_a_damaged_vault_is_named_with_what_a_restore_needs(root: Path, how: str) -> None:
    file = root / "vault" / "vault.duckdb"
    log = Path(f"{file}.wal")
    with duckdb.connect(str(file)) as vault:
        vault.execute("create table tokens as select i, md5(i::text) as t from range(9999) as r(i)")
        vault.execute("checkpoint")
        vault.execute("insert into tokens values (0, '')")
        of_another_time = log.read_bytes()
    content = bytearray(file.read_bytes())
    if how == "log":
        log.write_bytes(of_another_time)
    else:
        start = 0 if how == "no database" else 3 * 4096
        content[start:] = bytes(byte ^ 0x5A for byte in content[start:])
        file.write_bytes(content)
    attached = SimpleNamespace(path=str(file), alias="vault", type=None, options=None)
    with pytest.raises(VaultError, match="it is damaged, or none") as refused:
        require_folders(SimpleNamespace(attach=[attached]))
    for part in ("tokens", "keys of masks", "vault.duckdb.wal", "mode 700", "repeat erasures"):
        assert part in str(refused.value)


def test_a_vault_that_is_open_or_new_is_not_called_damaged(root: Path) -> None:
    file = root / "vault" / "vault.duckdb"
    attached = SimpleNamespace(path=str(file), alias="vault", type=None, options=None)
    require_folders(SimpleNamespace(attach=[attached]))
    with duckdb.connect(str(file)) as vault:
        vault.execute("create table tokens (i int)")
        require_folders(SimpleNamespace(attach=[attached]))
    file.write_bytes(b"")
    require_folders(SimpleNamespace(attach=[attached]))


def test_folder_file_and_log_are_closed(session: duckdb.DuckDBPyConnection, root: Path) -> None:
    vault = root / "vault" / "vault.duckdb"
    attach(session, vault)
    session.execute("create table vault.person (name varchar)")
    log = Path(f"{vault}.wal")
    assert (mode(vault.parent), mode(vault), mode(log)) == ("0o755", "0o644", "0o644")
    protect(session, root)
    assert (mode(vault.parent), mode(vault), mode(log)) == ("0o700", "0o600", "0o600")
    assert mode(root / "warehouse") == "0o755"


def test_a_folder_that_is_a_link_is_closed_where_it_leads(
    session: duckdb.DuckDBPyConnection, root: Path
) -> None:
    (root / "elsewhere").mkdir()
    (root / "vault").rmdir()
    (root / "vault").symlink_to(root / "elsewhere")
    attach(session, root / "vault" / "vault.duckdb")
    protect(session, root)
    assert mode(root / "elsewhere") == "0o700"
    assert mode(root / "elsewhere" / "vault.duckdb") == "0o600"


@pytest.mark.parametrize(
    ("place", "holds"),
    [
        ("warehouse/vault.duckdb", "the warehouse"),
        ("vault.duckdb", "the dbt project"),
        ("release/vault.duckdb", "the release folder"),
        ("../vault.duckdb", "the dbt project"),
    ],
)
def test_a_folder_that_others_need_is_refused_and_left_as_it_is(
    session: duckdb.DuckDBPyConnection, root: Path, place: str, holds: str
) -> None:
    project = root / "project"
    project.mkdir()
    folder = root if place.startswith("..") else project
    (folder / place.removeprefix("../")).parent.mkdir(exist_ok=True)
    if "warehouse" in place:
        project = root
    attach(session, project / place)
    before = mode((project / place).resolve().parent)
    with pytest.raises(VaultError, match=f"also holds {holds}"):
        protect(session, project)
    assert mode((project / place).resolve().parent) == before


@pytest.mark.parametrize("folder", ["kept", "."])
def test_what_a_link_leads_to_is_closed_or_refused(root: Path, folder: str) -> None:
    """A link in the vault's folder says nothing about who reads what it leads to."""
    hidden = root / folder / "hidden.duckdb"
    hidden.parent.mkdir(exist_ok=True)
    duckdb.connect(str(hidden)).close()
    (root / "vault" / "vault.duckdb").symlink_to(hidden)
    with duckdb.connect(str(root / "warehouse" / "shop.duckdb")) as session:
        attach(session, root / "vault" / "vault.duckdb")
        if folder == ".":
            with pytest.raises(VaultError, match="folder of its own"):
                protect(session, root)
            return
        protect(session, root)
    assert (mode(hidden.parent), mode(hidden)) == ("0o700", "0o600")


def test_a_second_name_of_the_warehouse_is_refused(
    session: duckdb.DuckDBPyConnection, root: Path
) -> None:
    session.execute("checkpoint")
    (root / "vault" / "vault.duckdb").hardlink_to(root / "warehouse" / "shop.duckdb")
    try:
        attach(session, root / "vault" / "vault.duckdb")
    except duckdb.Error:
        pytest.skip("this version of DuckDB refuses it itself")
    with pytest.raises(VaultError, match="is also the warehouse"):
        protect(session, root)


def test_a_file_system_without_modes_is_refused(
    session: duckdb.DuckDBPyConnection, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attach(session, root / "vault" / "vault.duckdb")
    monkeypatch.setattr(Path, "chmod", lambda path, mode: None)
    with pytest.raises(VaultError, match="its mode is still 755"):
        protect(session, root)


def test_the_folder_of_somebody_else_is_refused(
    session: duckdb.DuckDBPyConnection, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    attach(session, root / "vault" / "vault.duckdb")
    monkeypatch.setattr(Path, "chmod", refuse)
    with pytest.raises(VaultError, match=r"Operation not permitted\). Let its owner run"):
        protect(session, root)


@pytest.mark.parametrize("path", [":memory:", None])
def test_a_vault_that_is_no_local_file_is_left_alone(root: Path, path: str | None) -> None:
    with duckdb.connect() as session:
        if path:
            session.execute(f"attach '{path}' as vault")
        protect_vault(
            session, vault="vault", warehouse="memory", project=str(root), release="release"
        )
    assert mode(root / "vault") == "0o755"


def test_rows_that_do_not_fit_into_memory_are_spilled_into_the_vault(
    session: duckdb.DuckDBPyConnection, root: Path
) -> None:
    """Beside the warehouse they would be in the analysts' folder, and stay there after a crash."""
    attach(session, root / "vault" / "vault.duckdb")
    protect(session, root)
    protect(session, root)  # of the second command of one process
    session.execute("set memory_limit = '40MB'")
    session.execute("set threads = 1")
    session.execute(
        "create temp table people as"
        " select 'person ' || i || sha256(i::varchar) as name from range(800000) numbers(i)"
    )
    spilled = session.execute("select path from duckdb_temporary_files()").fetchall()
    assert spilled
    assert {Path(path).parent for (path,) in spilled} == {root / "vault" / "vault.duckdb.tmp"}
    assert not (root / "warehouse" / "shop.duckdb.tmp").exists()


def test_a_place_for_spilled_rows_that_the_profile_sets_is_kept(
    session: duckdb.DuckDBPyConnection, root: Path
) -> None:
    attach(session, root / "vault" / "vault.duckdb")
    session.execute(f"set global temp_directory = '{root}/fast'")
    protect(session, root)
    found = session.execute("select current_setting('temp_directory')").fetchall()
    assert found == [(f"{root}/fast",)]


@pytest.mark.parametrize("before", [0o022, 0o077])
def test_files_are_private_until_the_end_of_a_command(before: int) -> None:
    """Closed several times, as by several models of the vault, and opened once."""
    from dbt.events.types import CommandCompleted
    from dbt_common.events.event_manager_client import cleanup_event_logger
    from dbt_common.events.functions import fire_event
    from dbt_common.events.types import Formatting

    # Of a command of another test that was never over.
    cleanup_event_logger()
    umask = os.umask(before)
    try:
        for _ in range(3):
            keep_files_private()
        fire_event(Formatting("a model is done"))
        assert os.umask(0o077) == 0o077
        fire_event(CommandCompleted(command="build", success=False, elapsed=1.0))
        assert os.umask(before) == before
    finally:
        cleanup_event_logger()
        os.umask(umask)


# The same through dbt, in a project that only installs the package.


def test_a_seed_with_identifiers_finds_the_vault_closed(tmp_path: Path) -> None:
    project = copy_with(tmp_path / "project", "members")
    vault = project.folder / "vault"
    assert mode(vault) == "0o755"
    before = os.umask(0o022)
    try:
        assert project.dbt("seed", "-s", "customers").succeeded
        assert os.umask(0o022) == 0o022, "the process goes on as before"
    finally:
        os.umask(before)
    assert (mode(vault), mode(vault / "vault.duckdb")) == ("0o700", "0o600")
    assert mode(project.folder / project.warehouse) == "0o644"
    (vault / "vault.duckdb").chmod(0o644)
    vault.chmod(0o755)
    assert project.dbt("seed", "-s", "customers").succeeded
    assert (mode(vault), mode(vault / "vault.duckdb")) == ("0o700", "0o600")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("alias", ["alias: Vault", "read_only: false"])
def test_the_vault_is_found_however_its_file_is_attached(tmp_path: Path, alias: str) -> None:
    """The database ignores case, and calls a file by its own name where it gets no other."""
    project = copy_with(tmp_path / "project")
    project.edit("profiles.yml", lambda text: text.replace("alias: vault", alias))
    assert project.dbt("seed", "-s", "customers").succeeded
    vault = project.folder / "vault"
    assert (mode(vault), mode(vault / "vault.duckdb")) == ("0o700", "0o600")


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("code", "ended"),
    [
        ("session.sql('from nowhere')", "nowhere does not exist"),
        ("signal.raise_signal(signal.SIGINT); time.sleep(1)", "keyboard interrupt"),
    ],
)
def test_a_process_goes_on_as_before_however_its_command_ends(
    tmp_path: Path, code: str, ended: str
) -> None:
    """Also where dbt is interrupted, and runs no hook any more."""
    project = copy_with(tmp_path / "project", "members")
    model = (
        "import signal\nimport time\n\n\n"
        f"def model(dbt, session):\n    {code}\n    return session.sql('select 1 as a')\n"
    )
    (project.folder / "models" / "failing.py").write_text(model, encoding="utf-8")
    before = os.umask(0o022)
    # A shell that starts the tests in the background has them ignore interrupts.
    interrupted = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        outcome = project.dbt("build", "-s", "customers", "failing")
        assert not outcome.succeeded
        assert ended in outcome.messages
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
        signal.signal(signal.SIGINT, interrupted)


def test_releases_and_warehouse_are_for_others_although_the_vault_is_not(
    built_consumer: Project,
) -> None:
    release = built_consumer.release_file("customers")
    open_to_others = (built_consumer.folder / built_consumer.warehouse, release)
    assert {mode(path) for path in open_to_others} == {"0o644"}
    assert {mode(path) for path in list(release.parents)[:2]} == {"0o755"}
    assert mode(built_consumer.folder / "vault" / "vault.duckdb") == "0o600"


def test_a_source_with_identifiers_in_the_warehouse_is_warned_of(
    built_consumer: Project, members: Project, tmp_path: Path
) -> None:
    """Once, and not where the source is in the vault, is a view, or names nobody."""
    rule = "identifiers stay out of the file that analysts open"
    project = built_consumer.copy(tmp_path / "open")
    models = project.folder / "models"
    microdata = (models / "customers" / "customers_microdata.sql").read_text(encoding="utf-8")
    changes = {
        "viewed": ("ref('customers')", "ref('people')"),
        "nameless": ("'identifiers': ['full name', 'e-mail']", "'identifiers': []"),
    }
    for name, (before, after) in changes.items():
        changed = microdata.replace("'anonymization': 'customers'", f"'anonymization': '{name}'")
        (models / f"{name}.sql").write_text(changed.replace(before, after), encoding="utf-8")
    (models / "people.sql").write_text("select * from {{ ref('customers') }}", encoding="utf-8")
    outcome = project.dbt("run", "-s", "people", "viewed", "nameless", "customers_microdata")
    (warning,) = [line for line in outcome.messages.splitlines() if rule in line]
    for part in (
        "WARNING",
        "anonymization customers:",
        '"shop"."main"."customers"',
        "`+database: vault`",
    ):
        assert part in warning
    assert outcome.status("viewed") == outcome.status("customers_microdata") == "success"
    outcome = members.dbt("run", "-s", "members_microdata")
    assert outcome.status("members_microdata") == "success"
    assert rule not in outcome.messages


def test_nothing_is_seeded_into_a_vault_in_the_wrong_place(tmp_path: Path) -> None:
    project = copy_with(tmp_path / "project", "members")
    project.edit(
        "profiles.yml", lambda text: text.replace("vault/vault.duckdb", "warehouse/vault.duckdb")
    )
    outcome = project.dbt("build")
    assert not outcome.succeeded
    assert "vault: the vault must be in a folder of its own" in outcome.messages
    assert outcome.statuses == {}, "nothing ran, no seed either"
    for file in (project.folder / "warehouse").iterdir():
        assert b"example.org" not in file.read_bytes()


def without_models(folder: Path) -> Project:
    """Give the project as it is before anybody has written a spec: seeds alone."""
    project = copy_with(folder, "members")
    for path in (project.folder / "models").rglob("*.*"):
        path.unlink()
    return project


def test_people_who_are_seeded_before_there_is_a_spec_find_the_vault_closed(tmp_path: Path) -> None:
    project = without_models(tmp_path / "project")
    assert project.dbt("seed", "-s", "customers").succeeded
    vault = project.folder / "vault"
    assert (mode(vault), mode(vault / "vault.duckdb")) == ("0o700", "0o600")


def test_a_project_that_stores_nothing_in_a_vault_keeps_its_modes(tmp_path: Path) -> None:
    """It may attach a file of this name for another purpose."""
    project = without_models(tmp_path / "project")
    project.edit("dbt_project.yml", lambda text: text.replace("{+database: vault}", "{}"))
    assert project.dbt("seed", "-s", "customers").succeeded
    assert mode(project.folder / "vault") == "0o755"


def test_the_release_is_written_into_the_project_from_wherever_dbt_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = copy_with(tmp_path / "project", "guests")
    for place in ("warehouse/shop.duckdb", "vault/vault.duckdb"):
        project.edit("profiles.yml", lambda text, p=place: text.replace(p, f"{project.folder}/{p}"))
    (tmp_path / "elsewhere").mkdir()
    elsewhere = Project(tmp_path / "elsewhere", project.warehouse)
    (tmp_path / "elsewhere" / "profiles.yml").symlink_to(project.folder / "profiles.yml")
    elsewhere.build("--project-dir", str(project.folder))
    assert project.release("guests")
    assert not (tmp_path / "elsewhere" / "release").exists()
