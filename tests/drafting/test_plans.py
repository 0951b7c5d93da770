"""A hierarchy is proposed where it would tell something, and else what to do first."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dbt_anonymize.drafting.facts import ColumnFacts
from dbt_anonymize.drafting.plans import plan
from dbt_anonymize.errors import HierarchyError


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


def test_ages_as_text_with_one_code_are_to_be_cast() -> None:
    facts, values = column([*map(str, range(30, 90)), "> 89"])
    with pytest.raises(HierarchyError, match="60 of 61 values are numbers or dates, stored") as e:
        plan(facts, values, "people_hierarchy_age", "--ref people", "seeds")
    assert "Cast the column" in str(e.value)
    assert "89" not in str(e.value)


def test_words_and_few_numbers_get_a_hierarchy() -> None:
    words = [f"word {number}" for number in range(50)]
    for some in (words, [*map(str, range(20)), "many"]):
        facts, values = column(some)
        built = plan(facts, values, "people_hierarchy_age", "--ref people", "seeds")
        assert built.hierarchy.levels == 3
