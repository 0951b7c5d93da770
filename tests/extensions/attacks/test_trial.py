"""Attacks on a trial find what a release tells about its own people, and nothing else."""

from __future__ import annotations

import contextlib
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import duckdb
import pandas as pd
import pytest
from hypothesis import assume, given

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.extensions.attacks.inference import attack_inference, rates_of_guesses
from dbt_anonymize.extensions.attacks.knowledge import load_attacker_knowledge
from dbt_anonymize.extensions.attacks.linkability import attack_linkability, chances_of_links
from dbt_anonymize.extensions.attacks.rates import Rate, excess_interval
from dbt_anonymize.extensions.attacks.result import AttackResult
from dbt_anonymize.extensions.attacks.session import Session
from dbt_anonymize.extensions.attacks.singling_out import (
    attack_singling_out,
    count_singled_out,
    rarest,
)
from dbt_anonymize.extensions.attacks.trial import Trial, draw_trial, read_trial
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.recomputation.tables import Tables
from tests.extensions.attacks import naive
from tests.extensions.attacks.linkable import (
    ZIPS,
    Warehouse,
    World,
    age_label,
    session_of,
    spec_of,
    worlds,
)
from tests.extensions.attacks.test_against_naive import few
from tests.projects import REPOSITORY

pytestmark = pytest.mark.costly


def people(number: int, *, records: int, is_leaking: bool) -> pd.DataFrame:
    """Return so many records; the value depends on the postcode, so on nobody in particular."""
    chance = random.Random(20)
    rows = []
    for person in range(number // records):
        age, zip_ = chance.randrange(40), chance.choice(sorted(ZIPS))
        for _ in range(records):
            value = "c" if chance.random() < 0.25 else "a" if zip_[0] == "0" else "b"
            extra = str(person if is_leaking else chance.randrange(2))
            rows.append((len(rows), person, age, zip_, value, extra, person + 1))
    return pd.DataFrame(rows, columns=["id", "person", "age", "zip", "value", "extra", "subject"])


@contextlib.contextmanager
def trial_of(
    *,
    is_leaking: bool = False,
    records: int = 1,
    k: int = 4,
    seed: int = 1,
    number: int = 800,
    source: str = "people_source",
) -> Iterator[Trial]:
    """Anonymize half of the people with ages in tens and postcodes by their first digit.

    They are read from ``source``, which may be others than those of the build.
    """
    connection = duckdb.connect(config={"threads": 1})
    connection.register("people_source", people(number, records=records, is_leaking=is_leaking))
    connection.execute("create view people_microdata as select * from people_source")
    leaves = [(a, a + 5, age_label(a, 1)[0], age_label(a, 2)[0], "*") for a in range(0, 40, 5)]
    connection.execute(
        "create table ages (lower_bound int, upper_bound int, level_1 text, level_2 text, "
        "level_3 text)"
    )
    connection.executemany("insert into ages values (?, ?, ?, ?, ?)", leaves)
    connection.execute("create table zips (value text, level_1 text, level_2 text)")
    connection.executemany("insert into zips values (?, ?, ?)", [(z, *ZIPS[z]) for z in ZIPS])
    try:
        session = Session(Warehouse(), connection)  # type: ignore[arg-type]
        spec = spec_with_extra(has_subject=records > 1, k=k)
        tables = Tables(connection, source, {"age": "ages", "zip": "zips"})
        yield draw_trial(load_attacker_knowledge(session, spec), tables, 1, seed=seed)
    finally:
        connection.close()


def spec_with_extra(*, has_subject: bool, k: int) -> Spec:
    world = World((), (1, 1), has_subject=has_subject)
    declared = spec_of(world, {"k_anonymity": {"k": k}}, efforts=[{"age": 2, "zip": 1}])
    changed: dict[str, Any] = declared.model_dump(mode="json", exclude_none=True, by_alias=True)
    changed["columns"]["extra"] = {"role": "insensitive"}
    return Spec.model_validate(changed)


def attacked(trial: Trial) -> dict[str, AttackResult]:
    results = [
        *attack_singling_out(trial, 300),
        *attack_linkability(trial, 300),
        *attack_inference(trial, 300),
    ]
    return {result.measure: result for result in results}


MEASURES = {
    "univariate",
    "multivariate",
    "same_row",
    "share_right",
    "share_right_knowing_the_rest",
}


def raised(results: dict[str, AttackResult]) -> set[str]:
    """Return what is higher about people of the trial than about others, at 95 %."""
    return {measure for measure, r in results.items() if r.risk_lower and r.risk_lower > 0}


@pytest.mark.parametrize("column", ["id", "age"])
def test_a_source_with_another_type_is_named_and_not_compared(column: str) -> None:
    """Its values are none of the build's: a hash where the key was a number."""
    changed = f"(select * replace ('x' || {column} as {column}) from people_source)"
    with pytest.raises(VerificationError) as error, trial_of(source=changed, number=20):
        pass
    assert str(error.value) == (
        "the source must have the types of the build to be compared with its records; "
        f"{column} has another now. Build again; where the build stops, it says what to do."
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_honest_release_tells_no_more_about_its_own(seed: int) -> None:
    with trial_of(seed=seed) as trial:
        results = attacked(trial)
    assert set(results) == MEASURES
    assert raised(results) == set()
    # What holds for everybody is inferred of everybody, better than naively.
    right = results["share_right"]
    assert right.control is not None
    assert right.naive is not None
    assert right.main == pytest.approx(0.75, abs=0.07)
    assert right.control == pytest.approx(0.75, abs=0.07)
    assert right.naive < 0.5


def test_a_column_that_is_nearly_an_identifier_raises_main_over_control() -> None:
    with trial_of(is_leaking=True) as trial:
        results = attacked(trial)
    assert raised(results) == {"univariate", "multivariate", "share_right_knowing_the_rest"}
    assert results["multivariate"].main == pytest.approx(1, abs=0.02)
    assert results["share_right_knowing_the_rest"].main == pytest.approx(1, abs=0.05)


def test_classes_of_one_person_raise_main_over_control() -> None:
    """Ages and postcodes as they are, of 30 people, and nobody suppressed."""
    with trial_of(number=60) as trial:
        knowledge, session = trial.knowledge, trial.knowledge.session
        members = session.table(
            "members", "select id + 1 as person, id % 2 = 0 as is_member from people_source"
        )
        released = session.table(
            "released",
            "select cast(age as varchar) as age, age as age_lower, age as age_upper, zip, value, "
            "extra from people_source where id % 2 = 0",
        )
        results = attacked(read_trial(knowledge, released, members, "people_source", seed=1))
    assert raised(results) >= {"multivariate", "same_row", "share_right"}


def test_the_chance_of_a_link_is_that_of_the_page() -> None:
    """The table of numbers: rows by age, rows by postcode, rows by both, and the chance."""
    page = (REPOSITORY / "docs" / "extensions" / "attacks.md").read_text(encoding="utf-8")
    found = {
        line.split("|")[3].strip(): line.split("|")[2].split()[-1]
        for line in page.splitlines()
        if line.endswith(("| a |", "| b |", "| c |", "| c / (a b) |"))
    }
    by_age, by_zip, both = (int(found[name]) for name in "abc")
    rows = [(34, "01")] * both + [(34, "11")] * (by_age - both) + [(1, "01")] * (by_zip - both)
    with trial_of(number=2 * len(rows)) as trial:
        session = trial.knowledge.session
        microdata = pd.DataFrame(
            [(n, *rows[n // 2], "a", "0", n + 1) for n in range(2 * len(rows))],
            columns=["id", "age", "zip", "value", "extra", "subject"],
        )
        session.cursor.register("people_microdata", microdata)
        members = "(select id + 1 as person, id % 2 = 0 as is_member from people_microdata)"
        released = session.table(
            "released",
            "select '[' || age // 10 * 10 || ', ' || (age // 10 + 1) * 10 || ')' as age, "
            "age // 10 * 10 as age_lower, (age // 10 + 1) * 10 as age_upper, "
            "left(zip, 1) || '*' as zip, value, extra from people_microdata where id % 2 = 0",
        )
        again = load_attacker_knowledge(session, trial.knowledge.spec)
        read = read_trial(again, released, members, "people_microdata", seed=1)
        linked = replace(read, columns=[c for c in read.columns if c.name != "extra"])
        targets = linked.targets(100)
        ((place,),) = session.rows(
            f"select min(tuple) - 1 from {targets} where is_member and record_key in "
            "(select id from people_microdata where age = 34 and zip = '01')"
        )
        members_chances, _ = chances_of_links(linked, targets)
        (others,) = session.row(f"select count(*) from {targets} where not is_member")
    assert f"{members_chances[place - others]:.3g}" == found["c / (a b)"]


def test_a_trial_is_what_the_effort_makes_of_its_members() -> None:
    with trial_of(k=50) as trial:
        session = trial.knowledge.session
        rows = session.rows(
            f"select age, zip from {trial.people} as p inner join people_source "
            "as s on p.record_key = s.id where p.is_member"
        )
        (people,) = session.row(f"select count(*) from {trial.people}")
        released = trial.records
    assert (people, len(rows), trial.members) == (800, 400, 400)
    classes = Counter((age // 10, zip_[0]) for age, zip_ in rows)
    kept = sum(size for size in classes.values() if size >= 50)
    assert 0 < kept < 400
    assert released == kept


def test_guesses_are_about_subjects_and_seeded() -> None:
    with trial_of(records=2, is_leaking=True) as trial:
        results = attacked(trial)
        again = attacked(trial)
        halves = trial.knowledge.session.rows(
            f"select count(distinct is_member) from {trial.people} group by person"
        )
    assert trial.members == 200
    # Both records of a person have her number, and single her out.
    assert results["univariate"].main is not None
    assert results["univariate"].main > 0.9
    assert results["share_right"].guesses == 200
    assert again == results
    assert set(halves) == {(1,)}


@few
@given(worlds())
def test_trials_against_a_row_by_row_attacker(world: World) -> None:
    assume(naive.trial_rows(world))
    assume(not all(naive.is_in_trial(world, record) for record in world.records))
    with session_of(world) as session:
        trial = _trial_of_odd_people(session, world)
        for columns in ([trial.columns[0]], trial.columns[1:], trial.columns):
            main, control = count_singled_out(trial, [columns], rarest(trial, [columns], 1000))
            found = naive.singled_out(world, [column.name for column in columns])
            assert (main.guesses, main.successes, control.successes) == found
        targets = trial.targets(1000)
        by_number = {record.number: record for record in world.records}
        asked = [
            (by_number[key], is_member)
            for key, is_member in session.rows(
                f"select record_key, is_member from {targets} order by tuple"
            )
        ]
        chances = chances_of_links(trial, targets)
        rates = rates_of_guesses(trial, targets, trial.columns[2], [trial.columns[:2]])
    for chance, rate, wanted in zip(chances, rates, (True, False), strict=False):
        of_them = [record for record, is_member in asked if is_member is wanted]
        assert len({world.person(record) for record in of_them}) == len(of_them) == rate.guesses
        links = [float(naive.chance_of_link(world, record)) for record in of_them]
        assert chance.tolist() == pytest.approx(links)
        assert rate.successes == sum(
            naive.inferred(world, record) == record.value for record in of_them
        )
    most = naive.guess(naive.trial_rows(world))
    members = [record for record, is_member in asked if is_member]
    assert rates[2].successes == sum(record.value == most for record in members)


def _trial_of_odd_people(session: Session, world: World) -> Trial:
    """Release of release 0 what people with odd numbers have in it."""
    knowledge = load_attacker_knowledge(session, spec_of(world))
    person = "subject" if world.has_subject else "id"
    members = session.table(
        "members",
        f"select t.person, bool_or(m.{person} % 2 = 1) as is_member from {knowledge.targets} as t "
        "inner join people_microdata as m on t.record_key = m.id group by t.person",
    )
    released = session.table(
        "trial",
        "select e.age, e.age_lower, e.age_upper, e.zip, e.value from effort_0 as e inner join "
        f"people_microdata as m on e.id = m.id where not e.is_suppressed and m.{person} % 2 = 1",
    )
    return read_trial(knowledge, released, members, "people_microdata", seed=1)


def test_intervals_are_the_published_ones() -> None:
    """Newcombe 1998: 56/70 - 48/80 has the interval 0.0524 to 0.3339 by method 10."""
    lower, upper = excess_interval(Rate(56, 70), Rate(48, 80))
    assert [round(end * (1 - 48 / 80), 4) for end in (lower, upper)] == [0.0524, 0.3339]
