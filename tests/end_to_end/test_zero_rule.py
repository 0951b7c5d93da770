"""A release that teaches a model nothing is not published unless it is asked for by number."""

from __future__ import annotations

from typing import Any

import pytest

from tests.end_to_end.test_fail_closed import SEED_AND_RUN, stops
from tests.end_to_end.test_guarantees import declare, fetch
from tests.extensions import has
from tests.projects import Project

pytestmark = pytest.mark.sampled_tests(group="builds")

LEARNS_NOTHING = "even on effort 0, the untouched table, the model is not surely better than"


def test_where_models_learn_nothing_a_release_takes_a_decision(consumer: Project) -> None:
    """The height of a customer says nothing about whether she leaves."""

    def useless(spec: dict[str, Any]) -> None:
        spec["features"] = ["größe"]
        spec["quality"] |= {"measure": "accuracy"}
        spec["quality"].pop("positive")

    declare(consumer, useless)
    advice = "where QF does not beat the zero rule or lacks a value, add a weaker effort"
    stops(
        consumer,
        *SEED_AND_RUN,
        says=(LEARNS_NOTHING, "exactly one effort must be chosen; got 0", advice),
    )
    rows = fetch(consumer, "from customers_results order by effort")
    assert [row["beats_zero_rule"] for row in rows] == [False] * 4
    assert all("that of the zero rule, which has 0.5" in row["reason"] for row in rows[1:])
    if has("details"):
        (row,) = fetch(consumer, "from customers_alpha_ranges")
        assert (row["effort"], row["is_releasable"], row["is_usable"]) == (0, False, False)
    declare(consumer, lambda spec: spec.update(release={"effort": 3}))
    outcome = consumer.dbt(*SEED_AND_RUN)
    assert outcome.succeeded, outcome.messages
    for warning in (LEARNS_NOTHING, "effort 3 is released since release.effort says so"):
        assert warning in outcome.messages
    (chosen,) = fetch(consumer, "from customers_results where is_chosen")
    assert (chosen["effort"], chosen["qualifies"], chosen["runner_up"]) == (3, False, None)
    assert "although it does not qualify: QF" in chosen["reason"]
