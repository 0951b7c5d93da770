"""A column that is renamed in the spec alone is one problem, and the first."""

from __future__ import annotations

import copy
from typing import Any

from dbt_anonymize.spec.loading import validate
from tests.spec.declarations import SPEC


def renamed(old: str, new: str) -> dict[str, Any]:
    """Return the spec with another key of a column, and everything else as before."""
    raw = copy.deepcopy(SPEC)
    raw["columns"] = {new if name == old else name: c for name, c in raw["columns"].items()}
    return raw


def lines(raw: dict[str, Any]) -> list[str]:
    return [str(problem) for problem in validate(raw)[1]]


def test_a_renamed_column_is_one_problem() -> None:
    raw = renamed("city", "town")
    assert len(raw["efforts"]) > 1
    assert lines(raw) == [
        "columns.town: must be a column of the source: efforts and features name city, which is "
        "not declared, and no effort names town. If the source has city, call the column so; else "
        "name town there."
    ]


def test_other_problems_stay_and_come_after_it() -> None:
    raw = renamed("city", "town") | {"suppression_limit": 2}
    found = lines(raw)
    assert found[0].startswith("columns.town: must be a column of the source")
    assert [line.partition(":")[0] for line in found[1:]] == ["suppression_limit"]


def test_an_effort_that_forgets_a_column_is_no_renaming() -> None:
    raw = copy.deepcopy(SPEC)
    del raw["efforts"][0]["city"]
    assert "; city is missing" in lines(raw)[0]
    raw = renamed("city", "town")
    raw["efforts"][0]["street"] = 1
    assert not any("must be a column of the source" in line for line in lines(raw))
