"""Columns that a draft keeps of a wide table: those that tell of the target."""

from __future__ import annotations

from typing import cast

import duckdb
import numpy as np
import pandas as pd
import pytest

from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.drafting.facts import ColumnFacts, read_facts
from dbt_anonymize.extensions.drafting.proposal import KEY
from dbt_anonymize.extensions.drafting.roles import propose
from dbt_anonymize.extensions.drafting.target_shares import find_copies, with_target_shares
from dbt_anonymize.project.warehouse import Warehouse
from tests.verify.clinic import SmallWarehouse

pytestmark = pytest.mark.costly

RECORDS = 3_000


def answers(target: str) -> pd.DataFrame:
    """Return answers to 20 questions of which the last two tell of the target."""
    draw = np.random.default_rng(7)
    frame = pd.DataFrame({f"q{n}": draw.integers(0, 3 + n, RECORDS) for n in range(18)})
    frame["tickets"] = draw.integers(0, 40, RECORDS)
    frame["minutes"] = draw.normal(600, 200, RECORDS).round(2)
    signal = frame["tickets"] / 40 + frame["minutes"] / 600 + draw.normal(0, 0.3, RECORDS)
    frame[target] = np.where(signal > 1.5, "yes", "no") if target == "bought" else signal
    frame.loc[draw.random(RECORDS) < 0.05, target] = None
    return frame


def facts_of(frame: pd.DataFrame, predict: str | None) -> list[ColumnFacts]:
    connection = duckdb.connect(":memory:")
    connection.from_df(frame).create("people")
    warehouse = cast(Warehouse, SmallWarehouse(connection, {}))
    facts = read_facts(warehouse, "people")
    return facts if predict is None else with_target_shares(warehouse, "people", facts, predict)


def by_hand(groups: pd.Series, target: pd.Series) -> float:
    """Return the share of variance between groups, corrected for chance, by pandas."""
    known = target.notna()
    numbers = target[known]
    is_number = pd.api.types.is_numeric_dtype(numbers)
    columns = numbers.to_frame() if is_number else pd.get_dummies(numbers).astype(float)
    total = columns.var(ddof=1).sum()
    within = columns.groupby(groups[known]).var(ddof=1).fillna(columns.var(ddof=1)).sum(axis=1)
    sizes = groups[known].value_counts()
    return float(1 - (within * sizes).sum() / (sizes.sum() * total))


@pytest.mark.parametrize("target", ["bought", "spent"])
def test_shares_are_those_of_a_second_computation(target: str) -> None:
    frame = answers(target)
    tells = {one.name: one.tells for one in facts_of(frame, target.upper())}
    assert tells.pop(target) is None
    minutes = tells.pop("minutes")
    expected = by_hand(
        pd.qcut(frame["minutes"].rank(method="first"), 20, labels=False), frame[target]
    )
    assert minutes == pytest.approx(expected, abs=0.01)
    assert minutes is not None
    assert minutes > 0.2
    for name, share in tells.items():
        assert share == pytest.approx(by_hand(frame[name], frame[target]), abs=1e-5), name
    assert max(abs(share or 0) for name, share in tells.items() if name.startswith("q")) < 0.02


@pytest.mark.parametrize("target", ["bought", "spent"])
def test_a_wide_table_keeps_the_columns_that_tell_of_the_target(target: str) -> None:
    frame = answers(target)

    def kept(predict: str | None) -> set[str]:
        proposals = propose(facts_of(frame, predict), target)
        return {one.name for one in proposals if one.role == "quasi_identifier"}

    assert {"tickets", "minutes"} <= kept(target)
    assert len(kept(target)) == len(kept(None)) == 12
    # Without the target those of few values are kept.
    assert not {"tickets", "minutes"} & kept(None)


def test_what_tells_the_target_is_dropped() -> None:
    """Only smokers have a number of cigarettes: models would learn nothing else."""
    frame = answers("bought").dropna()[["q3", "q9", "bought"]]
    frame["bottles"] = np.where(frame["bought"] == "yes", frame["q9"], None)
    frame["bottles"] = frame["bottles"].astype("Int64")
    roles = {one.name: one for one in propose(facts_of(frame, "bought"), "bought")}
    assert roles["bottles"].role == "dropped"
    assert roles["bottles"].reason.endswith("each of its values has one bought")
    assert {roles["q3"].role, roles["q9"].role} == {"quasi_identifier"}


def test_a_number_that_is_cut_into_the_classes_of_the_target_is_dropped() -> None:
    """Also where nearly every record has a value of its own, which counts of pairs cannot tell."""
    draw = np.random.default_rng(4)
    grams = draw.normal(3000, 700, 300).round(1)
    frame = pd.DataFrame({"bwt": grams, "age": draw.integers(15, 45, 300)})
    frame["low"] = np.where(grams < 2500, "yes", "no")
    # Nine records are no class to judge by, and one that is not in order is enough against.
    frame["rare"] = np.where(grams >= np.sort(grams)[-9], "yes", "no")
    frame["nearly"] = frame["low"].where(frame.index != int(grams.argmax()), "yes")
    roles = {
        target: {one.name: one.role for one in propose(facts_of(frame, target), target)}
        for target in ("low", "rare", "nearly")
    }
    assert {target: found["bwt"] for target, found in roles.items()} == {
        "low": "dropped",
        "rare": "quasi_identifier",
        "nearly": "quasi_identifier",
    }
    assert roles["low"]["age"] == "quasi_identifier"


def test_of_many_columns_those_stay_that_are_known_then_those_that_are_sensitive() -> None:
    draw = np.random.default_rng(5)
    sizes = {"region": 150, "annual_income": 150, "bought": 2, **{f"q{n}": 7 for n in range(14)}}
    frame = pd.DataFrame({name: draw.integers(0, size, 3000) for name, size in sizes.items()})
    roles = {one.name: one.role for one in propose(facts_of(frame, None), "bought")}
    assert roles["region"] == roles["annual_income"] == "quasi_identifier"
    assert sum(role == "quasi_identifier" for role in roles.values()) == 12


def test_what_explains_most_of_the_target_is_said_and_can_be_left_out() -> None:
    """A part in a plan tells who may have one; a good feature does not tell so much."""
    frame = answers("bought").dropna()[["q3", "tickets", "minutes", "bought"]]
    has_part = (frame["bought"] == "yes") & (frame.index % 10 > 0)
    frame["basket"] = np.where(has_part, 1, 0)
    facts = facts_of(frame, "bought")
    found = {one.name: one for one in propose(facts, "bought")}
    assert [one.name for one in found.values() if one.gives_away] == ["basket"]
    assert found["basket"].role == "quasi_identifier"
    assert found["basket"].facts.explains == f"explains {found['basket'].facts.tells:.0%}"
    left = {one.name: one for one in propose(facts, "bought", drop=["BASKET"])}
    assert (left["basket"].role, left["basket"].gives_away) == ("dropped", False)
    assert [*left] == [*found]
    assert all(left[name] == one for name, one in found.items() if name != "basket")


@pytest.mark.parametrize(
    ("drop", "why"),
    [("Bought", "bought is what models predict"), ("nothing", "there is no nothing")],
)
def test_only_a_column_that_nobody_needs_is_left_out(drop: str, why: str) -> None:
    facts = facts_of(answers("bought"), "bought")
    with pytest.raises(SpecError, match=why):
        propose(facts, "bought", drop=["q3", drop])


@pytest.mark.parametrize("values", [4, 72, 300])
def test_a_target_that_singles_out_is_said_however_few_values_it_has(values: int) -> None:
    visits = np.arange(RECORDS) % (values - 1)
    visits[7] = values - 1
    frame = pd.DataFrame({"key": range(RECORDS), "age": range(RECORDS), "visits": visits})
    (target,) = (one for one in propose(facts_of(frame, None), "visits") if one.is_target)
    assert target.is_telling
    assert "1 record singled out by it alone, and released as it is: whoever" in target.reason
    common = pd.DataFrame({"key": range(RECORDS), "visits": np.arange(RECORDS) % values})
    (target,) = (one for one in propose(facts_of(common, None), "visits") if one.is_target)
    assert not target.is_telling
    assert "released as it is" not in target.reason


def test_a_record_key_that_is_left_out_is_none() -> None:
    frame = answers("bought").assign(key=range(RECORDS), number=range(RECORDS))
    roles = {one.name: one.role for one in propose(facts_of(frame, "bought"), drop=["key"])}
    assert (roles["key"], roles["number"]) == ("dropped", KEY)


def test_a_time_that_equals_the_released_one_is_found() -> None:
    """Without a relapse the time until one is the time until death, which stays as it is."""
    draw = np.random.default_rng(3)
    frame = pd.DataFrame({"key": range(RECORDS), "died": draw.integers(0, 2, RECORDS)})
    frame["days"] = draw.integers(1, 4000, RECORDS)
    relapsed = draw.random(RECORDS) < 0.5
    frame["free_days"] = np.where(relapsed, frame["days"] // 2, frame["days"])
    frame["marker"] = draw.integers(1, 4000, RECORDS)
    connection = duckdb.connect(":memory:")
    connection.from_df(frame).create("people")
    warehouse = cast(Warehouse, SmallWarehouse(connection, {}))
    facts = with_target_shares(warehouse, "people", read_facts(warehouse, "people"), "died")
    found = find_copies(warehouse, "people", propose(facts, "died", "days"))
    assert found == [("free_days", "days", int((frame["free_days"] == frame["days"]).sum()))]
    left = propose(facts, "died", "days", drop=["free_days"])
    assert [one.name for one in left if one.is_telling] == ["days"]
    assert find_copies(warehouse, "people", left) == []


def test_a_column_that_is_known_in_one_class_alone_reveals_it() -> None:
    """A date of death has many values, and is NULL of whoever lives."""
    frame = answers("bought")
    died = frame["bought"] == "yes"
    frame["death_day"] = np.where(died, np.arange(RECORDS) % 28, np.nan)
    frame["weight"] = np.where(np.arange(RECORDS) % 2, 70.0 + np.arange(RECORDS) % 28, np.nan)
    proposals = {one.name: one for one in propose(facts_of(frame, "bought"), "bought")}
    assert proposals["death_day"].is_leak
    assert proposals["death_day"].reason.endswith("where it is NULL tells bought")
    assert not proposals["weight"].is_leak


def test_columns_that_tell_of_the_target_come_before_those_with_known_names() -> None:
    names = ["age", "sex", "city", "race", "height", "weight", "education", "marital_status"]
    names += ["religion", "nationality", "occupation", "zip", "income_group", "birth_year"]
    frame = answers("bought").rename(columns={f"q{n}": name for n, name in enumerate(names)})
    of_people = propose(facts_of(frame, None), None)
    roles = {one.name: one.role for one in propose(facts_of(frame, "bought"), "bought")}
    assert {one.role for one in of_people if one.name == "minutes"} == {"dropped"}
    assert (roles["tickets"], roles["minutes"]) == ("quasi_identifier", "quasi_identifier")


def births() -> pd.DataFrame:
    draw = np.random.default_rng(3)
    weight = draw.normal(3_400, 500, RECORDS).round()
    sex = draw.choice(["f", "m"], RECORDS)
    frame = pd.DataFrame({"birth_no": np.arange(RECORDS) + 10**6, "weight": weight, "sex": sex})
    frame["is_low"] = (weight < 2_500).astype(int)
    frame["band"] = np.select([weight < 3_000, weight < 4_000], ["light", "middle"], "heavy")
    frame.loc[draw.random(RECORDS) < 0.1, "band"] = None
    # One record alone is at an end by chance; and one that is low is said to be none.
    frame["has_twin"] = (weight == weight.max()).astype(int)
    frame["was_low"] = frame["is_low"].where(frame.index != frame["weight"].idxmin(), 0)
    return frame


def test_ranges_of_a_number_that_models_predict_are_no_features() -> None:
    facts = {one.name: one for one in facts_of(births(), "weight")}
    reason = "each of its values has a range of weight of its own"
    assert {name for name, one in facts.items() if one.known_with == reason} == {"is_low", "band"}
    found = {one.name: one for one in propose([*facts.values()], "weight")}
    assert (found["band"].role, found["band"].is_leak) == ("dropped", True)
    assert found["was_low"].role != "dropped"
    kept = {one.name: one for one in propose([*facts.values()], "weight", keep=["is_low"])}
    assert kept["is_low"].role != "dropped"
