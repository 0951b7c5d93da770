"""Recodings that are refused, and a trial of a frozen one."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from dbt_anonymize.errors import RecodingError
from tests.extensions.recoding.compilation import (
    CASES,
    LEVELS,
    LOCAL_CASES,
    PAID_CASES,
    Case,
    dbt,
    frozen_parts,
    write_project,
)
from tests.extensions.recoding.oracle import Record, World
from tests.extensions.recoding.world import Warehouse
from tests.oracle.generalization import CategoricalHierarchy, IntervalHierarchy

LOCAL, COUNTED = LOCAL_CASES[0], CASES[0]
# The decade is labelled like its first half: together they would look like one class.
TENS = IntervalHierarchy(
    (0.0, 5.0, 10.0, 20.0),
    (("0", "5", "10"), ("0", "0", "10"), ("*", "*", "*")),
)
PLACES = CategoricalHierarchy(("Bonn", "Rome"), (("Bonn", "Rome"), ("DE", "IT"), ("*", "*")))


def loaded(warehouse: Warehouse, case: Case) -> None:
    """Load records of which the first two are alike at once, and the others in a later round."""
    values = ((1.0, "Bonn"), (2.0, "Bonn"), (3.0, "Rome"), (7.0, "Rome"))
    people = tuple(Record(value, "ab"[place % 2], place) for place, value in enumerate(values))
    warehouse.load(case, World((TENS, PLACES), people))


def with_guarantee(case: Case, guarantee: dict[str, object]) -> Case:
    """Return a case that must keep one more."""
    return Case(
        **{**case.__dict__, "guarantees": (*case.guarantees, guarantee)}  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("case", [COUNTED, LOCAL], ids=["multidimensional", "local"])
def test_a_guarantee_about_a_population_is_refused(case: Case, warehouse: Warehouse) -> None:
    loaded(warehouse, case)
    with pytest.raises(RecodingError, match="k_map cannot be kept by a recoding that differs"):
        warehouse.recode(with_guarantee(case, {"model": "k_map", "k": 2, "estimator": None}))


@pytest.mark.needs("payouts")
def test_payouts_need_amounts_and_nothing_but_sizes(warehouse: Warehouse) -> None:
    paid = PAID_CASES[0]
    loaded(warehouse, paid)
    unpaid = Case(**{**paid.__dict__, "guarantees": paid.guarantees[:1]})
    with pytest.raises(RecodingError, match="need the guarantee profitable; got none"):
        warehouse.recode(unpaid)
    diverse = {"model": "l_diversity", "attribute": "disease", "variant": "distinct", "l": 2}
    with pytest.raises(RecodingError, match="l_diversity cannot be kept by payouts per record"):
        warehouse.recode(with_guarantee(paid, diverse))


def test_a_label_with_two_meanings_is_refused(warehouse: Warehouse) -> None:
    case = Case(**{**LOCAL.__dict__, "rounds": ((1, 1), (2, 1))})
    loaded(warehouse, case)
    with pytest.raises(RecodingError, match="a label of age must stand for one interval"):
        warehouse.recoding(case)


def test_a_value_without_a_leaf_is_refused_and_not_shown(warehouse: Warehouse) -> None:
    loaded(warehouse, COUNTED)
    warehouse.connection.execute(f"update {COUNTED.microdata} set city_leaf = 'Sofia'")
    with pytest.raises(RecodingError, match=r"city must be in its hierarchy; \d+ are not") as error:
        warehouse.recode(COUNTED)
    assert "Sofia" not in str(error.value)


def test_a_trial_of_a_frozen_one_shows_everything_at_the_root(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    database = tmp_path / "warehouse.duckdb"
    name, arguments = f"{COUNTED.name}_frozen_rows", frozen_parts(COUNTED)
    text = arguments[name].replace("_frozen_rows(", "frozen_recoding(")
    write_project(tmp_path / "project", {"frozen": text}, str(database))
    with duckdb.connect(str(database)) as connection:
        loaded(Warehouse(connection), COUNTED)
    dbt(tmp_path / "project", "compile")
    (file,) = (tmp_path / "project" / "target" / "compiled").rglob("frozen.sql")
    with duckdb.connect(str(database)) as connection:
        shown = Warehouse(connection).shown(COUNTED, file.read_text(encoding="utf-8"))
    assert len(shown) == 4
    assert {(c.label, c.level, c.share) for cells in shown.values() for c in cells} == {
        ("*", LEVELS, 1.0)
    }
