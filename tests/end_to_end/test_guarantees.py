"""Several guarantees, subjects and a population in a stranger's project.

Whatever the warehouse says is counted again in Python, from the records themselves.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.end_to_end.guaranteed import (
    CLOSE,
    ONLY_MICRODATA,
    SPEC,
    STALE,
    by_label,
    declare,
    fetch,
    generalizer,
    is_close,
    read_seed,
    write_seed,
)
from tests.end_to_end.test_fail_closed import PLANTED, stops
from tests.projects import Project
from tests.written import everything_written

pytestmark = pytest.mark.sampled_tests(group="builds")


@pytest.mark.usefixtures("everything_logged")
def test_what_guarantees_cannot_judge_stops_the_build_and_is_counted(consumer: Project) -> None:
    def change(spec: dict[str, Any]) -> None:
        spec["subject"] = "e-mail"
        spec["columns"]["order"]["role"] = "sensitive"
        spec["guarantees"]["l_diversity"] = [
            {"attribute": "order", "l": 1000},
            {"attribute": "churned", "l": 3},
        ]
        spec["guarantees"]["alpha_k_anonymity"] = {
            "attribute": "churned",
            "alpha": 0.9,
            "k": 4,
            "values": ["yes", "Yes"],
        }

    declare(consumer, change)
    rows = (f"1,{PLANTED},,,01067,male,7,170,1.0,yes", f"2,{PLANTED},a@b.org,,,,,170,1.0,no")
    consumer.edit("seeds/customers.csv", lambda text: text + "".join(f"{r}\n" for r in rows))
    values = len({row["order"] for row in read_seed(consumer, "customers")} - {""})
    stops(
        consumer,
        "build",
        "--full-refresh",
        "--exclude-resource-type",
        "test",
        "unit_test",
        says=(
            "the subject e-mail must not be NULL; 1 of 402 records have none",
            "the sensitive attribute order must not be NULL, since a guarantee is about it; 1 of",
            f"l_diversity requires l = 1000 of order, which has {values} values only",
            "l_diversity requires l = 3 of churned, which has 2 values only",
            "alpha_k_anonymity limits 2 values of churned, of which 1 do not occur",
        ),
    )
    assert PLANTED not in everything_written(consumer)


def test_a_sensitive_hierarchy_that_lacks_a_value_stops_the_build(consumer: Project) -> None:
    write_seed(
        consumer,
        "customers_hierarchy_churned",
        [{"value": "no", "level_1": "stays", "level_2": "*"}],
    )

    def change(spec: dict[str, Any]) -> None:
        tree = {"ref": "customers_hierarchy_churned", "kind": "categorical", "levels": 2}
        spec["columns"]["churned"]["hierarchy"] = tree
        spec["guarantees"]["t_closeness"] = {
            "attribute": "churned",
            "t": 0.9,
            "distance": "hierarchical",
        }

    declare(consumer, change)
    stops(
        consumer,
        "build",
        "--exclude-resource-type",
        "test",
        "unit_test",
        "-s",
        "customers_hierarchy_churned+",
        says=("a value of churned is not in the hierarchy customers_hierarchy_churned",),
    )


def test_the_gate_counts_the_average_risk_of_people(
    built_consumer: Project, tmp_path: Path
) -> None:
    """Everybody was somebody else when the classes were built; now each class is four people."""
    project = built_consumer.copy(tmp_path / "project")

    def change(spec: dict[str, Any]) -> None:
        spec["subject"] = "e-mail"
        spec["guarantees"]["reidentification_risk"] = {"average": 0.12}
        spec["release"] = {"effort": 3}
        spec["suppression_limit"] = 0.2

    declare(project, change)
    assert project.dbt("build", *STALE).succeeded
    generalize = generalizer(project)
    levels = yaml.safe_load((project.folder / SPEC).read_text(encoding="utf-8"))["efforts"][2]
    rows = read_seed(project, "customers")
    seen: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        labels = generalize(row, levels)
        row["e-mail"] = f"{'-'.join(labels)}-{seen[labels] % 4}@example.org"
        seen[labels] += 1
    write_seed(project, "customers", rows)
    stops(
        project,
        "build",
        *STALE,
        "-s",
        ONLY_MICRODATA,
        says=("reidentification_risk requires average = 0.12", "counting subjects"),
    )


def test_the_gate_compares_with_the_records_of_today(
    built_consumer: Project, tmp_path: Path
) -> None:
    """Many more suppressed records of one value: other shares, and more than may be suppressed.

    Effort 1 has a guarantee of its own, which the gate knows and the other efforts do not have.
    """
    project = built_consumer.copy(tmp_path / "project")

    def change(spec: dict[str, Any]) -> None:
        first, *others = spec["efforts"]
        own = {"levels": first, "guarantees": {"t_closeness": CLOSE}}
        spec["efforts"] = [own, {"levels": first}, *others[1:]]
        spec["release"] = {"effort": 1}
        spec["suppression_limit"] = 0.5

    declare(project, change)
    assert project.dbt("build", *STALE).succeeded
    gone: dict[int, set[int]] = {}
    for effort in (1, 2):
        rows = fetch(project, f"from customers_effort_{effort}")
        gone[effort] = {row["customer_id"] for row in rows if row["is_suppressed"]}
        assert gone[effort] == {
            row["customer_id"]
            for members in by_label(rows)
            for row in members
            if len(members) < 4 or (effort == 1 and not is_close(members, rows))
        }
    assert gone[2] < gone[1]
    broken = dict(project.query("select effort, broken_guarantees from customers_privacy"))
    assert "t_closeness of churned" in broken[1]
    assert "t_closeness" not in broken[2]
    ((key,), *_) = project.query(
        "select customer_id from customers_effort_1 where is_suppressed order by 1"
    )
    rows = read_seed(project, "customers")
    (lonely,) = (row for row in rows if row["customer_id"] == str(key))
    new = [{**lonely, "customer_id": str(100_000 + n), "churned": "yes"} for n in range(1000)]
    write_seed(project, "customers", rows + new)
    stops(
        project,
        "build",
        *STALE,
        "-s",
        ONLY_MICRODATA,
        says=("t_closeness of churned requires t = 0.35", "of the records may be suppressed"),
    )
