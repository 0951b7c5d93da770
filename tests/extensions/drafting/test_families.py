"""Columns of 0 and 1 of which nobody has two are one attribute, and take one place."""

from __future__ import annotations

from typing import cast

import duckdb
import numpy as np
import pandas as pd
import pytest

from dbt_anonymize.extensions.drafting.facts import ColumnFacts, read_facts
from dbt_anonymize.extensions.drafting.families import with_families
from dbt_anonymize.extensions.drafting.places import MOST_OF_FAMILY, MOST_QUASI, families_of
from dbt_anonymize.extensions.drafting.proposal import Proposal
from dbt_anonymize.extensions.drafting.roles import propose
from dbt_anonymize.extensions.drafting.target_shares import with_target_shares
from dbt_anonymize.project.warehouse import Warehouse
from tests.verify.clinic import SmallWarehouse

pytestmark = pytest.mark.costly

RECORDS = 4_000
JOBS = ("admin", "blue_collar", "nurse", "sales", "service", "driver", "priest", "diver")


def people() -> pd.DataFrame:
    """Return people with one of several jobs and regions, and what they may have several of."""
    draw = np.random.default_rng(9)
    frame = pd.DataFrame({"key": range(RECORDS)})
    job = draw.choice(
        len(JOBS) + 1, RECORDS, p=[0.2, 0.2, 0.2, 0.15, 0.1, 0.08, 0.008, 0.002, 0.06]
    )
    for number, name in enumerate(JOBS):
        frame[f"job_{name}"] = (job == number).astype(int)
    region = draw.integers(0, 4, RECORDS)
    for number, name in enumerate(("north", "east", "south")):
        frame[name] = region == number
    for name in ("fever", "cough", "rash", "pain"):
        frame[f"symptom_{name}"] = (draw.random(RECORDS) < 0.3).astype(int)
    # Rare by themselves: that nobody has two of them is chance.
    for number, name in enumerate(("pilot", "judge", "monk")):
        frame[name] = (frame["key"] % 1000 == number).astype(int)
    frame["floor"] = draw.integers(0, 2, RECORDS) + 1
    for number in range(9):
        frame[f"q{number}"] = draw.integers(0, 5, RECORDS)
    signal = (job == 0) * 2 + (job == 1) + (region == 1) + draw.normal(0, 1, RECORDS)
    frame["income_high"] = np.where(signal > 1, "yes", "no")
    return frame


def facts_of(frame: pd.DataFrame) -> list[ColumnFacts]:
    connection = duckdb.connect(":memory:")
    connection.from_df(frame).create("people")
    warehouse = cast(Warehouse, SmallWarehouse(connection, {}))
    facts = with_families(warehouse, "people", read_facts(warehouse, "people"))
    return with_target_shares(warehouse, "people", facts, "income_high")


def families(facts: list[ColumnFacts]) -> list[set[str]]:
    found = {one.family for one in facts if one.family}
    return sorted(({name for name, _ in one} for one in found), key=len)


def test_what_nobody_has_two_of_is_a_family_unless_by_chance() -> None:
    frame = people()
    facts = facts_of(frame)
    assert families(facts) == [{"north", "east", "south"}, {f"job_{name}" for name in JOBS}]
    for one in facts:
        for name, count in one.family:
            assert count == int(frame[name].sum())


def test_numbers_other_than_0_and_1_are_no_family() -> None:
    frame = people()
    for name in ("north", "east", "south"):
        frame[name] = frame[name].astype(int) + 1
    assert families(facts_of(frame)) == [{f"job_{name}" for name in JOBS}]
    assert families(facts_of(frame[["key", "job_admin", "job_nurse", "income_high"]])) == []


def test_a_family_takes_one_place_and_its_rare_columns_none() -> None:
    found = {one.name: one for one in propose(facts_of(people()), "income_high")}
    jobs = [found[f"job_{name}"] for name in JOBS]
    kept = [one.name for one in jobs if one.role == "quasi_identifier"]
    assert len(kept) == MOST_OF_FAMILY
    assert {"job_admin", "job_blue_collar"} < {*kept}
    assert {"job_priest", "job_diver"}.isdisjoint(kept)
    assert {one.role for one in jobs if one.name not in kept} == {"dropped"}
    assert "8 columns of which nobody has two, so one attribute" in found["job_diver"].reason
    assert "left among those that have none of the kept ones; " in found["job_diver"].reason
    assert "columns of which nobody has two" in found["job_admin"].reason
    quasi = [one for one in found.values() if one.role == "quasi_identifier"]
    singles = [one for one in quasi if not one.facts.family]
    assert len(singles) + len(families_of([*found.values()])) == MOST_QUASI
    assert sorted(map(len, families_of([*found.values()]))) == [3, MOST_OF_FAMILY]


def test_a_rare_column_that_must_stay_stays() -> None:
    found = propose(facts_of(people()), "income_high", keep=["job_diver"])
    roles: dict[str, Proposal] = {one.name: one for one in found}
    assert roles["job_diver"].role == "quasi_identifier"
