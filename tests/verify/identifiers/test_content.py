"""Identifiers that were planted where others read are found, and told by number only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.results import release_file
from dbt_anonymize.spec import load_specs
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.identifiers import values as identifier_values
from dbt_anonymize.verify.identifiers.content import check_content
from dbt_anonymize.verify.relations import spill_in_private
from tests.projects import Project
from tests.verify.clinic import Clinic, broken, open_clinic, opened

# Somebody who is in the vault, and the number.
NAME, PHONE = "Person Dowsky-55", "0113 496055 77"
RELEASE = "release/visits.duckdb"


def search(clinic: Clinic) -> list[Finding]:
    with clinic.open() as warehouse:
        return check_content(warehouse, clinic.project, clinic.spec, release=clinic.release)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Clinic]:
    """Give copies of a clinic that nobody has spoiled."""
    clinic = open_clinic(tmp_path_factory.mktemp("honest") / "clinic")

    def copied(folder: Path) -> Clinic:
        (folder / "release").mkdir(parents=True)
        (folder / "vault").mkdir(mode=0o700)
        for name in ("work.duckdb", "vault/vault.duckdb", RELEASE):
            (folder / name).write_bytes((clinic.folder / name).read_bytes())
        return Clinic(folder, clinic.spec)

    return copied


@pytest.mark.parametrize("mapping", ["class", "token", "none"])
def test_nothing_is_found_where_nothing_was_planted(tmp_path: Path, mapping: str) -> None:
    findings = search(open_clinic(tmp_path / "clinic", mapping=mapping))
    assert broken(findings) == {}
    subjects = [finding.subject for finding in findings]
    assert subjects == [
        f"visits_anonymized.{name}"
        for name in (
            *("age", "age_lower", "age_upper", "zip", "diagnosis", "cost", "note"),
            *{"class": ["cqi"], "token": ["token"], "none": []}[mapping],
        )
    ] + [RELEASE, "work.duckdb", "coverage", "warehouse"]
    assert all("240 values" in finding.message for finding in findings)
    # Short record keys: any column of numbers has them.
    assert "0 record keys were searched for" in findings[-2].message
    assert "120 others are dates, numbers of" in findings[-2].message


def note(text: str) -> list[str]:
    return [f"update visits_anonymized set note = '{text}' where rowid = 9"]


@pytest.mark.parametrize(
    ("changes", "column", "identifier", "in_bytes"),
    [
        pytest.param(note(NAME), "note", "name", True, id="a whole cell"),
        pytest.param(note(f"called {NAME} twice"), "note", "name", True, id="a part of a text"),
        pytest.param(note(f"({NAME.upper()})"), "note", "name", True, id="in other letters"),
        pytest.param(note("01134960550077"), "note", None, False, id="other digits"),
        pytest.param(note("tel 011349605577"), "note", "phone", False, id="the digits in a text"),
        pytest.param(note("0113/49.60.55-77"), "note", "phone", False, id="other separators"),
        pytest.param(
            [f"update visits_anonymized set zip = '{NAME}' where rowid = 9"],
            "zip",
            "name",
            True,
            id="a label",
        ),
        pytest.param(
            ["update visits_anonymized set cqi = cqi || 'Person Dowsky-55' where rowid = 9"],
            "cqi",
            "name",
            True,
            id="the text of a class",
        ),
        pytest.param(
            [
                "alter table visits_anonymized alter cost type bigint",
                "update visits_anonymized set cost = 11349605577 where rowid = 9",
            ],
            "cost",
            "phone",
            False,
            id="the digits as a number",
        ),
        pytest.param(
            [
                "alter table visits_anonymized alter cost type decimal(20, 2)",
                "update visits_anonymized set cost = -11349605577 where rowid = 9",
            ],
            "cost",
            "phone",
            False,
            id="the digits as a negative decimal",
        ),
        pytest.param(
            [
                "alter table visits_anonymized alter cost type double",
                "update visits_anonymized set cost = 0.11349605577 where rowid = 9",
            ],
            "cost",
            None,
            False,
            id="a fraction is no phone number",
        ),
        pytest.param(
            [
                "alter table visits_anonymized alter note type varchar[] using [note]",
                "update visits_anonymized set note = ['x', 'Person Dowsky-55'] where rowid = 9",
            ],
            "note",
            "name",
            True,
            id="an element of a list",
        ),
    ],
)
def test_a_planted_value_is_found_in_its_column(
    honest: Callable[[Path], Clinic],
    tmp_path: Path,
    changes: list[str],
    column: str,
    identifier: str | None,
    *,
    in_bytes: bool,
) -> None:
    clinic = honest(tmp_path / "clinic")
    clinic.change_release(*changes, "checkpoint")
    findings = broken(search(clinic))
    if identifier is None:
        assert findings == {}
        return
    message = findings.pop(f"visits_anonymized.{column}")
    assert message.startswith(f"values of identifiers occur here: 1 of {identifier}. Remove")
    assert set(findings) <= {RELEASE}
    assert not in_bytes or RELEASE in findings
    assert not any("Dowsky" in text or "605577" in text for text in [message, *findings.values()])


def test_a_short_value_counts_as_a_whole_word(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    clinic = honest(tmp_path / "clinic")
    with clinic.open() as warehouse:
        warehouse.rows("update vault.visits_identifiers set name = ' Ada ' where visit < 1005")
        warehouse.rows("update vault.visits_identifiers set name = '  ' where visit = 1005")
    clinic.change_release(*note("adamant nevada Ada_x"))
    assert broken(search(clinic)) == {}
    clinic.change_release(*note("for ADA, too"))
    (message,) = broken(search(clinic)).values()
    assert message.startswith("values of identifiers occur here: 1 of name (1 of many people).")
    assert "give that column another role" in message


def test_letters_of_other_alphabets_are_compared_in_any_case_and_composition(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    clinic = honest(tmp_path / "clinic")
    with clinic.open() as warehouse:
        warehouse.rows(
            "update vault.visits_identifiers set name = 'Žofie Weißová' where visit = 1009"
        )
    for text in ("ŽOFIE WEISSOVÁ", "z\u030cofie wei\u00dfova\u0301"):
        clinic.change_release(*note(text))
        assert "visits_anonymized.note" in broken(search(clinic))


def rename(clinic: Clinic, text: str) -> None:
    with clinic.open() as warehouse:
        warehouse.rows(f"update vault.visits_identifiers set name = '{text}' where visit = 1009")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("Bo", text, id=f"short, {number}")
        for number, text in enumerate(
            [
                "\u201cBo\u201d",
                "Bo\u00a0Lind",
                "Bo\u2013Lind",
                "Bo\u2026",
                "seen\uff0cBo",
                "Bo\u2019s wife",
            ]
        )
    ]
    + [
        pytest.param("\u674e\u4f1f", "\u674e\u4f1f\u5148\u751f", id="without spaces"),
        pytest.param("Bo", "Bo\u5148\u751f", id="beside an alphabet without spaces"),
        pytest.param("ipek y\u0131lmaz", "\u0130PEK YILMAZ", id="dotted and dotless i"),
        pytest.param("Anna Maria Lund", "anna \u00a0maria  lund", id="other spaces"),
        pytest.param("Anna Lund", "An\u00adna Lund", id="a soft hyphen"),
    ],
)
def test_punctuation_and_alphabets_hide_no_name(
    honest: Callable[[Path], Clinic], tmp_path: Path, name: str, text: str
) -> None:
    clinic = honest(tmp_path / "clinic")
    rename(clinic, name)
    clinic.change_release(*note(text))
    assert "1 of name" in broken(search(clinic))["visits_anonymized.note"]


def test_letters_with_marks_and_parts_of_words_are_no_short_name(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    clinic = honest(tmp_path / "clinic")
    rename(clinic, "Bo")
    for text in ("Bo\u030a", "B\u00f6", "\u00e9bo", "bon"):
        clinic.change_release(*note(text))
        assert broken(search(clinic)) == {}


def test_a_label_in_another_writing_and_a_comment_are_found(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    clinic = honest(tmp_path / "clinic")
    rename(clinic, "Bo")
    clinic.change_release(
        "update visits_anonymized set zip = '0113-496055/77' where rowid = 9",
        "comment on column visits_anonymized.note is 'for Bo'",
    )
    found = broken(search(clinic))
    assert "1 of phone" in found["visits_anonymized.zip"]
    assert "1 of name" in found["visits_anonymized (comments and defaults)"]


@pytest.mark.parametrize(
    ("number", "type_", "phone"),
    [
        ("12345600000000000", "double", "1234 5600 0000 00000"),
        ("12345678", "bigint", "0012345678"),
    ],
    ids=["a number with an exponent", "leading zeros"],
)
def test_a_number_is_written_in_many_ways(
    honest: Callable[[Path], Clinic], tmp_path: Path, number: str, type_: str, phone: str
) -> None:
    clinic = honest(tmp_path / "clinic")
    rename(clinic, phone)
    clinic.change_release(
        f"alter table visits_anonymized alter cost type {type_}",
        f"update visits_anonymized set cost = {number} where rowid = 9",
    )
    assert "1 of name" in broken(search(clinic))["visits_anonymized.cost"]


def test_the_record_key_is_in_no_released_cell_and_byte(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    clinic = honest(tmp_path / "clinic")
    with clinic.open() as warehouse:
        for table in ("visits_identifiers", "visits_source"):
            warehouse.rows(
                f"alter table vault.{table} alter visit type varchar "
                "using 'P-1001-' || lpad((visit - 1000)::varchar, 6, '0')"
            )
    # Analysts have it, in working tables.
    in_warehouse(clinic, "create table keys as select visit from vault.visits_source")
    assert broken(search(clinic)) == {}
    clinic.change_release(*note("file P-1001-000009"), "checkpoint")
    found = broken(search(clinic))
    assert set(found) == {"visits_anonymized.note", RELEASE}
    assert all("occur here: 1 of visit." in message for message in found.values())


def in_warehouse(clinic: Clinic, *statements: str) -> None:
    with duckdb.connect(str(clinic.warehouse_file)) as connection:
        connection.execute(f"attach '{clinic.vault_file}' as vault (read_only)")
        for sql in statements:
            connection.execute(sql)


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
        findings = check_content(warehouse, clinic.project, clinic.spec, release=clinic.release)
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
    """Where the number of a person is the record key, too."""
    clinic = honest(tmp_path / "clinic")
    rename(clinic, "+49 (113) 4960-5577")
    for table in ("visits_copy", "export"):
        in_warehouse(clinic, f"create table {table} as select 4911349605577 as visit")
    assert set(broken(search(clinic))) == {"main.export.visit"}


JSON = [
    ("Zo\u00eb Fran\u00e7ois", r'{"name": "Zo\u00eb Fran\u00E7ois"}'),
    ('Ada "Bo" Lind', r'{"name": "Ada \"Bo\" Lind"}'),
    ("12/7 North Lane", r'{"address": "12\/7 North Lane"}'),
    ("Bo", r'{"note": "for\nBo"}'),
    ("Bo", r'{"note": "for B\u006f"}'),
]


@pytest.mark.parametrize(("name", "text"), JSON, ids=range(len(JSON)))
def test_escapes_of_json_hide_no_name(
    honest: Callable[[Path], Clinic], tmp_path: Path, name: str, text: str
) -> None:
    clinic = honest(tmp_path / "clinic")
    rename(clinic, name)
    in_warehouse(clinic, "create table raw as select '" + text + "' as note")
    clinic.change_release(*note(text), "checkpoint")
    assert set(broken(search(clinic))) >= {"visits_anonymized.note", "main.raw.note"}


def test_a_backslash_is_no_escape_where_there_is_no_json(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    clinic = honest(tmp_path / "clinic")
    rename(clinic, "Able")
    for text in (r"C:\table\users", r"\uable", r'{"path": "C:\\stable"}'):
        clinic.change_release(*note(text))
        assert broken(search(clinic)) == {}


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
        check_content(warehouse, clinic.project, clinic.spec, release=clinic.release)
    read = [sql for sql in asked if "visits_identifiers" in sql or "distinct" in sql]
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
    """What dbt built: the release is honest, but analysts can read the seed."""
    monkeypatch.setenv("DBT_PROFILES_DIR", str(built_consumer.folder))
    project = find_project(built_consumer.folder)
    (spec,) = load_specs(built_consumer.folder, ["customers"])
    with opened(built_consumer) as warehouse:
        path = built_consumer.folder / release_file(warehouse, "customers")
        findings = check_content(warehouse, project, spec, release=path)
    found = broken(findings)
    assert set(found) == {
        "warehouse/shop.duckdb",
        "main.customers.full name",
        "main.customers.e-mail",
    }
    assert not any("@example.org" in message for message in found.values())
