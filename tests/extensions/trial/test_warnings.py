"""Warnings of `dbt-anonymize try` before a release, of what a person should decide."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import NamedTuple

import duckdb
import pytest

from dbt_anonymize.extensions.drafting.commands.aim import Aim
from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.extensions.drafting.proposal import Proposal
from dbt_anonymize.extensions.drafting.roles import propose
from dbt_anonymize.extensions.trial.commands.tried import guessed_text, singled_by_sensitive
from dbt_anonymize.extensions.trial.commands.try_output import (
    dropped,
    follow_up_times,
    known_to_you_alone,
    warnings,
)


def undisputed(drafted: SimpleNamespace) -> SimpleNamespace:
    """Return a trial that has nothing to warn of but what is drafted."""
    aim = SimpleNamespace(time="days")
    return SimpleNamespace(
        aim=aim,
        drafted=drafted,
        guessed="",
        times=[],
        copies=[],
        open_identifiers=[],
        singled=(0, 0),
    )


@pytest.mark.parametrize(("records", "is_said"), [(12, True), (9, False), (0, False)])
def test_sensitive_columns_that_single_out_together_are_said(
    records: int, *, is_said: bool
) -> None:
    drafted = SimpleNamespace(failed={}, proposals=[], target=None)
    tried = undisputed(drafted)
    tried.singled, tried.counted = (3, records), SimpleNamespace(table=SimpleNamespace(total=1000))
    said = [*warnings(tried)]  # type: ignore[arg-type]
    assert [line.partition(" Who knows")[0] for line in said] == [
        "The 3 sensitive columns are released as they are, and together single out 12 of 1,000 "
        "records."
    ] * is_said


def test_records_that_are_alone_with_sensitive_values_are_counted() -> None:
    with duckdb.connect() as session:
        session.execute(
            "create table people as select * from (values (1, 'a'), (1, 'a'), (1, null), "
            "(2, null), (2, null), (3, 'a')) as t(ill, \"it's\")"
        )
        warehouse = SimpleNamespace(rows=lambda sql: session.execute(sql).fetchall())
        spec = SimpleNamespace(columns=dict.fromkeys(("ill", "it's"), Column("sensitive")))
        assert singled_by_sensitive(warehouse, "people", spec) == (2, 2)  # type: ignore[arg-type]
        spec.columns["it's"] = Column("dropped")
        assert singled_by_sensitive(warehouse, "people", spec) == (1, 0)  # type: ignore[arg-type]


def test_a_column_that_no_hierarchy_fits_is_not_left_out_in_silence() -> None:
    reason = "hierarchy must keep these rules:\n  - it has at least one value\nCorrect those lines."
    drafted = SimpleNamespace(failed={"cigs": reason}, proposals=[], target=None)
    assert [*warnings(undisputed(drafted))] == [  # type: ignore[arg-type]
        "cigs is left out, since no hierarchy fits. hierarchy must keep these rules: - it has at "
        "least one value Correct those lines."
    ]


class Column(NamedTuple):
    """A column of which only the role is asked for."""

    role: str


@pytest.mark.parametrize(("name", "is_warned"), [("age", True), ("wages", False), ("zip", True)])
def test_a_target_that_others_know_is_said(name: str, is_warned: bool) -> None:
    """It is released as it is, whatever k is."""
    target = SimpleNamespace(name=name, is_telling=False)
    drafted = SimpleNamespace(failed={}, proposals=[], target=target)
    tried = undisputed(drafted)
    said = [*warnings(tried)]  # type: ignore[arg-type]
    assert [line.startswith(f"{name} is released as it is") for line in said] == [True] * is_warned


def test_times_beside_the_classes_are_said() -> None:
    said = []
    for kind, mask in (("timestamp", "{truncate: quarter}"), ("timestamp", None), ("date", None)):
        facts = ColumnFacts("seen", kind, kind, 90, 90, 90)  # type: ignore[arg-type]
        proposal = Proposal(facts, "insensitive", "", mask=mask)
        drafted = SimpleNamespace(failed={}, proposals=[proposal], target=None)
        tried = undisputed(drafted)
        said += warnings(tried)  # type: ignore[arg-type]
    assert [line for line in said if "to the quarter" in line] == [
        "seen is released to the quarter, beside what k counts. If others could know the day, cast "
        "it to a date in a dbt model before: dates are generalized."
    ]


def test_values_of_one_record_are_said() -> None:
    """Of a number to round, and of a class to merge with others."""
    said = []
    for kind, singled in (("number", 14), ("text", 1)):
        facts = ColumnFacts("visits", kind, kind, 90, 90, 15, singled=singled)  # type: ignore[arg-type]
        target = Proposal(facts, "sensitive", "", is_target=True)
        drafted = SimpleNamespace(failed={}, proposals=[target], target=target)
        tried = undisputed(drafted)
        said += warnings(tried)  # type: ignore[arg-type]
    assert said == [
        "visits is released as it is: 14 records have a value that no other has. Who knows it "
        "finds them, whatever k is. Round visits in a dbt model before.",
        "visits is released as it is: 1 record has a value that no other has. Who knows it "
        "finds them, whatever k is. Merge rare values of visits in a dbt model before.",
    ]


@pytest.mark.parametrize(
    ("predict", "drop", "expected"),
    [
        ("religious", (), ""),
        (
            None,
            (),
            "religious is guessed (no name says so, but it is the last sensitive column of few "
            "classes): name it, or another column, such as --predict had_affair or rating.",
        ),
        (
            None,
            ("had_affair", "rating"),
            "religious is guessed (no name says so, but it is the last sensitive column of few "
            "classes): --predict names another.",
        ),
    ],
)
def test_a_guessed_target_is_said_with_the_others_that_it_could_be(
    predict: str | None, drop: tuple[str, ...], expected: str
) -> None:
    """Also with those that a draft of this target drops, since they follow from a column."""
    facts = [
        ColumnFacts("id", "int", "number", 90, 90, 90, singled=90),
        ColumnFacts("rating", "int", "number", 90, 90, 5),
        ColumnFacts("age", "int", "number", 90, 90, 6),
        ColumnFacts("religious", "int", "number", 90, 90, 4),
        ColumnFacts("affairs", "double", "number", 90, 90, 77),
        ColumnFacts("had_affair", "text", "text", 90, 90, 2, follows=("affairs",)),
    ]
    proposals = propose(facts, predict, drop=drop)
    drafted = SimpleNamespace(
        failed={}, proposals=proposals, target=next(one for one in proposals if one.is_target)
    )
    said = guessed_text(Aim(predict=predict, drop=drop), drafted)  # type: ignore[arg-type]
    assert said == expected
    tried = undisputed(drafted)
    tried.guessed = said
    assert [*warnings(tried)][:1] == [said] * bool(said)  # type: ignore[arg-type]


def test_values_of_one_record_of_several_columns_are_said_in_a_line() -> None:
    columns = [
        ColumnFacts(name, kind, kind, 90, 90, 15, singled=singled)  # type: ignore[arg-type]
        for name, kind, singled in (("hr", "number", 24), ("job", "text", 1), ("bmi", "number", 3))
    ]
    proposals = [Proposal(one, "sensitive", "") for one in columns]
    drafted = SimpleNamespace(failed={}, proposals=proposals, target=None)
    assert [*warnings(undisputed(drafted))] == [  # type: ignore[arg-type]
        "hr, bmi are released as they are: 24, 3 records have a value that no other has. Who knows "
        "one of them finds them, whatever k is. Round them in a dbt model before.",
        "job is released as it is: 1 record has a value that no other has. Who knows it finds "
        "them, whatever k is. Merge rare values of job in a dbt model before.",
    ]


@pytest.mark.parametrize(
    ("levels", "is_said"),
    [
        (
            {"age": ["by 5", "*"], "afb": ["as it is", "*"], "sho": ["*", "*"], "c": ["*", "x"]},
            True,
        ),
        ({"age": ["*", "by 5"], "afb": ["*", "*"], "sho": ["*", "*"], "c": ["*", "x"]}, False),
        ({"age": ["by 5", "*"], "gender": ["*", "*"], "c": ["*", "by 5"]}, False),
    ],
)
def test_where_most_is_given_up_columns_that_others_may_not_know_are_said(
    levels: dict[str, list[str]], *, is_said: bool
) -> None:
    """Nobody can know it of names that say nothing; of the balanced alternative it is said."""
    alternatives = [SimpleNamespace(names=("more-use",)), SimpleNamespace(names=("balanced",))]
    tried = SimpleNamespace(trial=SimpleNamespace(alternatives=alternatives))
    assert [*known_to_you_alone(tried, levels)] == [  # type: ignore[arg-type]
        "3 of 4 columns are `*` in balanced. Are some known to you alone? They need no hiding: "
        "--sensitive afb,sho"
    ] * is_said


def test_columns_are_dropped_for_reasons() -> None:
    facts = [ColumnFacts(name, "int", "number", 90, 90, 15) for name in ("a", "b", "c", "d")]
    reasons = ["too many; 15 values", "too many; 3 values", "it follows from x: each", "left out"]
    proposals = [Proposal(f, "dropped", r) for f, r in zip(facts, reasons, strict=True)]
    kept = Proposal(replace(facts[0], name="e"), "sensitive", "")
    assert dropped([*proposals, kept]) == {
        "too many": ["a", "b"],
        "it follows from x": ["c"],
        "left out": ["d"],
    }


@pytest.mark.parametrize(
    ("time", "classes", "is_said"), [(None, 2, True), ("futime", 2, False), (None, 300, False)]
)
def test_a_feature_that_may_be_the_time_until_the_target_is_said(
    time: str | None, classes: int, *, is_said: bool
) -> None:
    died = ColumnFacts("died", "int", "number", 900, 900, classes)
    proposals = [
        Proposal(ColumnFacts(name, "int", "number", 900, 900, 500), "quasi_identifier", "")
        for name in ("futime", "age")
    ]
    tried = SimpleNamespace(
        aim=SimpleNamespace(time=time),
        drafted=SimpleNamespace(target=Proposal(died, "sensitive", ""), proposals=proposals),
        spec=SimpleNamespace(features=("futime", "age")),
    )
    assert [*follow_up_times(tried)] == [  # type: ignore[arg-type]
        "futime may be the time until died, or until a person was last seen, known only with it. "
        "Predict the time: --time futime; or leave it out: --drop futime"
    ] * is_said
