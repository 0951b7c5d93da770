"""Identifiers that were planted where others read are found, and told by number only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dbt_anonymize.extensions.identifier_search.places import cells_place
from dbt_anonymize.extensions.identifier_search.values import identifier_values
from dbt_anonymize.spec import Spec
from tests.extensions.identifier_search.searching import NAME, RELEASE, in_warehouse, rename, search
from tests.verify.clinic import SPEC, Clinic, broken, open_clinic
from tests.worlds.specs import INSENSITIVE

pytestmark = pytest.mark.sampled_tests(10)


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
    ] + [RELEASE, "work.duckdb", "coverage", "warehouse", "row by row"]
    assert all("240 values" in finding.message for finding in findings[:-1])
    # Each line names what it was about, and none what was not searched for.
    assert "none of 240 values of name, phone occurs here" in findings[0].message
    # Short record keys: any column of numbers has them.
    coverage, _, compared = (finding.message for finding in findings[-3:])
    assert "0 record keys were searched for" in coverage
    assert "120 values of visit were not: dates, numbers of" in coverage
    assert compared.startswith(
        "3 of 3 kept columns do not tell any of name, phone, visit, age, zip"
    )
    assert "in more of 120 records than by chance" in compared


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
        for table in ("vault.visits_identifiers", "vault.visits_source", "visits_microdata"):
            warehouse.rows(
                f"alter table {table} alter visit type varchar "
                "using 'P-1001-' || lpad((visit - 1000)::varchar, 6, '0')"
            )
    # Analysts have it, in working tables.
    in_warehouse(clinic, "create table keys as select visit from vault.visits_source")
    assert broken(search(clinic)) == {}
    clinic.change_release(*note("file P-1001-000009"), "checkpoint")
    found = broken(search(clinic))
    assert set(found) == {"visits_anonymized.note", RELEASE}
    assert all("occur here: 1 of visit." in message for message in found.values())


def test_what_is_too_short_to_be_searched_for_is_claimed_nowhere(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    clinic = honest(tmp_path / "clinic")
    with clinic.open() as warehouse:
        for table in ("visits_identifiers", "visits_source"):
            warehouse.rows(f"update vault.{table} set name = 'Ann ' || chr((65 + visit % 9)::int)")
            warehouse.rows(f"alter table vault.{table} alter phone type int using visit * 7")
    found = {finding.subject: finding.message for finding in search(clinic)}
    assert "none of 9 values of name occurs here" in found["visits_anonymized.note"]
    # Bytes are searched for eight or more.
    assert "work.duckdb" not in found
    assert "120 values of phone, visit were not" not in found["coverage"]
    assert "240 values of phone, visit were not" in found["coverage"]


@pytest.mark.parametrize("made", ["visit + 7", "visit", "(2000 - visit) * 3"])
def test_a_kept_column_is_compared_with_identifiers_row_by_row(
    honest: Callable[[Path], Clinic], tmp_path: Path, made: str
) -> None:
    clinic = honest(tmp_path / "clinic")
    with clinic.open() as warehouse:
        warehouse.rows(f"update work.visits_microdata set cost = {made}")
        warehouse.rows("update work.visits_microdata set note = reverse(visit::varchar)")
    found = broken(search(clinic))
    assert set(found) == {"visits_anonymized.cost", "visits_anonymized.note"}
    for message in found.values():
        assert message.startswith("must not tell the record key visit: it ")
        assert "in 120 of 120 records (" in message
    cost = INSENSITIVE | {"derived_from": ["visit", "name", "phone"]}
    declared = Spec.model_validate(SPEC | {"columns": SPEC["columns"] | {"cost": cost}})
    findings = search(replace(clinic, spec=declared))
    assert set(broken(findings)) == {"visits_anonymized.note"}
    assert "Not compared, as it is declared: cost with name" in findings[-1].message


def test_a_kept_column_that_tells_a_quasi_identifier_is_warned_of(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    clinic = honest(tmp_path / "clinic")
    with clinic.open() as warehouse:
        warehouse.rows("update work.visits_microdata set cost = 2026 - age")
    warned = [finding for finding in search(clinic) if finding.is_warning]
    assert [finding.subject for finding in warned] == ["visits_anonymized.cost"]
    assert warned[0].message.startswith(
        "tells the quasi-identifier age, ungeneralized: it is it but"
    )
    assert "in 119 of 119 records" in warned[0].message


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


def test_numbers_too_short_to_be_searched_for_are_counted_and_cells_are_not_read(
    honest: Callable[[Path], Clinic], tmp_path: Path
) -> None:
    """Nothing is read for nothing: a million record keys took as long as all other checks."""
    clinic = honest(tmp_path / "clinic")
    with clinic.open() as warehouse:
        warehouse.rows("alter table vault.visits_identifiers alter visit type uinteger")
        columns = ("phone", "name")
        for name in columns:
            warehouse.rows(f"update vault.visits_identifiers set {name} = '1'")
        with identifier_values(warehouse, clinic.spec) as parts:
            (values,) = parts
    assert (list(values.texts), values.left_out) == ([], {"phone": 1, "name": 1, "visit": 120})

    def read() -> list[list[str]]:
        raise AssertionError

    place = cells_place("a.b", "", read, has_keys=True)
    assert place.search(values.patterns(place.variants)).tolist() == []
