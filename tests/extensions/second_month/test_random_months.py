"""Months drawn at random: no honest release is called broken, and its figures are its own."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from tests.projects import Project
from tests.second_month.customers import (
    CLASS,
    Customers,
    K,
    frozen_copy,
    members_of,
    published,
    run,
)

pytestmark = pytest.mark.sampled_tests(group="builds")


def live_a_month(customers: Customers, of_class: dict[str, list[str]], seed: str) -> None:
    """Let a few join, leave, move to another class and change a value, at random."""
    randomness = random.Random(seed)
    there = [key for keys in of_class.values() for key in keys if key in customers.rows]
    smallest = min((keys for keys in of_class.values()), key=len)
    for like in [smallest[0], *randomness.sample(there, 3)]:
        if like in customers.rows:
            customers.join(like, randomness.choice((0, 1, K - 2, K)))
    for key in randomness.sample(there, 4):
        happens = randomness.choice(("leaves", "moves", "changes"))
        if happens == "leaves":
            customers.leave([key])
        elif happens == "moves" and (other := randomness.choice(there)) in customers.rows:
            for name in ("birth_date", "zip", "gender"):
                customers.rows[key][name] = customers.rows[other][name]
        else:
            churned = customers.rows[key]["churned"]
            customers.rows[key]["churned"] = {"yes": "no", "no": "yes"}[churned]


# Ten times five months: none may be called broken.
@pytest.mark.parametrize("seed", range(10))
def test_random_months_raise_no_alarm(built_consumer: Project, tmp_path: Path, seed: int) -> None:
    project = frozen_copy(built_consumer, tmp_path / "months")
    of_class = members_of(project)
    of_class.pop("", [])
    customers = Customers(project)
    for month in range(5):
        live_a_month(customers, of_class, f"{seed} {month}")
        customers.build()
        sizes = Counter(row[: len(CLASS)] for row in published(project).elements())
        ((k, highest),) = project.query(
            "select results.k, privacy.highest_risk from customers_results as results "
            "inner join customers_privacy as privacy on results.effort = privacy.effort "
            "where results.is_chosen"
        )
        assert (k, highest) == (min(sizes.values()), pytest.approx(1 / k))
        checks = ["--check", "recomputation", "--check", "guarantees", "--check", "attacks"]
        result = run(project, "verify", "customers", *checks)
        assert result.exit_code == 0, result.output
