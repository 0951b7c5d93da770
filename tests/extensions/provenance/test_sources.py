"""Sources of dbt, files that they name and snapshots are followed as models are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dbt_anonymize.extensions.provenance.check import provenance_findings
from dbt_anonymize.extensions.provenance.compiled import Relation
from dbt_anonymize.extensions.provenance.origins import Provenance
from dbt_anonymize.spec.models import Spec
from tests.extensions.provenance.leaks.clinic import SPEC
from tests.extensions.provenance.test_provenance import PEOPLE, broken, problems, relations

READER = 'select smoker from "clinic"."main"."people"'


def test_the_model_is_followed_where_a_dbt_source_names_its_relation() -> None:
    source = Relation("raw.people", "source", ("clinic", "main", "people"), columns=PEOPLE)
    made = relations("select * replace (name as smoker) from {r}", source)
    reader = Relation("reader", "model", ("clinic", "main", "reader"), READER, ("smoker",))
    followed = Provenance(replace(made, by_name={**made.by_name, "reader": reader}))
    assert followed.derivation("reader", "smoker").origins == {("registry", "name")}


@pytest.mark.parametrize(
    ("made", "column", "role", "expected"),
    [
        ({}, "dbt_scd_id", "dropped", {}),
        ({}, "dbt_scd_id", "insensitive", {"people.dbt_scd_id": "the record key"}),
        ({}, "dbt_valid_from", "insensitive", {}),
        # By the strategy `timestamp` that is the time of the source: here one of an identifier.
        ({"dbt_valid_from": ("ssn",)}, "dbt_valid_from", "dropped", {}),
        ({"dbt_valid_from": ("ssn",)}, "dbt_valid_from", "insensitive",
         {"people.dbt_valid_from": "the identifier ssn"}),
        # By a strategy of the project, nobody knows.
        ({"dbt_scd_id": None}, "dbt_scd_id", "dropped", {"people.dbt_scd_id": "not followed"}),
        # What upstream does not have any more may be anything.
        ({}, "gone", "insensitive", {"people.gone": "not followed"}),
    ],
)  # fmt: skip
def test_columns_that_a_snapshot_adds_are_followed(
    made: dict[str, Any], column: str, role: str, expected: dict[str, str]
) -> None:
    known = {"dbt_scd_id": ("visit_id || '-'",), "dbt_valid_from": (), **made}
    added = {name: parts for name, parts in known.items() if parts is not None}
    columns = (*PEOPLE, "dbt_scd_id", "dbt_valid_from", "gone")
    snapshot = relations("select * from {r}", kind="snapshot", columns=columns, added=added)
    declared = SPEC["columns"] | {column: {"role": role}}
    found = broken(provenance_findings(snapshot, Spec.model_validate(SPEC | {"columns": declared})))
    assert found.keys() == expected.keys()
    assert all(text in found[subject] for subject, text in expected.items())


@pytest.mark.parametrize(
    ("location", "sql"),
    [
        ("'data/People.csv'", "select * from 'data/People.csv'"),
        ("'data/People.csv'", "select people.* from 'data/People.csv'"),
        ("'data/People.csv'", "select p.* from 'data/People.csv' as p left join {r} as r"
         " on p.visit_id = r.visit_id"),
        ("read_csv('People.csv', header = true)",
         "with a as (select * from read_csv('People.csv', header = true)) select * from a"),
        ("read_parquet(['a', 'b'])", "select q.* from read_parquet(['a', 'b'])"
         " as q (visit_id, name, ssn, age, zip, smoker, diagnosis)"),
        ("(select * from read_json('a.json'))",
         "select * from (select * from read_json('a.json')) as p"),
    ],
)  # fmt: skip
def test_files_that_a_dbt_source_names_are_followed(location: str, sql: str) -> None:
    place = ("clinic", "raw", "people")
    external = Relation("raw.people", "source", place, columns=PEOPLE, external=location)
    assert problems(sql, external) == {}
    told = problems(f"select * replace (md5(ssn) as smoker) from ({sql}) as made", external)
    assert "ssn of raw.people" in told.pop("people.smoker")
    assert told == {}
    others = problems(sql.replace("People", "people2").replace("'a", "'c"), external)
    assert all("which is no relation of the project" in text for text in others.values())
    assert len(others) == len(PEOPLE)
