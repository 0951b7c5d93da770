"""Identifiers in the bytes of files and in columns of any type."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.extensions.identifier_search import values as identifier_values
from dbt_anonymize.extensions.identifier_search.content import check_content
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.results import release_file
from dbt_anonymize.spec import load_specs
from dbt_anonymize.verify.checked import Checked
from dbt_anonymize.verify.relations import spill_in_private
from tests.extensions.identifier_search.searching import (
    NAME,
    in_warehouse,
    rename,
    search,
    search_in,
)
from tests.projects import Project
from tests.verify.clinic import Clinic, broken, open_clinic, opened

pytestmark = pytest.mark.costly


def test_a_table_that_was_dropped_stays_in_the_bytes_of_the_warehouse(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    clinic = honest(tmp_path / "clinic")
    in_warehouse(
        clinic,
        "create table t as from vault.visits_source",
        "checkpoint",
        # Behind it, so that the file cannot simply end earlier.
        "create table more as from range(100000)",
        "checkpoint",
        "drop table t",
        "checkpoint",
    )
    findings = broken(search(clinic))
    assert set(findings) == {"work.duckdb"}
    message = findings["work.duckdb"]
    assert "120 of name, 120 of phone (240 of these in no cell" in message
    assert "build into a new database file" in message


def test_digits_across_neighbouring_values_are_no_number(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    """DuckDB stores the values of a column side by side, here 01067 and 01097."""
    clinic = honest(tmp_path / "clinic")
    with clinic.open() as warehouse:
        warehouse.rows(
            "update vault.visits_identifiers set phone = '10670109' || visit % 10, "
            "name = 'order ' || visit * 13"
        )
    in_warehouse(
        clinic,
        "create table codes as select ['01067', '01097'][1 + i % 2] || i as code "
        "from range(10) as numbers(i)",
        "create table texts as select 'order ' || visit * 13 + 1 as text from visits_microdata",
        "checkpoint",
    )
    assert broken(search(clinic)) == {}


def test_a_name_beside_others_is_found_and_a_part_of_a_longer_one_is_not(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    """In bytes both are inside a longer word; a cell tells that one of them is not a name."""
    clinic = honest(tmp_path / "clinic")
    rename(clinic, "Anna Smith")
    in_warehouse(clinic, "create table doctors as select 'Hanna Smithson' as doctor", "checkpoint")
    assert broken(search(clinic)) == {}
    in_warehouse(
        clinic,
        "drop table doctors",
        "create table mixed as from (values ('seen'), ('Anna Smith'), ('to be seen')) as t(note)",
        "checkpoint",
        "create table more as from range(100000)",
        "checkpoint",
        "drop table mixed",
    )
    found = broken(search(clinic))
    assert set(found) == {"work.duckdb"}
    assert "1 of name (1 of these in no cell" in found["work.duckdb"]


def test_what_was_not_yet_written_into_the_file_is_found_in_its_log(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    clinic = honest(tmp_path / "clinic")
    with clinic.open() as warehouse:
        warehouse.rows("set checkpoint_threshold = '1 GB'")
        warehouse.rows(f"create table work.t as select '{NAME}' as note")
        warehouse.rows("drop table work.t")
        findings = search_in(warehouse, clinic)
    assert set(broken(findings)) == {"work.duckdb.wal"}


def test_a_table_that_is_compressed_is_found_by_its_cells(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    clinic = honest(tmp_path / "clinic")
    in_warehouse(
        clinic,
        "create table notes as "
        "select concat_ws(' ', md5(i::varchar), name, md5((i + 7)::varchar)) as note "
        "from vault.visits_source, range(300) as numbers(i)",
        "checkpoint",
    )
    assert NAME.encode() not in clinic.warehouse_file.read_bytes()
    findings = broken(search(clinic))
    assert "120 of name" in findings["main.notes.note"]
    assert "Keep the table in the vault" in findings["main.notes.note"]


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        (NAME, "11349605577::bigint"),
        (NAME, "-11349605577::decimal(18, 2)"),
        ("550e8400-e29b-41d4-a716-446655440000", "'550E8400-e29b-41d4-a716-446655440000'::uuid"),
    ],
    ids=["number", "decimal", "uuid"],
)
def test_columns_of_other_types_than_text_are_found_by_their_cells(
    honest: Callable[[Path], Clinic], tmp_path: Path, name: str, cell: str
) -> None:
    clinic = honest(tmp_path / "clinic")
    rename(clinic, name)
    in_warehouse(clinic, f"create table raw as select {cell} as cell")
    assert "1 of " in broken(search(clinic))["main.raw.cell"]


def test_working_tables_have_the_record_key_and_others_do_not(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    """The number of a person may be the record key, too."""
    clinic = honest(tmp_path / "clinic")
    rename(clinic, "+49 (113) 4960-5577")
    for table in ("visits_copy", "export"):
        in_warehouse(clinic, f"create table {table} as select 4911349605577 as visit")
    assert set(broken(search(clinic))) == {"main.export.visit"}


def test_what_does_not_fit_into_memory_is_spilled_where_nobody_else_reads(tmp_path: Path) -> None:
    clinic = open_clinic(tmp_path / "clinic", mapping="none")
    with clinic.open() as warehouse:
        warehouse.rows(f"set temp_directory = '{clinic.warehouse_file}.tmp'")
        spill_in_private(warehouse)
        ((folder,),) = warehouse.rows("select current_setting('temp_directory')")
    assert not Path(folder).is_relative_to(clinic.folder)
    assert Path(folder).stat().st_mode & 0o777 == 0o700


def test_every_value_and_every_column_is_read_once(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    clinic = honest(tmp_path / "clinic")
    asked: list[str] = []

    class Cursor:
        def __init__(self, connection: Any) -> None:
            self.connection = connection

        def execute(self, sql: str, *arguments: Any) -> Any:
            asked.append(sql)
            return self.connection.execute(sql, *arguments)

        def cursor(self) -> Cursor:
            return Cursor(self.connection.cursor())

        def __getattr__(self, name: str) -> Any:
            return getattr(self.connection, name)

    with clinic.open() as warehouse:
        small: Any = warehouse
        small.connection = Cursor(small.connection)
        search_in(warehouse, clinic)
    of_values = [sql for sql in asked if not sql.startswith("describe ")]
    read = [sql for sql in of_values if "visits_identifiers" in sql or "distinct" in sql]
    assert len(read) == len(set(read))
    assert sum("visits_identifiers" in sql for sql in read) == 1


def test_values_are_searched_for_in_parts(
    honest: Callable[[Path], Clinic], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identifier_values, "values_at_once", lambda: 50)
    clinic = honest(tmp_path / "clinic")
    clinic.change_release(
        "update visits_anonymized set note = 'Person Dowsky-55' where rowid = 9",
        "update visits_anonymized set note = 'Person Aowsky-0' where rowid = 10",
    )
    findings = search(clinic)
    assert "2 of name" in broken(findings)["visits_anonymized.note"]
    assert any("none of 240 values" in finding.message for finding in findings)


def test_a_vault_without_values_proves_nothing(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    clinic = honest(tmp_path / "clinic")
    with clinic.open() as warehouse:
        warehouse.rows("delete from vault.visits_identifiers")
    assert "nothing was searched for" in broken(search(clinic))["identifiers"]


def test_without_a_release_there_is_no_proof(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    clinic = honest(tmp_path / "clinic")
    clinic.release.unlink()
    with pytest.raises(VerificationError, match="there is none"):
        search(clinic)


def test_a_source_that_was_loaded_into_the_warehouse_is_found(
    built_consumer: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build may load the source: the release is honest, but analysts can read the seed."""
    monkeypatch.setenv("DBT_PROFILES_DIR", str(built_consumer.folder))
    project = find_project(built_consumer.folder)
    (spec,) = load_specs(built_consumer.folder, ["customers"])
    with opened(built_consumer) as warehouse:
        path = built_consumer.folder / release_file(warehouse, "customers")
        findings = check_content(Checked(warehouse, warehouse, project, spec, path, content=None))
    found = broken(findings)
    assert set(found) == {
        "warehouse/shop.duckdb",
        "main.customers.full name",
        "main.customers.e-mail",
    }
    assert not any("@example.org" in message for message in found.values())
