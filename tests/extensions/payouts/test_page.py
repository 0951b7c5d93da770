"""The worked example of a profitable release, from the definition."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tests.docs.pages import DOCS, Page
from tests.oracle.privacy import Class, label_loss, payout

PAGE = Page(DOCS / "extensions" / "payouts" / "profitable.md")
# Of the example: eight ages and four zip codes.
LEAVES = {"age": 8, "zip": 4}
AMOUNTS = {
    "publisher_benefit": 10,
    "publisher_loss": 16,
    "adversary_gain": 2.1,
    "adversary_cost": 0.7,
}


def covered(age: str, code: str) -> list[tuple[Fraction, int]]:
    lower, upper = (int(end) for end in age.strip("[)").split(", "))
    return [
        (Fraction(upper - lower, 5), LEAVES["age"]),
        (Fraction(2 if "*" in code else 1), LEAVES["zip"]),
    ]


@pytest.mark.parametrize("attacker", ["prosecutor", "journalist"])
def test_payouts_are_as_printed(attacker: str) -> None:
    labels = {row["class"]: row for row in PAGE.table("class", "age").records}
    for row in PAGE.table("class", "class_size").records:
        shown = labels[row["class"]]
        one = Class(
            int(row["class_size"]),
            population=int(row["population_size"]),
            covered=covered(shown["age"], shown["zip"]),
        )
        assert label_loss(one) == pytest.approx(float(row["loss"]))
        assert float(shown["loss"]) == float(row["loss"])
        assert float(row["benefit"]) == pytest.approx(10 * (1 - label_loss(one)))
        paid = payout({**AMOUNTS, "attacker": attacker}, one)
        assert float(row[f"payout, {attacker}"]) == pytest.approx(paid, abs=1e-9)
        assert row[attacker].startswith("yes" if paid > 1e-9 else "no")
    assert math.log(2) / math.log(32) == pytest.approx(0.2)
