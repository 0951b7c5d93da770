"""Kinds of columns, recognized by name and by content."""

from __future__ import annotations

from typing import Any, cast

import duckdb
import pytest

from dbt_anonymize.errors import HierarchyError, SpecError
from dbt_anonymize.extensions.drafting.content import recognize_content
from dbt_anonymize.extensions.drafting.facts import ColumnFacts, Kind, kind_of, read_facts
from dbt_anonymize.extensions.drafting.guessed_target import target_guess_reason
from dbt_anonymize.extensions.drafting.names import name_indicates
from dbt_anonymize.extensions.drafting.plans import plan_hierarchy
from dbt_anonymize.extensions.drafting.proposal import KEY
from dbt_anonymize.extensions.drafting.refusals import check_table
from dbt_anonymize.extensions.drafting.roles import propose
from dbt_anonymize.extensions.drafting.subjects import may_share, propose_subject
from dbt_anonymize.project.warehouse import Warehouse
from tests.verify.clinic import SmallWarehouse


@pytest.mark.parametrize(
    ("values", "looks"),
    [
        (["a.b@example.org", "c@d.pt"], "e-mail addresses"),
        (["GB82 WEST 1234 5698 7654 32", "DE89370400440532013000"], "bank accounts (IBAN)"),
        (["GB82 WEST 1234 5698 7654 33", "DE89370400440532013001"], None),
        (["4111 1111 1111 1111", "5500005555555559"], "payment cards"),
        (["4111 1111 1111 1112"], None),
        (["12345678Z", "X1234567L"], "national numbers (Spain)"),
        (["12345678A"], None),
        (["078-05-1120"], "national numbers (United States)"),
        (["000-05-1120"], "phone numbers"),
        (["+351 912 345 678", "0049-30-1234567"], "phone numbers"),
        (["1234567", "7654321"], None),
        (["2024-01-31", "31.12.2023"], None),
        (["192.168.0.1", "10.0.0.7"], "addresses of machines (IP)"),
        (["f81d4fae-7dec-11d0-a765-00a0c91e6bf6"], "random identifiers (UUID)"),
        (["900150983cd24fb0d6963f7d28e17f72"], "hashes"),
        (["0xA9993E364706816ABA3E25717850C26C9CD0D89D"], "hashes"),
        (["qZk+NkcGgWq6PiVxeFDCbJzQ2J0=", "2jmj7l5rSw0yVb/vlWAYkK/YBwk="], "hashes"),
        (["8a3f09b1c27d4e56", "0b1f09b1c27d4e56"], "hashes"),
        (["1234567890123456", "6543210987654321"], None),
        (["a@b.org", "none", "none"], None),
        (["AKmtbLqAQ8W_mtb4HkF3Zw", "bLq1tK9-Q8W0mtb4HkF3Zg"], "hashes"),
        (["Ann Lind", "Bo", "Mr. John Q"], "names of people"),
        (["LIND, Ann", "DA SILVA, Maria"], "names of people"),
        (["never married", "married", "San Jose", "male"], None),
        ([], None),
    ],
)
def test_content_is_told_by_form_and_check_digits(values: list[str], looks: str | None) -> None:
    assert recognize_content(values) == looks


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Full name", "identifier"),
        ("e-mail", "identifier"),
        ("telefonnummer_mobile", "identifier"),
        ("birthDate", "quasi_identifier"),
        ("PLZ", "quasi_identifier"),
        ("diagnosis_code", "sensitive"),
        ("has_churned", "target"),
        ("internal note", "free_text"),
        ("customer_id", "key"),
    ],
)
def test_names_are_read_by_their_words(name: str, kind: str) -> None:
    assert name_indicates(name, kind)


def test_words_within_words_say_nothing() -> None:
    assert not name_indicates("package", "quasi_identifier")  # age
    assert not name_indicates("product_name", "identifier")


def facts(name: str, data_type: str = "varchar", distinct: int = 50, **more: Any) -> ColumnFacts:
    counts = {"records": 1000, "known": 1000, "distinct": distinct} | more
    return ColumnFacts(name, data_type, kind_of(data_type), **counts)


@pytest.mark.parametrize(
    ("column", "role", "is_decided"),
    [
        (facts("x", distinct=1), "dropped", True),
        (facts("x", known=0, distinct=0), "dropped", True),
        (facts("name"), "identifier", True),
        # Values outrank names, and keys and digests that repeat are identifiers.
        (facts("name", distinct=3, longest=9), "identifier", False),
        (facts("nurse", distinct=3, looks="names of people"), "identifier", True),
        (facts("email", distinct=2, longest=3), "sensitive", False),
        (facts("insurance", distinct=2), "sensitive", False),
        (facts("patient_no", "integer", distinct=60), "identifier", True),
        (facts("PatientID", "integer", distinct=8), "identifier", True),
        (facts("order_id", distinct=60), "identifier", True),
        (facts("car", distinct=60, looks="hashes"), "identifier", True),
        (facts("car", distinct=60, is_code=True, shortest=7, longest=7), "identifier", False),
        (facts("chart", "bigint", distinct=60, shortest=8, longest=9), "identifier", False),
        (facts("chart", "bigint", distinct=60, shortest=6, longest=6), "quasi_identifier", True),
        (facts("number_of_visits", "integer", distinct=20), "quasi_identifier", True),
        (facts("ward_id", "integer", distinct=20), "quasi_identifier", True),
        (facts("country_id", "integer", distinct=20), "quasi_identifier", True),
        (facts("household_id", distinct=400), "identifier", True),
        (facts("household", distinct=4), "quasi_identifier", True),
        (facts("doctor", distinct=4, longest=9), "identifier", False),
        (facts("treating_physician", distinct=60, longest=9), "identifier", False),
        (facts("x", distinct=950), "identifier", True),
        (facts("x", distinct=950, phrases=940), "dropped", True),
        (facts("x", distinct=400, longest=101), "dropped", True),
        (facts("zip"), "quasi_identifier", True),
        (facts("post-code", distinct=950, is_code=True), "quasi_identifier", True),
        (facts("city", distinct=950), "identifier", True),
        (facts("salary", "double"), "sensitive", True),
        (facts("x", "date"), "quasi_identifier", True),
        (facts("x", "timestamp", distinct=999), "insensitive", False),
        # In one release it tells who joined since the last.
        (facts("loaded_at", "timestamp", distinct=999), "dropped", True),
        (facts("_fivetran_synced", "timestamp with time zone"), "dropped", True),
        (facts("updatedAt", "date"), "dropped", True),
        (facts("admitted_at", "timestamp", distinct=999), "insensitive", False),
        (facts("loaded", "integer"), "quasi_identifier", True),
        (facts("x", "double", distinct=900), "quasi_identifier", True),
        (facts("x", "double", distinct=1000), "quasi_identifier", True),
        (facts("salary", "double", distinct=700), "quasi_identifier", True),
        (facts("rownames", "integer", distinct=980), "dropped", True),
        (facts("fnlwgt", "integer", distinct=700), "dropped", True),
        (facts("x", "bigint", distinct=1000), "identifier", True),
        (facts("x", "varchar[]"), "dropped", False),
        # A build takes neither: no rule reads an enumeration, no mask a time zone.
        (facts("x", "enum", distinct=2), "dropped", False),
        (facts("x", "timestamp with time zone", distinct=999), "dropped", False),
        (facts("x", "timestamp without time zone", distinct=999), "insensitive", False),
        (facts("x", "timestamp_ntz", distinct=999), "insensitive", False),
        (facts("x"), "quasi_identifier", True),
    ],
)
def test_a_role_is_proposed(column: ColumnFacts, role: str, is_decided: bool) -> None:
    key = facts("id", "bigint", distinct=1000)
    first, found = propose([key, column])
    assert first.role == KEY
    assert (found.role, found.is_decided) == (role, is_decided), found.reason
    assert found.reason


def test_whose_records_they_are_is_proposed_where_people_have_several() -> None:
    name, mail = facts("name", distinct=90), facts("mail", distinct=100, looks="e-mail addresses")
    key, own = facts("visit_id", "bigint", distinct=1000), facts("order_no", "integer", distinct=99)
    patient = facts("patient_no", "integer", distinct=990)

    def subject(*columns: ColumnFacts) -> str | None:
        found = propose_subject(propose([key, *columns]))
        return found and found.name

    assert subject(own, name, mail, patient) == "patient_no"
    assert subject(name, mail, own) == "order_no"
    assert subject(name, mail) == "mail"
    assert subject(name) == "name"
    unique = facts("mail", distinct=1000, looks="e-mail addresses")
    assert subject(name, unique) is None
    assert subject(name, facts("mail", known=970, distinct=970, looks="e-mail addresses")) is None
    assert subject(name, facts("patient_no", "integer", distinct=1000)) is None
    # A few share an address: still it tells people apart, and a name far less.
    nearly = facts("mail", distinct=980, looks="e-mail addresses")
    assert subject(facts("name", distinct=260), nearly) is None
    assert subject(facts("name", distinct=260), facts("seqn", "integer", distinct=1000)) is None
    assert subject(facts("seqn", "integer", distinct=300), name) == "seqn"
    looks = facts("nm", distinct=90, looks="names of people")
    assert subject(looks) == "nm"
    assert subject(looks, facts("patient_no", "integer", distinct=1000)) is None
    assert subject(name, facts("invoice_no", "integer", distinct=1000)) == "name"
    # Others share a first name or a telephone, and two people a name.
    assert subject(facts("first_name"), facts("phone"), facts("name", distinct=950)) is None
    assert subject(facts("patient_no", "integer", known=900, distinct=60)) is None
    assert subject(facts("patient_no", "integer", distinct=1000)) is None


def test_people_may_share_names_where_something_else_tells_them_apart() -> None:
    key, patient = facts("id", distinct=1000), facts("patient_no", "integer", distinct=1000)
    names = [facts("name", distinct=90), facts("nm", distinct=90, looks="names of people")]
    for column in (*names, facts("surname", distinct=90)):
        alone, beside = propose([key, column]), propose([patient, column])
        assert may_share(beside[1], beside)
        mails = propose([key, column, facts("mail", distinct=980, looks="e-mail addresses")])
        assert may_share(mails[1], mails)
        assert may_share(alone[1], alone) == (column.name == "surname")
    unique = propose([patient, facts("name", distinct=1000)])
    assert not may_share(unique[1], unique)
    mail = propose([patient, facts("mail", distinct=90, looks="e-mail addresses")])
    assert not may_share(mail[1], mail)


def test_facts_hold_no_value_of_an_enumeration() -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "create table stays as select i % 60 + 100000 as patient_no, "
            "md5((i % 9)::varchar) as car, cast(if(i % 2 = 0, 'Ann Lind', 'Bo (2)') "
            "as enum('Ann Lind', 'Bo (2)')) as nurse from range(600) as numbers(i)"
        )
        found = read_facts(cast(Warehouse, SmallWarehouse(connection, {})), "stays")
    assert [one.type for one in found] == ["bigint", "varchar", "enum"]
    assert [one.role for one in propose(found)] == ["identifier", "identifier", "dropped"]
    assert "Ann" not in repr(found)


def test_an_empty_text_is_no_code_among_codes_and_is_counted() -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "create table homes as select i as id, if(i % 4 = 0, '', (10001 + i)::varchar) as zip, "
            "uuid() as code from range(40) as t(i)"
        )
        found = read_facts(cast(Warehouse, SmallWarehouse(connection, {})), "homes")
    assert [one.empty for one in found] == [0, 10, 0]
    assert (found[1].is_code, found[1].shortest, found[1].known) == (True, 5, 40)


def test_the_target_is_the_column_called_so_else_the_last_of_few_classes() -> None:
    columns = [facts("id", distinct=1000), facts("churned", distinct=2), facts("x", distinct=4)]
    assert [one.is_target for one in propose(columns)] == [False, True, False]
    _, guessed = propose([columns[0], columns[2]])
    assert (guessed.role, guessed.is_target, guessed.is_decided) == ("sensitive", True, False)
    with_missing = facts("churned", distinct=2, known=999)
    assert not any(one.is_target for one in propose([columns[0], with_missing]))


@pytest.mark.parametrize(
    ("type_", "kind", "says"),
    [
        ("TIMESTAMP WITH TIME ZONE", "timestamp", "seen: must have no time zone"),
        ("timestamptz", "timestamp", "seen: must have no time zone"),
        ("FLOAT", "number", "seen: must be a number of eight bytes"),
        ("real", "number", "seen: must be a number of eight bytes"),
    ],
)
def test_no_hierarchy_is_drafted_that_a_build_refuses(type_: str, kind: Kind, says: str) -> None:
    facts = ColumnFacts("seen", type_, kind, 9, 9, 9)
    with pytest.raises(HierarchyError, match=says):
        plan_hierarchy(facts, None, "seed", "--ref t", "seeds")  # type: ignore[arg-type]


def test_the_target_that_is_asked_for_is_proposed() -> None:
    columns = [
        facts("key", "integer", 1000),
        facts("colour", distinct=4),
        facts("outcome", distinct=2),
    ]
    assert [one.name for one in propose(columns) if one.is_target] == ["outcome"]
    found = {one.name: one for one in propose(columns, "COLOUR")}
    assert (found["colour"].role, found["colour"].is_target) == ("sensitive", True)
    assert found["colour"].is_decided
    assert not found["outcome"].is_target
    (number,) = propose([facts("wage", "double", 700, singled=500)], "wage")
    assert number.reason.startswith("target, which models predict: a number; 700 values")
    assert "round it or make classes of it in a model before" in number.reason


@pytest.mark.parametrize(
    ("column", "why"),
    [
        (facts("other"), "there is no outcome"),
        (facts("outcome", known=0, distinct=0), "NULL everywhere"),
        (facts("outcome", distinct=1), "one value only"),
        (facts("outcome", distinct=1000), "1000 values in 1,000 records, each its own"),
        (facts("outcome", distinct=500), "500 classes, and models tell at most"),
        (facts("outcome", looks="phone numbers"), "look like phone numbers"),
        (facts("outcome", "date"), "cast it in a model before"),
    ],
)
def test_what_models_cannot_predict_is_refused_as_target(column: ColumnFacts, why: str) -> None:
    with pytest.raises(SpecError, match=why):
        propose([facts("key", "integer", 1000), column], "outcome")


@pytest.mark.parametrize("type_", ["double", "bigint"])
def test_a_number_of_which_each_has_its_own_is_predicted(type_: str) -> None:
    pay = facts("pay", type_, 1000, singled=1000)
    found = propose([facts("id", "integer", 1000), pay], "pay")
    assert [(one.role, one.is_target) for one in found] == [(KEY, False), ("sensitive", True)]
    assert "a number; 1,000 values" in found[1].reason


@pytest.mark.parametrize(
    ("name", "type_", "others"),
    [
        ("id", "integer", [facts("pay", "double", 1000)]),
        ("account_no", "bigint", [facts("id", "integer", 1000)]),
        ("number", "bigint", [facts("age", "integer", 60)]),
        ("token", "varchar", [facts("id", "integer", 1000)]),
    ],
)
def test_a_key_is_not_predicted(name: str, type_: str, others: list[ColumnFacts]) -> None:
    with pytest.raises(SpecError, match="each its own"):
        propose([*others, facts(name, type_, 1000)], name)


def test_what_follows_from_another_column_is_dropped() -> None:
    """Released as it is, a square would undo what is generalized of a number."""
    connection = duckdb.connect(":memory:")
    connection.execute(
        "create table people as select i as id, 20 + i % 30 as age, "
        "(20 + i % 30) * (20 + i % 30) as agesq, ln(1.0 + i % 11) as logwage, "
        "1 + i % 11 as wage, i % 2 = 0 as even, if(i % 3 = 0, null, i % 7) as visits, "
        "if(i % 3 = 1, null, i % 7) as calls, if(i % 3 = 0, null, 70 - i % 7) as left_over "
        "from range(6600) as t(i)"
    )
    facts = read_facts(cast(Warehouse, SmallWarehouse(connection, {})), "people")
    found = {one.name: one.follows for one in facts if one.follows}
    assert found == {
        "age": ("agesq",),
        "agesq": ("age",),
        "even": ("age", "agesq"),
        "logwage": ("wage",),
        "wage": ("logwage",),
        "visits": ("left_over",),
        "left_over": ("visits",),
    }
    roles = {one.name: one for one in propose(facts, "wage")}
    assert roles["agesq"].role == roles["logwage"].role == roles["left_over"].role == "dropped"
    assert roles["agesq"].reason == "it follows from age: each value of that has one of these"
    assert (roles["even"].role, roles["calls"].role) == ("dropped", "quasi_identifier")
    assert roles["wage"].is_target


def test_what_a_column_tells_of_another_is_seen_among_many_columns() -> None:
    """More pairs are alike in their numbers of values than are counted."""
    connection = duckdb.connect(":memory:")
    noise = ", ".join(f"hash(i + {n}000000) % {100 + n} as noise_{n}" for n in range(30))
    connection.execute(
        f"create table loans as select i % 90 as sub_grade, i % 90 // 30 as grade, {noise} "
        "from range(4000) as t(i)"
    )
    facts = read_facts(cast(Warehouse, SmallWarehouse(connection, {})), "loans")
    assert {one.name: one.follows for one in facts if one.follows} == {"grade": ("sub_grade",)}


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ([], "it has 0 columns"),
        ([facts("x")], "it has 1 column. Join"),
        ([facts("id;age;name")], "it has one, whose name holds `;`: its file was read with commas"),
        ([facts("id\tage")], "whose name holds tabs"),
        ([facts("x", records=0), facts("y", records=0)], "must hold records; it has none. Load"),
    ],
)
def test_tables_of_nothing_are_refused_in_a_line(columns: list[ColumnFacts], why: str) -> None:
    with pytest.raises(SpecError, match=why) as error:
        check_table("people", columns)
    assert "\n" not in str(error.value)


def test_of_three_hundred_columns_twelve_are_generalized() -> None:
    wide = [facts("id", "integer", 1000), *(facts(f"m{i}", "double", 40) for i in range(299))]
    found = propose([*wide, facts("churned", distinct=2)])
    assert sum(one.role == "quasi_identifier" for one in found) == 12
    assert "12 of 299 that others could know are kept" in found[-2].reason
    assert target_guess_reason(found[-1]) == "its name says so"


def test_an_identifier_is_refused_as_target() -> None:
    column = facts("patient_no", "integer", distinct=300)
    with pytest.raises(SpecError, match="must not be an identifier, which is never released"):
        propose([facts("key", "integer", 1000), column], "patient_no")
