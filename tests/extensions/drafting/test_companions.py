"""Columns known only with the time until an event are left out: other times and events."""

from __future__ import annotations

from typing import cast

import duckdb
import numpy as np
import pandas as pd

from dbt_anonymize.extensions.drafting.companions import find_times, with_companions
from dbt_anonymize.extensions.drafting.facts import read_facts
from dbt_anonymize.extensions.drafting.proposal import Proposal
from dbt_anonymize.extensions.drafting.roles import propose
from dbt_anonymize.extensions.drafting.target_shares import with_target_shares
from dbt_anonymize.project.warehouse import Warehouse
from tests.verify.clinic import SmallWarehouse

RECORDS = 2_000


def patients() -> pd.DataFrame:
    """Return people who relapse and die, or not, and what was known of them before."""
    draw = np.random.default_rng(5)
    frame = pd.DataFrame({"key": range(RECORDS), "died": draw.integers(0, 2, RECORDS)})
    frame["days"] = draw.integers(30, 4000, RECORDS)
    frame["relapsed"] = (draw.random(RECORDS) < 0.4).astype(int)
    frame["free_days"] = np.where(frame["relapsed"] == 1, frame["days"] // 2, frame["days"])
    frame["months"] = (frame["days"] / 30.4).round(1)
    # Known before: nothing of it is a time.
    frame["score"] = draw.integers(0, 4000, RECORDS)
    frame["treated"] = draw.integers(0, 2, RECORDS)
    frame["grade"] = draw.integers(1, 4, RECORDS)
    # Equal to the time in many records, but by one value.
    frame["visits"] = np.where(frame["days"] < 500, frame["days"].min(), frame["score"])
    frame.loc[frame["days"] < 500, "days"] = frame["days"].min()
    frame["free_days"] = np.where(frame["relapsed"] == 1, frame["days"] // 2, frame["days"])
    return frame


def warehouse_of(frame: pd.DataFrame) -> Warehouse:
    connection = duckdb.connect(":memory:")
    connection.from_df(frame).create("people")
    return cast(Warehouse, SmallWarehouse(connection, {}))


def proposed(frame: pd.DataFrame, *, keep: tuple[str, ...] = ()) -> dict[str, Proposal]:
    warehouse = warehouse_of(frame)
    facts = with_target_shares(warehouse, "people", read_facts(warehouse, "people"), "died")
    facts = with_companions(warehouse, "people", facts, "Died", "Days")
    return {one.name: one for one in propose(facts, "died", "days", keep=keep)}


def test_other_times_and_events_are_left_out_with_their_reasons() -> None:
    frame = patients()
    found = proposed(frame)
    leaks = {name: one.reason.partition(": ")[2] for name, one in found.items() if one.is_leak}
    equal = int((frame["free_days"] == frame["days"]).sum())
    assert leaks == {
        "relapsed": "it says where free_days is days",
        "free_days": f"another time, equal to days in {equal:,} records",
        "months": "it is days in other numbers",
    }
    assert all(found[name].role == "dropped" for name in leaks)
    assert {found[name].role for name in ("score", "treated", "grade", "visits")} == {
        "quasi_identifier"
    }
    assert found["died"].is_target
    assert found["days"].is_time


def test_what_somebody_keeps_stays() -> None:
    found = proposed(patients(), keep=("relapsed",))
    assert found["relapsed"].role == "quasi_identifier"
    assert not found["relapsed"].is_leak
    assert found["free_days"].is_leak


def test_times_that_nobody_named_are_found_by_what_they_have_in_common() -> None:
    warehouse = warehouse_of(patients().drop(columns="visits"))
    facts = with_target_shares(warehouse, "people", read_facts(warehouse, "people"), "died")
    found = find_times(warehouse, "people", propose(facts, "died"))
    assert found == [("days", "free_days")]
    # Numbers that a class does not end are no times.
    number = propose(facts, "score")
    assert find_times(warehouse, "people", number) == []


def test_a_near_copy_of_classes_is_left_out() -> None:
    draw = np.random.default_rng(5)
    frame = pd.DataFrame({"key": range(RECORDS), "shop": draw.integers(0, 40, RECORDS)})
    is_bought = (frame["shop"] % 3 == 0) ^ (frame["key"] % 500 == 0)
    frame["bought"] = np.where(is_bought, "yes", "no")
    frame["paid"] = is_bought ^ (frame["key"] % 200 == 0)
    frame["packed"] = is_bought ^ (frame["key"] % 40 == 0)
    warehouse = warehouse_of(frame)
    facts = with_target_shares(warehouse, "people", read_facts(warehouse, "people"), "bought")
    found = {one.name: one for one in propose(facts, "bought")}
    assert [name for name, one in found.items() if one.is_leak] == ["paid"]
    # Said, not left out: one of them is a category of many values, the other often differs.
    assert [name for name, one in found.items() if one.gives_away] == ["shop", "packed"]


def test_a_near_copy_of_the_target_is_left_out() -> None:
    draw = np.random.default_rng(5)
    frame = pd.DataFrame({"key": range(RECORDS), "wage": draw.lognormal(2, 0.5, RECORDS)})
    frame["log_wage"] = np.log(frame["wage"]).round(3)
    frame["schooling"] = (frame["wage"] + draw.normal(0, 4, RECORDS)).round()
    warehouse = warehouse_of(frame)
    facts = with_target_shares(warehouse, "people", read_facts(warehouse, "people"), "wage")
    found = {one.name: one for one in propose(facts, "wage")}
    assert found["log_wage"].is_leak
    assert found["log_wage"].role == "dropped"
    assert found["schooling"].role == "quasi_identifier"
    kept = {one.name: one for one in propose(facts, "wage", keep=["log_wage"])}
    assert kept["log_wage"].gives_away
