"""The middle of each interval, which a release has for charts where its spec asks for it."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest
from pydantic import ValidationError

from dbt_anonymize.project.generate import generate
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.contract import released_types
from dbt_anonymize.verify.recomputation.midpoints import _midpoint
from tests.commands.conftest import command
from tests.projects import Project
from tests.spec.declarations import spec

MIDPOINTS = {"release": {"midpoints": True}}
LABELS = "anonymizations/customers.yml"
# Intervals of the release of the consumer project, and their middles.
MIDDLES = [
    ("*", None),
    ("1950-1969", "1960-01-01"),
    ("1970-1989", "1980-01-01"),
    ("1990-1999", "1995-01-01"),
]


def test_they_come_after_the_bounds_whatever_the_effort() -> None:
    declared, without = (Spec.model_validate(spec(**more)) for more in (MIDPOINTS, {}))
    assert declared.midpoints == {"age_midpoint": "age"}
    before = without.released_columns
    place = before.index("age_upper") + 1
    assert declared.released_columns == [*before[:place], "age_midpoint", *before[place:]]
    assert declared.fingerprint == without.fingerprint
    assert without.midpoints == {}


def test_a_column_of_the_source_with_such_a_name_is_refused_only_then() -> None:
    content = spec()
    content["columns"]["age_midpoint"] = {"role": "insensitive"}
    assert Spec.model_validate(content).midpoints == {}
    with pytest.raises(ValidationError, match="the name of a column that we add for age"):
        Spec.model_validate(content | MIDPOINTS)


@pytest.mark.parametrize(
    ("kind", "expected"), [("integer", "float8"), ("date", "date"), ("timestamp", "timestamp")]
)
def test_a_contract_knows_their_types(kind: str, expected: str) -> None:
    content = spec(**MIDPOINTS)
    for name, column in content["columns"].items():
        if column["role"] != "identifier" and name != "city":
            column["data_type"] = kind if name == "age" else "integer"
    types = released_types(Spec.model_validate(content))
    assert types["age_midpoint"] == expected
    assert list(types) == Spec.model_validate(content).released_columns


@pytest.mark.parametrize(
    ("kind", "lower", "upper", "middle"),
    [
        ("integer", "20", "25", "22.5::double"),
        ("integer", "-2147483647", "2147483647", "0::double"),
        ("decimal(4, 2)", "0.10", "0.30", "0.2::double"),
        ("date", "'2000-01-01'", "'2000-01-04'", "'2000-01-02'::date"),
        ("date", "'1950-01-01'", "'1950-01-01'", "'1950-01-01'::date"),
        ("timestamp", "'2000-01-01'", "'2000-01-02'", "'2000-01-01 12:00'::timestamp"),
    ],
)
def test_verify_computes_the_middle(kind: str, lower: str, upper: str, middle: str) -> None:
    def rows(label: str) -> str:
        return f"select '{label}' as a, {lower}::{kind} as a_lower, {upper}::{kind} as a_upper"

    with duckdb.connect() as session:
        types = {row[0]: str(row[1]) for row in session.execute(f"describe {rows('x')}").fetchall()}
        found = session.execute(
            f"select {_midpoint('a', types)} = {middle} from ({rows('x')})"
        ).fetchall()
        root = session.execute(f"select {_midpoint('a', types)} from ({rows('*')})").fetchall()
    assert found == [(True,)]
    assert root == [(None,)]


@pytest.mark.sampled_tests(group="builds")
def test_a_build_publishes_them_and_verify_compares_them(consumer: Project) -> None:
    """Middles of dates, in file and copies; `*` has none."""
    release = "\nrelease: {midpoints: true, formats: [duckdb, csv], about: {}}\n"
    consumer.edit(LABELS, lambda text: text + release)
    assert generate(consumer.folder)
    consumer.build("--select", "customers_anonymized")
    file = consumer.release_file("customers")
    query = (
        "select distinct birth_date, cast(birth_date_midpoint as varchar) from {} "
        "order by birth_date"
    )

    def rows(sql: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(file), read_only=True) as connection:
            return connection.execute(sql).fetchall()

    assert rows(query.format("customers_anonymized")) == MIDDLES
    copy = file.with_suffix(".csv")
    assert rows(query.format(f"read_csv('{copy}', all_varchar = true)")) == MIDDLES
    assert rows(
        "select comment from duckdb_columns() where column_name = 'birth_date_midpoint'"
    ) == [("Middle of the interval of birth_date, for charts; NULL for `*`.",)]
    verified = command(consumer, "verify", "customers", "--check", "recomputation")
    assert verified.exit_code == 0, verified.output
    with duckdb.connect(str(file)) as connection:
        connection.execute(
            "update customers_anonymized set birth_date_midpoint = '1960-01-02' "
            "where birth_date = '1950-1969'"
        )
    changed = command(consumer, "verify", "customers", "--check", "recomputation")
    assert changed.exit_code == 1
