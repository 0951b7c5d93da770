"""Identifiers that were planted where others read are found, and told by number only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.results import release_file
from dbt_anonymize.spec import load_specs
from dbt_anonymize.verify import relations
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.identifiers import search_targets as places
from dbt_anonymize.verify.identifiers import text_variants as forms
from dbt_anonymize.verify.identifiers import values as identifier_values
from dbt_anonymize.verify.identifiers.content import check_content
from dbt_anonymize.verify.identifiers.search_targets import joined
from dbt_anonymize.verify.identifiers.values import spill_in_private
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
    assert subjects[:-4] == [
        f"visits_anonymized.{name}"
        for name in (
            *("age", "age_lower", "age_upper", "zip", "diagnosis", "cost", "note"),
            *{"class": ["cqi"], "token": ["token"], "none": []}[mapping],
        )
    ]
    assert subjects[-4:] == [RELEASE, "work.duckdb", "record key visit", "warehouse"]
    assert "120 short numbers as columns" in findings[-2].message
    assert all("240 values" in f.message for f in findings if f.subject != "record key visit")


def note(text: str) -> list[str]:
    return [f"update visits_anonymized set note = '{text}' where rowid = 9"]


@pytest.mark.parametrize(
    ("changes", "column", "identifier", "in_bytes"),
    [
        pytest.param(note(NAME), "note", "name", True, id="a whole cell"),
        pytest.param(note(f"called {NAME} twice"), "note", "name", True, id="a part of a text"),
        pytest.param(note(f"({NAME.upper()})"), "note", "name", True, id="in other letters"),
        pytest.param(note("01134960550077"), "note", None, False, id="other digits"),
        pytest.param(note("tel 011349605577"), "note", "phone", True, id="the digits in a text"),
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
                "update visits_anonymized set cost = -4411349605577 where rowid = 9",
            ],
            "cost",
            "phone",
            False,
            id="the digits inside a number",
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
        ("12345", "bigint", "012345"),
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
    assert "of name" in findings["work.duckdb"]
    assert "delete the file" in findings["work.duckdb"]


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
        "create table notes as select md5(i::varchar) || name || md5((i + 7)::varchar) as note "
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
        ("1980-05-17", "date '1980-05-17'"),
        ("1980-05-17 00:00:00", "timestamp '1980-05-17 09:30:00'"),
    ],
    ids=["number", "decimal", "uuid", "date", "timestamp"],
)
def test_columns_of_other_types_than_text_are_found_by_their_cells(
    honest: Callable[[Path], Clinic], tmp_path: Path, name: str, cell: str
) -> None:
    clinic = honest(tmp_path / "clinic")
    rename(clinic, name)
    in_warehouse(clinic, f"create table raw as select {cell} as cell")
    assert "1 of " in broken(search(clinic))["main.raw.cell"]


@pytest.mark.parametrize(
    ("name", "column"), [("+49 (113) 4960-5577", "visit"), ("1980-05-17", "age")]
)
def test_a_name_hides_a_column_in_working_tables_only(
    honest: Callable[[Path], Clinic], tmp_path: Path, name: str, column: str
) -> None:
    """These have the record key and raw quasi-identifiers; what others made has to bear them."""
    clinic = honest(tmp_path / "clinic")
    rename(clinic, name)
    cell = "4911349605577" if column == "visit" else "date '1980-05-17'"
    for table in ("visits_copy", "export"):
        in_warehouse(clinic, f"create table {table} as select {cell} as {column}")
    found = {place for place in broken(search(clinic)) if place.startswith("main.")}
    assert found == {f"main.export.{column}"}


def test_dense_numbers_are_not_taken_for_those_of_people(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    """A row number of six digits equals the member number of somebody, whoever made it."""
    clinic = honest(tmp_path / "clinic")
    with clinic.open() as warehouse:
        warehouse.rows("update vault.visits_identifiers set phone = visit * 137")
    in_warehouse(
        clinic, "create table rows as select 130000 + i as number from range(30000) as n(i)"
    )
    findings = search(clinic)
    assert broken(findings) == {}
    assert "120 times one cannot be told from chance" in findings[-1].message


NUMBERS = {
    # Of nobody, and as many as the vault has: visits are 1000 to 1119.
    "costs among the keys": "1000 + 13 * (rowid % 90) % 150",
    "costs of other size": "100 + rowid",
    "a few keys": "case when rowid < 9 then 1050 + rowid else rowid % 40 end",
    "keys": "1000 + rowid + case when rowid >= 7 then 1 else 0 end",
    "keys and others": "case when rowid % 12 = 5 then rowid else 1000 + rowid end",
}


@pytest.mark.parametrize("kind", ["double", "varchar"])
def test_short_record_keys_are_found_as_columns(
    honest: Callable[[Path], Clinic], tmp_path: Path, kind: str
) -> None:
    """One number among others says nothing; a column of such numbers is the record key."""
    clinic = honest(tmp_path / "clinic")
    column = "note" if kind == "varchar" else "cost"
    clinic.change_release(f"alter table visits_anonymized alter {column} type {kind}")
    found = {}
    for what, number in NUMBERS.items():
        clinic.change_release(f"update visits_anonymized set {column} = ({number})")
        found[what] = broken(search(clinic)).get(f"visits_anonymized.{column}", "")
    assert [what for what, message in found.items() if message] == ["keys", "keys and others"]
    assert "119 of visit" in found["keys"]


# Numbers of identifiers, from which a column is made: its own, and honest ones of the same size.
MEMBERS = "(visit * 7919) % 8999 + 1000"
SERIAL = "visit - 999"


@pytest.mark.parametrize(
    ("number", "planted", "twin"),
    [
        pytest.param(MEMBERS, MEMBERS, f"({MEMBERS}) * 31 % 8999 + 1000", id="scattered"),
        pytest.param(SERIAL, SERIAL, "(visit * 37) % 50", id="serial"),
        pytest.param("visit % 12", None, "(visit * 7) % 14", id="house numbers"),
        pytest.param("10 * visit", "10 * visit", "5000 + 10 * (visit % 70)", id="round"),
    ],
)
def test_short_numbers_of_identifiers_are_found_as_columns(
    honest: Callable[[Path], Clinic], tmp_path: Path, number: str, planted: str | None, twin: str
) -> None:
    clinic = honest(tmp_path / "clinic")
    with clinic.open() as warehouse:
        warehouse.rows(f"update vault.visits_identifiers set phone = {number}")
    released = {"planted": planted, "twin": twin}
    for what, sql in released.items():
        if sql is not None:
            visit = "(1000 + rowid)"
            clinic.change_release(
                f"update visits_anonymized set cost = ({sql.replace('visit', visit)})"
            )
            subjects = {"visits_anonymized.cost"} if what == "planted" else set()
            assert set(broken(search(clinic))) == subjects, what


def test_numbers_of_six_to_eight_digits_are_found_in_large_tables(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    """More than by chance, scattered or serial, but for what chance finds."""
    clinic = honest(tmp_path / "clinic")
    with clinic.open() as warehouse:
        warehouse.rows(
            "update vault.visits_identifiers set name = 200000 + visit, "
            "phone = 10000000 + (visit * 7654321) % 89999999"
        )
    in_warehouse(
        clinic,
        "create table members as select phone::bigint as number from vault.visits_identifiers, "
        "range(3) union all select 10000000 + (i * 1234577) % 89999999 from range(100000) as r(i)",
        "create table serials as select name::bigint as number from vault.visits_identifiers, "
        "range(5)",
        "create table amounts as select 10000000 + (i * 1234577) % 89999999 as number "
        "from range(200000) as r(i)",
        "create table rows as select 190000 + i as number from range(20000) as r(i)",
    )
    found = broken(search(clinic))
    assert set(found) == {"main.members.number", "main.serials.number"}
    assert "120 of phone" in found["main.members.number"]
    assert "120 of name" in found["main.serials.number"]


def test_a_copy_is_found_in_parts_of_the_values(
    honest: Callable[[Path], Clinic], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identifier_values, "values_at_once", lambda: 90)
    clinic = honest(tmp_path / "clinic")
    clinic.change_release(f"update visits_anonymized set cost = {NUMBERS['keys']}")
    assert "of visit" in broken(search(clinic))["visits_anonymized.cost"]


JSON = [
    ("Zo\u00eb Fran\u00e7ois", r'{"name": "Zo\u00eb Fran\u00E7ois"}'),
    ("Zo\u00eb Fran\u00e7ois", r'"{\"name\": \"ZO\\u00cb FRAN\\u00c7OIS\"}"'),
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
    places = {"visits_anonymized.note", RELEASE, "main.raw.note", "work.duckdb"}
    found = broken(search(clinic))
    # A short name is looked for in released cells only; what is escaped twice, in no bytes.
    expected = places if len(name) > 2 and "\\\\" not in text else {"visits_anonymized.note"}
    assert set(found) - {"main.raw.note"} == expected - {"main.raw.note"}
    assert ("main.raw.note" in found) == (len(name) > 2)


def test_a_backslash_is_no_escape_where_there_is_no_json(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    clinic = honest(tmp_path / "clinic")
    rename(clinic, "Able")
    for text in (r"C:\table\users", r"\uable", r'{"path": "C:\\stable"}'):
        clinic.change_release(*note(text))
        assert broken(search(clinic)) == {}


# Everybody was born on a day of her own, over sixty years.
BORN = "(date '1940-01-01' + (({}) * 7919 % 21900)::integer)"


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        ("date", "{}"),
        ("timestamp", "{} + interval 9 hour"),
        ("varchar", "'born ' || {}"),
        ("varchar", "strftime({}, '%Y/%m/%d')"),
        ("bigint", "strftime({}, '%Y%m%d')::bigint"),
    ],
    ids=["date", "timestamp", "text", "other separators", "number"],
)
def test_days_of_birth_are_found_but_not_those_that_chance_has(
    honest: Callable[[Path], Clinic], tmp_path: Path, kind: str, written: str
) -> None:
    clinic = honest(tmp_path / "clinic")
    with clinic.open() as warehouse:
        # Four of them are infants, born when the others were seen.
        infants = "(date '2024-03-01' + (visit % 10)::integer)"
        warehouse.rows(
            "update vault.visits_identifiers set name = "
            f"case when visit < 1004 then {infants} else {BORN.format('visit')} end"
        )
    seen = "(date '2024-01-01' + ((rowid * 7) % 180)::integer)"
    born = BORN.format("1000 + rowid")
    expected = {"visits_anonymized.note"}
    for day, subjects in ((seen, set()), (born, expected)):
        cell = written.format(day)
        clinic.change_release(
            f"alter table visits_anonymized alter note type {kind} using null",
            f"update visits_anonymized set note = {cell}",
            "checkpoint",
        )
        table = f"create or replace table days as select {cell} as day from range(119) as r(rowid)"
        in_warehouse(clinic, table)
        found = set(broken(search(clinic)))
        warehouse_too = {"main.days.day"} if subjects else set()
        assert found - {RELEASE, "work.duckdb"} == subjects | warehouse_too


def test_a_day_that_a_hierarchy_writes_or_a_raw_column_may_have_is_no_identifier(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    clinic = honest(tmp_path / "clinic")
    rename(clinic, "1980-01-01")
    label = "[1980-01-01, 1990-01-01)"
    in_warehouse(
        clinic,
        f"update ages set level_1 = '{label}' where lower_bound = 20",
        "create table visits_days as"
        " select date '1975-02-03' + i::integer as age from range(9) r(i)",
        "create table visits_numbers as"
        " select strftime(age, '%Y%m%d')::bigint as age from visits_days",
    )
    clinic.change_release(f"update visits_anonymized set age = '{label}' where rowid = 1")
    assert broken(search(clinic)) == {}
    # By itself it is nobody's label.
    clinic.change_release(*note("born 1980-01-01"))
    assert "visits_anonymized.note" in broken(search(clinic))
    rename(clinic, "1975-02-03")
    assert broken(search(clinic)) == {}


def test_a_day_of_a_raw_column_is_the_warehouse_s_own_and_not_the_release_s(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    clinic = honest(tmp_path / "clinic")
    rename(clinic, "1975-02-03")
    day = "'seen 1975-02-03 in ' || zip"
    with clinic.open() as warehouse:
        warehouse.rows(f"update vault.visits_source set zip = {day} where visit = 1009")
    in_warehouse(clinic, "update visits_microdata set zip = 'seen 1975-02-03' where visit = 1009")
    assert broken(search(clinic)) == {}
    # It was deleted, and stays in the bytes of the release and of what a build left behind.
    clinic.change_release(
        "create table raw as select '1975-02-03' as zip", "checkpoint", "drop table raw"
    )
    left = clinic.release.with_name(f".{clinic.release.name}.1")
    left.write_bytes(clinic.release.read_bytes())
    assert set(broken(search(clinic))) == {RELEASE, f"release/{left.name}"}


def test_raw_columns_are_read_in_batches(
    honest: Callable[[Path], Clinic], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There may be as many values as people."""
    read: list[int] = []

    def counted(cells: Sequence[str]) -> bytes:
        read.append(len(cells))
        return joined(cells)

    monkeypatch.setattr(relations, "_ROWS_AT_ONCE", 25)
    monkeypatch.setattr(places, "joined", counted)
    clinic = honest(tmp_path / "clinic")
    with clinic.open() as warehouse:
        days = "strftime(date '1975-01-01' + (visit - 1000)::integer, '%Y-%m-%d')"
        warehouse.rows(f"update vault.visits_source set zip = {days}")
        written = places.Written(warehouse, clinic.spec)
    first = date(1975, 1, 1).toordinal()
    assert set(range(first, first + 120)) <= set(written.days_in_warehouse.tolist())
    assert max(read) <= 25


def test_a_plain_text_is_not_written_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be the same, for each of millions of names."""
    for text in (
        "Ada/Lind",
        "Ada\\Lind",
        'Ada "Lind"',
        "Ada\x7fLind",
        "Ada\tLind",
        "Ad\u00e1 Lind",
    ):
        assert len({form.lower() for form, _ in forms.forms_in_bytes(text)}) > 1
    monkeypatch.setattr(forms.json, "dumps", None)
    assert [*forms.forms_in_bytes("Ada O'Lind-7 [~]")] == [("ada o'lind-7 [~]", False)]


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


def test_numbers_that_a_hierarchy_writes_are_no_identifiers_where_labels_are(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    """A bound of an interval may be the number of somebody: everybody may know it."""
    clinic = honest(tmp_path / "clinic")
    in_warehouse(clinic, "update ages set level_1 = '[1134960, 1134961)' where lower_bound = 20")
    with clinic.open() as warehouse:
        warehouse.rows("update vault.visits_identifiers set phone = '1134960' where visit = 1003")
        warehouse.rows("update vault.visits_source set phone = '1134960' where visit = 1003")
    clinic.change_release("update visits_anonymized set age = '[1134960, 1134961)' where rowid = 1")
    findings = search(clinic)
    assert broken(findings) == {}
    assert any("; 1 of them cannot be told from chance" in f.message for f in findings)
    clinic.change_release(*note("1134960"))
    assert "visits_anonymized.note" in broken(search(clinic))


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
