"""`dbt-anonymize results` names the released value whose records are left out most."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import duckdb
import pytest

from dbt_anonymize.extensions.left_out.outliers import (
    Group,
    LeftOut,
    absent_text,
    find_absent,
    find_outlier,
    most_left_out,
    note_left_out,
)
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from tests.cli.conftest import run
from tests.projects import Project
from tests.spec.declarations import SPEC, spec
from tests.worlds.specs import categories


@pytest.mark.parametrize(
    ("size", "lost", "total", "all_lost", "is_said"),
    [
        (100, 30, 1000, 48, True),
        (100, 6, 1000, 24, False),  # less than five points
        (100, 30, 1000, 228, False),  # not twice as many as the others
        (49, 30, 900, 40, False),  # few have it
        (900, 300, 949, 300, False),  # few others
        (100, 50, 2100, 50, False),  # less than a twentieth of all
        (60, 7, 360, 20, False),  # chance
    ],
)
def test_a_value_stands_out_where_it_is_much_no_chance_and_of_many(
    size: int, lost: int, total: int, all_lost: int, *, is_said: bool
) -> None:
    found = find_outlier([Group("race", "Black", size, lost)], total, all_lost)
    assert (found is not None) == is_said


def test_the_more_values_are_looked_at_the_more_is_chance() -> None:
    value = Group("race", "Black", 100, 12)
    others = [Group("city", str(number), 100, 4) for number in range(40)]
    assert find_outlier([value], 1000, 48) is not None
    assert find_outlier([value, *others], 1000, 48) is None


@pytest.mark.parametrize(("people", "is_said"), [(100, True), (60, True), (49, False), (20, False)])
def test_records_are_said_where_enough_people_have_them(people: int, *, is_said: bool) -> None:
    """22% of records and 36% of people may be left out: the share is that of records."""
    found = find_outlier([Group("self", "1", 200, 44, people)], 2000, 60)
    assert (found == LeftOut("self", "1", 0.22, 16 / 1800)) is is_said


def test_records_of_few_people_are_chance() -> None:
    groups = [Group("self", "1", 600, 90, people) for people in (600, 60)]
    assert [find_outlier([group], 3000, 210) is None for group in groups] == [False, True]


def test_the_largest_difference_is_named() -> None:
    groups = [Group("race", "Black", 200, 60), Group("city", "Ulm", 100, 50)]
    found = find_outlier(groups, 1000, 80)
    assert found == LeftOut("city", "Ulm", 0.5, 30 / 900)


@pytest.mark.parametrize(
    ("size", "lost", "people", "is_said"),
    [
        (115, 115, None, True),
        (10, 10, None, True),
        (115, 104, None, True),
        (115, 103, None, False),  # kept
        (9, 9, None, False),  # few have it
        (20, 20, 9, False),  # few people have it
    ],
)
def test_a_value_is_absent_where_nearly_all_of_many_are_left_out(
    size: int, lost: int, people: int | None, *, is_said: bool
) -> None:
    group = Group("mgus", "yes", size, lost, people)
    assert find_absent([group], 7874, lost, 10) == [group] * is_said


def test_nearly_all_are_no_more_than_others_where_most_records_are_left_out() -> None:
    groups = [Group("sex", value, 500, lost) for value, lost in (("f", 475), ("m", 460))]
    assert find_absent(groups, 1000, 935, 5) == []


def test_the_most_frequent_absent_values_are_said() -> None:
    numbers = [Group("age", str(size), size, size) for size in (11, 14, 12, 13)]
    found = find_absent(numbers, 1000, 50, 10)
    assert [group.size for group in found] == [14, 13, 12]
    yes = Group("mgus", "yes", 1115, 1115)
    assert absent_text([yes]) == (
        "Left out altogether: the 1,115 records with mgus = yes; the release has only other "
        "values of mgus."
    )
    assert absent_text([yes, Group("city", "Ulm", 20, 19)], " in balanced") == (
        "Left out nearly altogether in balanced: the 1,115 records with mgus = yes, 19 of the 20 "
        "records with city = Ulm; the release has nearly only other values of mgus, city."
    )


@pytest.mark.dbt
def test_results_name_it_where_a_build_leaves_them_out(consumer: Project) -> None:
    def said() -> str:
        done = run("results", "customers", "--project-dir", consumer.folder)
        assert done.exit_code == 0, done.output
        return " ".join(done.output.split())

    consumer.execute("update customers_results set is_chosen = effort = 1")
    assert "Left out far more than others" not in said()
    sizes = dict(
        consumer.query(
            "select gender, sum(records) from customers_classes where effort = 1 group by 1"
        )
    )
    label = max((one for one in sizes if one != "*"), key=lambda one: sizes[one])
    consumer.execute(f"update customers_classes set is_suppressed = gender = '{label}'")
    assert 50 <= sizes[label] <= sum(sizes.values()) - 50
    expected = f"100% of the records with gender = {label}, 0% of all others."
    assert f"Left out far more than others: {expected}" in said()
    assert "Left out altogether" not in said(), "a value is named once"


@pytest.mark.parametrize(
    ("size", "lost", "is_said"), [(40, 40, True), (40, 30, False), (2, 2, False)]
)
def test_results_say_that_nothing_is_left_of_a_rare_value(
    size: int, lost: int, *, is_said: bool
) -> None:
    """Of 4,000 records a few are of Ulm; k is 3."""
    declared = Spec.model_validate(spec(efforts=[{"age": 3, "city": 0}], release={"effort": 1}))
    with duckdb.connect() as session:
        session.execute(
            f"create table \"{declared.name}_classes\" as select 1 as effort, '*' as age, "
            f"if(i < {size}, 'Ulm', 'Rom') as city, i < {lost} or i > 3900 as is_suppressed, "
            "1 as records from range(4000) as t(i)"
        )
        records(session, declared, f"i < {lost} or i > 3900", ill="1")
        result: Any = SimpleNamespace(effort=1, suppressed_records=lost + 99)
        said = [*note_left_out(cast("Warehouse", Stored(session)), declared, result)]
    expected = (
        "Left out altogether: the 40 records with city = Ulm; the release has only other values "
        "of city."
    )
    assert said == [expected] * is_said


class Stored:
    """A warehouse of tables in memory."""

    def __init__(self, session: duckdb.DuckDBPyConnection) -> None:
        self.session = session

    def relation_of_ref(self, name: str) -> str:
        """Return the name of a relation."""
        return f'"{name}"'

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return rows of a statement."""
        return self.session.execute(sql).fetchall()


@pytest.mark.parametrize(("people", "is_said"), [(400, True), (40, False)])
def test_results_know_it_of_records_of_people(people: int, *, is_said: bool) -> None:
    """One city of four, of which one record in four is left out."""
    declared = Spec.model_validate(
        spec(subject="phone", efforts=[{"age": 1, "city": 0}], release={"effort": 1})
    )
    key = declared.record_key
    with duckdb.connect() as session:
        session.execute(
            f'create table "{declared.name}_effort_1" as select i as "{key}", \'*\' as age, '
            "(i % 4)::text as city, i % 16 = 0 as is_suppressed from range(4000) as t(i)"
        )
        session.execute(
            f'create table "{declared.name}_microdata" as '
            f'select i as "{key}", i // 4 % {people} as subject, i // 16 % 2 as ill '
            "from range(4000) as t(i)"
        )
        found = most_left_out(cast("Warehouse", Stored(session)), declared, 1)
    assert found == ([LeftOut("city", "0", 0.25, 0.0)] if is_said else [])


def records(
    session: duckdb.DuckDBPyConnection, declared: Spec, is_suppressed: str, *, ill: str
) -> None:
    """Make 4,000 records of an effort, of which some are left out, and their target."""
    key = declared.record_key
    session.execute(
        f'create table "{declared.name}_effort_1" as select i as "{key}", '
        f"{is_suppressed} as is_suppressed from range(4000) as t(i)"
    )
    session.execute(
        f'create table "{declared.name}_microdata" as '
        f'select i as "{key}", {ill} as ill from range(4000) as t(i)'
    )


@pytest.mark.parametrize(
    ("is_suppressed", "expected"),
    [
        ("i % 40 < 4", [LeftOut("ill", "yes", 0.5, 2 / 36)]),
        ("i // 20 % 20 = 0", []),  # as many of both
    ],
)
def test_the_class_of_the_target_is_named(is_suppressed: str, expected: list[LeftOut]) -> None:
    """Of those who are ill, a tenth of all, half are left out."""
    declared = Spec.model_validate(spec(efforts=[{"age": 3, "city": 2}], release={"effort": 1}))
    with duckdb.connect() as session:
        session.execute(
            f"create table \"{declared.name}_classes\" as select 1 as effort, '*' as age, "
            "'*' as city, false as is_suppressed, 4000 as records"
        )
        ref = declared.quasi_identifiers["city"].ref
        session.execute(f"create table \"{ref}\" as select 'a' as level_1, '*' as level_2")
        records(
            session, declared, is_suppressed, ill="case when i % 20 < 2 then 'yes' else 'no' end"
        )
        found = most_left_out(cast("Warehouse", Stored(session)), declared, 1)
    assert found == expected


@pytest.mark.parametrize(
    ("level", "cut", "is_said"),
    [(0, "*", True), (1, "a", True), (1, "*", False), (2, "*", False)],
    ids=["as it is", "grouped", "with values that are * as well", "given up"],
)
def test_records_without_a_value_are_a_group(level: int, cut: str, *, is_said: bool) -> None:
    """A quarter of the cities is missing, of which one record in four is left out."""
    declared = Spec.model_validate(spec(efforts=[{"age": 3, "city": level}], release={"effort": 1}))
    ref = declared.quasi_identifiers["city"].ref
    with duckdb.connect() as session:
        session.execute(
            f"create table \"{declared.name}_classes\" as select 1 as effort, '*' as age, "
            "case when i % 4 = 0 then '*' else 'a' end as city, i % 16 = 0 as is_suppressed, "
            "1 as records from range(4000) as t(i)"
        )
        records(session, declared, "i % 16 = 0", ill="1")
        session.execute(f"create table \"{ref}\" as select 'a' as level_1, '*' as level_2")
        session.execute(f"insert into \"{ref}\" values ('{cut}', '*')")
        found = most_left_out(cast("Warehouse", Stored(session)), declared, 1)
    assert found == ([LeftOut("city", "NULL", 0.25, 0.0)] if is_said else [])


PRIVATE = {
    "columns": SPEC["columns"] | {"income": {"role": "dropped"}, "ill": categories("ills", 1)},
    "features": ["age", "city"],
    "efforts": [{"age": 1, "city": 0, "ill": 0}],
    "guarantees": {"k_anonymity": {"k": 5}, "differential_privacy": {"epsilon": 2, "delta": 1e-5}},
    "suppression_limit": 1,
    "release": {"effort": 1},
}


class Unasked:
    """A warehouse that must not be asked."""


@pytest.mark.parametrize(
    ("changes", "effort"),
    [
        ({}, None),
        pytest.param(PRIVATE, 1, marks=pytest.mark.needs("differential_privacy")),
        ({"efforts": [{"recoding": "multidimensional"}]}, 1),
        ({"release": {"effort": 1, "joiners": "wait"}, "freeze": True}, 1),
    ],
)
@pytest.mark.needs("recoding", "second_month")
def test_nothing_is_said_where_classes_are_not_those_of_people_and_labels(
    changes: dict[str, Any], effort: int | None
) -> None:
    declared = Spec.model_validate(spec(**changes))
    assert most_left_out(cast("Warehouse", Unasked()), declared, effort) == []


@pytest.mark.parametrize(("end", "sign"), [("lowest", 1), ("highest", -1)])
def test_results_name_the_end_of_a_number_that_is_left_out(end: str, sign: int) -> None:
    declared = Spec.model_validate(
        spec(
            target="income",
            efforts=[{"age": 1, "city": 0}],
            features=["age", "city"],
            quality={**SPEC["quality"], "model": "ridge", "measure": "r2"},
        )
    )
    key = declared.record_key
    with duckdb.connect() as session:
        session.execute(
            f'create table "{declared.name}_effort_1" as select i as "{key}", \'*\' as age, '
            "'*' as city, i < 400 and i % 4 = 0 as is_suppressed from range(4100) as t(i)"
        )
        session.execute(
            f'create table "{declared.name}_microdata" as select i as "{key}", '
            f"case when i < 4000 then {sign} * i end as income from range(4100) as t(i)"
        )
        session.execute(
            f"create table \"{declared.name}_classes\" as select 1 as effort, '*' as age, "
            "'*' as city, 4000 as records, false as is_suppressed"
        )
        found = most_left_out(cast("Warehouse", Stored(session)), declared, 1)
    ((one,),) = [found]
    assert (one.column, one.value, one.is_tenth, one.others) == ("income", end, True, 0.0)
    assert one.share == 0.25
