"""Forty columns as tables of people have them, with the roles that a privacy officer would give."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from typing import Any, cast

import duckdb
import pytest

from dbt_anonymize.extensions.drafting.facts import read_facts
from dbt_anonymize.extensions.drafting.proposal import Proposal
from dbt_anonymize.extensions.drafting.roles import decide_all, propose
from dbt_anonymize.project.warehouse import Warehouse
from tests.verify.clinic import SmallWarehouse

RECORDS = 400
RELEASED = {"insensitive", "sensitive", "quasi_identifier"}


def of(*values: Any) -> Callable[[random.Random, int], Any]:
    """Return a generator that draws from a few values."""
    return lambda draw, _: draw.choice(values)


def digest(draw: random.Random, _: int) -> str:
    """Return a digest of one of eighty people."""
    return hashlib.sha256(str(draw.randrange(80)).encode()).hexdigest()


# Name, type, the right role, values; those that name a person are identifiers or dropped.
CHECKLIST: list[tuple[str, str, str, Callable[[random.Random, int], Any]]] = [
    ("rownames", "integer", "record_key", lambda _, i: i),
    ("customer", "varchar", "identifier", of("Ann Lind", "Bo Chen", "Maria da Silva", "Eva Roy")),
    ("contact", "varchar", "identifier", lambda d, _: f"u{d.randrange(90)}@example.org"),
    ("mobile", "varchar", "identifier", lambda d, _: f"+351 91{d.randrange(10**7):07}"),
    ("car", "varchar", "identifier", digest),
    ("session", "uuid", "identifier", lambda d, _: f"{d.getrandbits(128):032x}"),
    ("patient_no", "integer", "identifier", lambda d, _: 700 + d.randrange(90)),
    ("iban", "varchar", "identifier", of("DE89370400440532013000", "GB82WEST12345698765432")),
    ("nurse", "varchar", "identifier", of("Sara", "Tiago", "Wei")),
    ("remarks", "varchar", "dropped", lambda d, _: f"call {d.random()} again and ask"),
    ("survey", "varchar", "dropped", of("2024")),
    ("perweight", "integer", "dropped", lambda d, _: 1000 + d.randrange(5000)),
    ("obs", "integer", "dropped", lambda _, i: i + 1 if i else 1),
    ("born", "date", "quasi_identifier", lambda d, _: f"{d.randrange(1930, 2005)}-03-{5}"),
    ("age", "integer", "quasi_identifier", lambda d, _: d.randrange(18, 90)),
    ("agesq", "integer", "dropped", lambda _, i: i),
    ("zip", "varchar", "quasi_identifier", lambda d, _: f"{10000 + d.randrange(60) * 97}"),
    ("lat", "double", "quasi_identifier", lambda d, _: 40 + d.random()),
    ("fml", "integer", "quasi_identifier", of(0, 1)),
    ("maritl", "varchar", "quasi_identifier", of("married", "never married", "widowed")),
    ("hhsize", "integer", "quasi_identifier", of(1, 2, 3, 4, 5)),
    ("numkids", "integer", "quasi_identifier", of(0, 1, 2, 3)),
    ("educ", "integer", "quasi_identifier", lambda d, _: d.randrange(8, 20)),
    ("ethnic", "varchar", "quasi_identifier", of("a", "b", "c")),
    ("jobclass", "varchar", "quasi_identifier", of("industrial", "information")),
    ("smsa", "integer", "quasi_identifier", of(0, 1)),
    ("insurance", "varchar", "quasi_identifier", of("yes", "no")),
    ("smoker", "boolean", "quasi_identifier", of(True, False)),
    ("city", "varchar", "quasi_identifier", of("San Jose", "Porto", "Lyon", "Graz")),
    (
        "clinic_name",
        "varchar",
        "quasi_identifier",
        lambda d, _: f"Clinic {d.choice('ABCDEFGHIJKL')}",
    ),
    ("salary", "double", "quasi_identifier", lambda d, _: round(d.lognormvariate(10, 1), 2)),
    ("inc", "integer", "sensitive", of(1, 2, 3, 4, 5)),
    ("hlth", "integer", "sensitive", of(1, 2, 3, 4, 5)),
    ("diagnosis", "varchar", "sensitive", of("I10", "E11", "J45", "C50")),
    ("vote", "varchar", "sensitive", of("A", "B", "U")),
    ("religion", "varchar", "sensitive", of("none", "other", "x")),
    ("prior_arrests", "integer", "sensitive", of(0, 1, 2, 3)),
    ("disability", "varchar", "sensitive", of("yes", "no")),
    ("churned", "varchar", "sensitive", of("yes", "no")),
    (
        "seen",
        "timestamp",
        "insensitive",
        lambda d, _: f"2024-0{d.randrange(1, 9)}-03 10:{d.randrange(60)}",
    ),
]


@pytest.fixture(scope="module")
def proposed() -> dict[str, Proposal]:
    """Return what is taken of the columns, a table of thirteen others at a time."""
    draw = random.Random(20)
    rows = [[make(draw, i) for *_, make in CHECKLIST] for i in range(RECORDS)]
    names = [name for name, *_ in CHECKLIST]
    for row in rows:
        row[names.index("agesq")] = row[names.index("age")] ** 2
    with duckdb.connect() as connection:
        columns = ", ".join(f'"{name}" {kind}' for name, kind, *_ in CHECKLIST)
        connection.execute(f"create table people ({columns})")
        places = ", ".join("?" * len(CHECKLIST))
        connection.executemany(f"insert into people values ({places})", rows)
        found = read_facts(cast(Warehouse, SmallWarehouse(connection, {})), "people")
    by_name = {one.name: one for one in found}
    key, target = by_name.pop("rownames"), by_name.pop("churned")
    others = list(by_name.values())
    tables = [[key, *others[start : start + 13], target] for start in range(0, len(others), 13)]
    return {one.name: one for table in tables for one in decide_all(propose(table))}


def test_of_forty_columns_thirty_six_have_their_right_roles(proposed: dict[str, Proposal]) -> None:
    assert len(CHECKLIST) == 40
    wrong = {
        name: (proposed[name].role, right, proposed[name].reason)
        for name, _, right, _ in CHECKLIST
        if proposed[name].role != right
    }
    assert len(wrong) <= 4, wrong
    assert proposed["churned"].is_target


def test_nothing_that_names_a_person_is_released(proposed: dict[str, Proposal]) -> None:
    naming = [name for name, _, right, _ in CHECKLIST if right == "identifier"]
    assert len(naming) == 8
    assert not [name for name in (*naming, "remarks") if proposed[name].role in RELEASED]
