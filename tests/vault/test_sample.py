"""A released sample: drawn once by the operating system, kept, and counted like everything else."""

from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.errors import VaultError
from dbt_anonymize.vault.tokens import append_draws
from tests.docs.pages import DOCS, Page
from tests.projects import Project
from tests.sampling import examples

K, SHARES = 4, {1: 0.5, 2: 0.8}
QUICK = settings(deadline=None, derandomize=True, database=None)


def draws(strata: list[int], connection: duckdb.DuckDBPyConnection, first: int = 0) -> list[Any]:
    """Draw numbers of new people, one per entry, and return all numbers with their strata."""
    connection.execute(
        "create table if not exists draws (person integer, draw double, identified_by varchar)"
    )
    connection.execute("create table if not exists people (person integer, stratum_1 integer)")
    connection.executemany("insert into people values (?, ?)", list(enumerate(strata, first)))
    people = "select * from people"
    added = append_draws(connection, relation="draws", people=people, identified_by="id", strata=1)
    assert added == len(strata)
    return connection.execute("select * from draws join people using (person)").fetchall()


@given(
    strata=st.lists(st.integers(0, 3), min_size=1, max_size=60),
    share=st.floats(0.01, 0.99),
)
@examples(QUICK, 200, 20)
def test_of_each_stratum_the_share_is_drawn_rounded_up_or_down(
    strata: list[int], share: float
) -> None:
    with duckdb.connect() as connection:
        drawn = draws(strata, connection)
    sampled = Counter(stratum for _, draw, _, stratum in drawn if draw < share)
    for stratum, size in Counter(strata).items():
        assert math.floor(share * size) <= sampled[stratum] <= math.ceil(share * size)


def test_who_comes_later_moves_nobody() -> None:
    with duckdb.connect() as connection:
        before = {row[0]: row[1] for row in draws([0, 1] * 50, connection)}
        after = {row[0]: row[1] for row in draws([0] * 30, connection, first=100)}
    assert {person: after[person] for person in before} == before
    assert len(after) == 130


def test_draws_are_uniform_and_no_seed_of_the_database_decides_them() -> None:
    drawn = []
    for _ in range(2):
        with duckdb.connect() as connection:
            connection.execute("select setseed(0.5)").fetchall()
            connection.execute(
                "create table draws (person integer, draw double, identified_by varchar)"
            )
            people = "select range as person from range(20000)"
            append_draws(connection, relation="draws", people=people, identified_by="id")
            drawn.append([x for (x,) in connection.execute("select draw from draws").fetchall()])
    assert not set(drawn[0]) & set(drawn[1])
    # The expected number in a tenth is 2,000 with a deviation of 42: 8 of those never happen.
    tenths = Counter(int(10 * x) for x in drawn[0])
    assert all(abs(tenths[tenth] - 2000) < 8 * 42.5 for tenth in range(10))


def test_what_cannot_be_stored_is_an_error_without_a_persons_key() -> None:
    with duckdb.connect() as connection, pytest.raises(VaultError, match="draws of new") as error:
        append_draws(
            connection, relation="missing", people="select 'Ann' as person", identified_by="id"
        )
    assert "Ann" not in str(error.value)


def test_the_page_shows_who_is_in_which_sample() -> None:
    (table,) = Page(DOCS / "sampling.md").tables
    for row in table.records:
        for share in (0.4, 0.8):
            assert (float(row["draw"]) < share) == (row[f"share {share}"] == "yes")
    by = Counter((row["diagnosis"], row["share 0.4"]) for row in table.records)
    assert by["flu", "yes"] == by["cold", "yes"] == 2


def sampled(project: Project, effort: int) -> set[int]:
    """Return the record keys of a sample, from the draws alone."""
    stored = project.query("select person, draw from vault.main.surveyed_sample")
    assert len(stored) == 400
    return {person for person, draw in stored if draw < SHARES[effort]}


@pytest.mark.parametrize("effort", [1, 2])
def test_classes_count_the_sample_alone(built_samples: Project, effort: int) -> None:
    rows = built_samples.query(
        "select customer_id, birth_date, zip, gender, equivalence_class, class_size, is_suppressed"
        f" from surveyed_effort_{effort}"
    )
    chosen = sampled(built_samples, effort)
    assert len(rows) == 400
    labels = {key: (birth, code, gender) for key, birth, code, gender, *_ in rows}
    sizes = Counter(labels[key] for key in chosen)
    population = Counter(labels.values())
    for key, *_, text, size, is_suppressed in rows:
        if key not in chosen:
            assert (text, size, is_suppressed) == (None, None, True)
        else:
            assert size == sizes[labels[key]]
            breaks = size < K or population[labels[key]] < 6
            assert is_suppressed == breaks
    found = built_samples.query(f"select k, records from surveyed_privacy where effort = {effort}")
    kept = [n for label, n in sizes.items() if n >= K and population[label] >= 6]
    assert found == [(min(kept), len(chosen))]
    counted = built_samples.query(
        "select sum(population_size), sum(class_size) from surveyed_classes "
        f"where effort = {effort}"
    )
    assert counted == [(sum(population[label] for label in sizes), len(chosen))]


def test_effort_0_stays_the_whole_source(built_samples: Project) -> None:
    found = built_samples.query(
        "select records, suppressed_records from surveyed_privacy where effort = 0"
    )
    assert found == [(400, 0)]


def test_release_and_vault_hold_the_sample(built_samples: Project) -> None:
    released = built_samples.query("select count(*) from release_surveyed.surveyed_anonymized")
    keys = built_samples.query(
        "select customer_id from vault.main.surveyed_identifiers where cqi is not null"
    )
    assert {key for (key,) in keys} <= sampled(built_samples, 1)
    assert released == [(len(keys),)]


def test_who_was_drawn_stays_drawn_and_a_changed_draw_stops_the_release(
    built_samples: Project, tmp_path: Path
) -> None:
    project = built_samples.copy(tmp_path / "project")
    before = project.query("select * from vault.main.surveyed_sample order by person")
    assert project.dbt("run", "--full-refresh", "-s", "surveyed_sample").succeeded
    assert project.query("select * from vault.main.surveyed_sample order by person") == before
    # Somebody of a released class is taken out behind the build's back.
    project.execute(
        "update vault.main.surveyed_sample set draw = 0.99 where person = (select min(customer_id)"
        " from vault.main.surveyed_identifiers where cqi is not null)"
    )
    outcome = project.dbt("run", "-s", "surveyed_anonymized")
    assert not outcome.succeeded
    assert re.search(r"surveyed_microdata: changed since the build", outcome.messages)
