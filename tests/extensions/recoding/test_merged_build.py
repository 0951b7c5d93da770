"""Merged groups in a build: what would have been left out is released, and the guarantee holds."""

from __future__ import annotations

from typing import Any

import pytest

from tests.end_to_end.guaranteed import declare, fetch
from tests.projects import Project

pytestmark = [pytest.mark.dbt, pytest.mark.sampled_tests(group="builds")]
DIVERSE = {"l_diversity": {"attribute": "churned", "l": 2}}


def test_nobody_is_left_out_for_a_class_of_one_value(consumer: Project) -> None:
    def change(spec: dict[str, Any]) -> None:
        clusters = {"recoding": "clustering", "cluster_size": 4, "guarantees": DIVERSE}
        groups = {"recoding": "microaggregation", "method": "mdav", "guarantees": DIVERSE}
        spec["efforts"] = [clusters, clusters | {"merge": True}, groups | {"merge": True}]
        spec["suppression_limit"] = 0.9

    declare(consumer, change)
    views = [f"+customers_effort_{number}" for number in (2, 3)]
    outcome = consumer.dbt("run", "--select", "+customers_privacy", *views)
    assert outcome.succeeded, outcome.messages
    alone, *merged = fetch(consumer, "from customers_privacy where effort > 0 order by effort")
    assert alone["suppressed_records"] > 0
    for number, row in enumerate(merged, start=2):
        assert row["suppressed_records"] == 0
        # Counted from the effort itself.
        ((smallest, fewest),) = consumer.query(
            "select min(records), min(values) from (select count(*) as records, "
            "count(distinct churned) as values "
            f"from customers_effort_{number} group by equivalence_class)"
        )
        assert smallest >= 4
        assert fewest == 2
