"""The key `table` of a spec: what it needs, and what it refuses before anything is computed."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_anonymize.project.generate import render
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.rules import violations

HIDE = {"method": "hide"}
NOISE = {"method": "noise", "variance": 2.0, "largest": 5}


def spec(more: dict[str, Any] | None = None, **table: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "name": "visits",
        "source": {"ref": "visits_source"},
        "record_key": "visit",
        "columns": {
            "name": {"role": "identifier"},
            "age": {
                "role": "quasi_identifier",
                "hierarchy": {"ref": "ages", "kind": "interval", "levels": 3},
            },
            "ward": {"role": "insensitive"},
            "cost": {"role": "sensitive"},
        },
        "table": {"dimensions": ["age", "ward"], "efforts": [HIDE], **table},
        **(more or {}),
    }


def test_a_table_needs_nothing_of_records() -> None:
    declared = Spec.model_validate(spec())
    names = {name.removeprefix("visits_") for name in render(declared)}
    assert names == {
        *("_visits.yml", "microdata.sql", "frequencies.sql"),
        *(f"table{end}" for end in (".sql", "_cells.sql", "_draws.sql", "_labels.sql")),
        *("table_efforts.py", "table_results.sql"),
    }
    assert not declared.awaits_search
    without_python = {name.removeprefix("visits_") for name in render(declared, has_python=False)}
    assert {"table_efforts.sql", "fingerprint.sql"} <= without_python


def test_the_minimum_frequency_is_what_a_cell_must_have_in_every_check() -> None:
    declared = Spec.model_validate(spec(minimum_frequency=7))
    assert declared.largest_k == 7


def test_what_is_released_is_in_the_fingerprint() -> None:
    one, other = (Spec.model_validate(spec(minimum_frequency=least)) for least in (5, 6))
    assert one.fingerprint != other.fingerprint
    assert one.digest != other.digest


def test_a_time_limit_makes_no_other_protection() -> None:
    table: Any = Spec.model_validate(spec(efforts=[{"method": "hide", "seconds": 9}])).model_dump()
    assert table["table"]["efforts"][0]["seconds"] == 9
    declared: Any = Spec.model_validate(spec(efforts=[{"method": "hide", "seconds": 9}, NOISE]))
    assert [one.protection for one in declared.table.efforts] == [
        "hide",
        "noise (variance 2.0, largest 5)",
    ]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "records beside it": (
        spec({"efforts": [{"age": 1}]}),
        "must stand without efforts: counts of released classes would give hidden cells away",
    ),
    "another guarantee": (
        spec(
            {
                "guarantees": {
                    "k_anonymity": {"k": 5},
                    "l_diversity": {"attribute": "cost", "l": 2, "variant": "distinct"},
                }
            }
        ),
        "must have no other guarantee and no consent",
    ),
    "freeze": (
        spec({"freeze": True}),
        "freeze: must not stand beside table: the effort that released a table is kept anyway. "
        "Remove it.",
    ),
    "files of records": (
        spec({"release": {"formats": ["duckdb", "csv"], "composition": "strict", "effort": 1}}),
        "release: must have access and composition alone beside table: what else it says is of "
        "records; got formats, effort. Remove it",
    ),
    "an unknown dimension": (
        spec(dimensions=["agee"]),
        "table.dimensions: must be columns of role quasi_identifier, sensitive or insensitive, "
        "without mask; got 'agee'. Did you mean age?",
    ),
    "an identifier": (spec(dimensions=["name"]), "table.dimensions: must be columns of role"),
    "a sum of a quasi-identifier": (
        spec(dimensions=["ward"], sums=["age"]),
        "table.sums: must be columns of role sensitive or insensitive",
    ),
    "a column twice": (spec(sums=["ward"]), "table: must name each column once; got ward"),
    "a margin of another column": (
        spec(shows=[["age", "cost"]]),
        "table.shows.1: must name dimensions; got 'cost'",
    ),
    "a margin twice": (
        spec(shows=[["age", "ward"], ["ward", "age"]]),
        "table.shows.2: must differ from the others",
    ),
    "a question of a margin that is not shown": (
        spec(shows=[["age"]], questions=[{"share": "ward"}]),
        "table.questions.1: must ask for cells that are shown; no margin of shows is [ward]",
    ),
    "a question of no measure": (
        spec(questions=[{"share": "ward", "of": "cost"}]),
        "table.questions.1.of: must be a measure; got 'cost'",
    ),
    "noise on sums": (
        spec(sums=["cost"], efforts=[NOISE]),
        "table.efforts.1: must hide where sums are shown, since noise and rounding are of counts",
    ),
    "the root": (
        spec(efforts=[{"method": "hide", "levels": {"age": 3}}]),
        "table.efforts.1.levels.age: must be a level below the root of its hierarchy, 0 to 2",
    ),
    "a level of a column without one": (
        spec(efforts=[{"method": "hide", "levels": {"ward": 1}}]),
        "table.efforts.1.levels: must be levels of dimensions that have a hierarchy; got 'ward'",
    ),
    "noise on records": (
        spec({"subject": "name"}, counts="records", efforts=[HIDE, NOISE]),
        "table.efforts.2: must hide where records are counted: a person may have more of them",
    ),
    "records without a subject": (
        spec(counts="records"),
        "table.counts: must be people where no subject has several records",
    ),
    "a question of people who are not shown": (
        spec({"subject": "name"}, counts="records", questions=[{"rank": "ward", "of": "people"}]),
        "table.questions.1.of: must be a measure; got 'people'. Measures are records.",
    ),
    "an effort twice": (
        spec(efforts=[HIDE, dict(HIDE)]),
        "table.efforts.2: must differ from effort 1",
    ),
    "a name of a contribution": (
        spec(
            {"columns": {**spec()["columns"], "cost_First": {"role": "insensitive"}}},
            dimensions=["cost_First"],
            sums=["cost"],
        ),
        "must leave to the table the names of its own columns; got cost_First",
    ),
    "a k of its own": (
        spec({"guarantees": {"k_anonymity": {"k": 3}}}),
        "must have no other guarantee and no consent",
    ),
    "a name of its own": (
        spec(
            {"columns": {"people": {"role": "insensitive"}, "age": spec()["columns"]["age"]}},
            dimensions=["people", "age"],
        ),
        "table: must leave to the table the names of its own columns; got people",
    ),
}


FREEZE = pytest.param("freeze", marks=pytest.mark.needs("second_month"))


@pytest.mark.parametrize("name", [*(name for name in REFUSED if name != "freeze"), FREEZE])
def test_it_is_refused(name: str) -> None:
    content, message = REFUSED[name]
    assert any(message in str(problem) for problem in violations(content)), [
        str(problem) for problem in violations(content)
    ]
    with pytest.raises(ValueError, match="must"):
        Spec.model_validate(content)


def test_one_mistake_has_one_message() -> None:
    """A table is not told what a frozen effort of records needs."""
    freeze = violations(spec({"freeze": True, "subject": "name"}))
    assert [problem.path for problem in freeze] == [("freeze",)]


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ({"efforts": []}, "efforts"),
        ({"efforts": [{"method": "blur"}]}, "efforts"),
        ({"minimum_frequency": 1}, "minimum_frequency"),
        ({"questions": [{"share": "age", "rank": "age"}]}, "questions"),
        ({"dimensions": []}, "dimensions"),
    ],
)
def test_a_malformed_table_is_named_by_its_key(table: dict[str, Any], key: str) -> None:
    with pytest.raises(ValueError, match=key):
        Spec.model_validate(spec(**table))


def test_columns_of_tables_may_have_any_name_where_there_is_none() -> None:
    """As may columns that a table does not show."""
    columns = {**spec()["columns"], "status": {"role": "insensitive"}, "value": {"role": "dropped"}}
    Spec.model_validate(spec({"columns": columns}))
    records = spec({"columns": columns, "guarantees": {"k_anonymity": {"k": 5}}})
    del records["table"]
    assert not [problem for problem in violations(records) if "columns" in str(problem)]


def test_a_spec_without_a_table_still_needs_its_guarantees() -> None:
    content = spec()
    del content["table"]
    with pytest.raises(ValueError, match="guarantees"):
        Spec.model_validate(content)
