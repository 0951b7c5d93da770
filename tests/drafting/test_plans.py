"""A hierarchy is proposed where it would tell something, and else what to do first."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from dbt_anonymize.drafting.facts import ColumnFacts
from dbt_anonymize.drafting.plans import number_plan, plan
from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.hierarchies import IntervalHierarchy


def column(values: list[str]) -> tuple[ColumnFacts, Any]:
    """Return the facts of a text column and its values, each of ten records."""
    facts = ColumnFacts(
        "age",
        "VARCHAR",
        "text",
        records=10 * len(values),
        known=10 * len(values),
        distinct=len(values),
        longest=max(map(len, values)),
        shortest=min(map(len, values)),
        is_code=True,
    )
    return facts, SimpleNamespace(counts=lambda: dict.fromkeys(sorted(values), 10))


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("age", range(18, 91), "intervals --widths 5,10,20 --whole"),
        ("alter", range(16, 66), "intervals --widths 5,10,20 --whole"),
        ("years", range(18, 91), "intervals --widths 5,10,20 --whole"),
        ("cylinders", (4, 5, 6, 8), "integers"),
        ("year", range(1990, 2021), "intervals --widths 1,5,10 --whole"),
        ("points", range(1001), "intervals --widths 50,100,500 --whole"),
        ("income", [1000 * 1.01**n for n in range(900)], "growing"),
        ("alike", [30], "intervals --widths 1 --whole"),
    ],
)
def test_numbers_have_round_bounds_and_no_label_below_zero(
    name: str, values: Any, words: str
) -> None:
    built, command = number_plan(name, {Decimal(str(value)): 9 for value in values})
    assert command == words
    assert "[-" not in str(built.labels)
    assert isinstance(built, IntervalHierarchy)
    assert built.lower_bounds[0] >= 0


def test_many_numbers_as_text_are_to_be_cast() -> None:
    facts, values = column([*map(str, range(30, 900, 3)), "> 899"])
    with pytest.raises(HierarchyError, match="290 of 291 values are numbers or dates, stored") as e:
        plan(facts, values, "people_hierarchy_age", "--ref people", "seeds")
    assert "Cast the column" in str(e.value)
    assert "899" not in str(e.value)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([*map(str, range(30, 90)), "> 89"], "ordered"),
        ([f"word {number}" for number in range(50)], "others"),
        ([*map(str, range(20)), "many"], "ordered"),
        (["low", "high", "medium", "very high", "unknown"], "ordered"),
        (["red", "green", "blue", "black"], "others"),
        (["yes", "no"], "others"),
    ],
)
def test_words_merge_in_their_order_or_by_frequency(values: list[str], words: str) -> None:
    facts, found = column(values)
    built = plan(facts, found, "people_hierarchy_age", "--ref people", "seeds")
    assert built.command.startswith(f"dbt-anonymize hierarchy {words} --ref people --column age")
    assert built.hierarchy.levels > 1 or len(values) < 3
