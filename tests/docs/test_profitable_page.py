"""The worked example of a profitable release, from the definition."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import pytest

from tests.docs.pages import DOCS, MODELS, Page
from tests.oracle.privacy import Class, label_loss, payout

PAGE = Page(MODELS / "profitable.md")
RECODING = Page(DOCS / "recoding.md")
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


def brought(labels: Sequence[Sequence[str]]) -> list[float]:
    """Return what each record of the example of recoding.md brings, by its labels."""
    guarantees = RECODING.specs[0].content["efforts"][3]["guarantees"]
    game, sizes = (
        {**guarantees["profitable"], "attacker": "prosecutor"},
        Counter(map(tuple, labels)),
    )
    found = []
    for age, code in labels:
        one = Class(sizes[age, code], covered=[(_ages(age), 6), (_codes(code), 4)])
        found.append(max(0.0, payout(game, one)) if one.size >= 2 else 0.0)
    return found


def _ages(label: str) -> Fraction:
    if not label.startswith("["):
        return Fraction(6 if label == "*" else 1)
    lower, upper = map(int, label.strip("[)").split(", "))
    return Fraction(upper - lower, 10)


def _codes(label: str) -> Fraction:
    return Fraction({"*": 4}.get(label, 2 if "*" in label else 1))


def test_payouts_per_record_are_as_printed() -> None:
    people = RECODING.table("record", "age").records
    labels = [person["payouts"] for person in people]
    paid = brought([label.rsplit(" ", 1) if " " in label else (label, "") for label in labels])
    for row in PAGE.table("records", "labels").records:
        for person in (int(record) - 1 for record in row["records"].split(", ")):
            assert labels[person] == row["labels"]
            assert f"{paid[person]:.1f}" == row["payout of each"]
    files = RECODING.files.values()
    ages, codes = (list(csv.reader(io.StringIO(text)))[1:] for text in files)
    # Each level with the labels of all records.
    by_age = [
        [
            next(row[1 + level] for row in ages if int(row[0]) <= int(p["age"]) < int(row[1]))
            for p in people
        ]
        for level in (1, 2, 3)
    ]
    by_code = [
        [next(row[level] for row in codes if row[0] == p["zip"]) for p in people]
        for level in (0, 1, 2)
    ]
    alone = {
        (age, code): sum(brought(list(zip(of_age, of_code, strict=True))))
        for age, of_age in enumerate([[p["age"] for p in people], *by_age])
        for code, of_code in enumerate(by_code)
    }
    assert max(alone, key=lambda levels: alone[levels]) == (1, 1)
    assert f"In all {sum(paid):.1f}; " in PAGE.text
    assert f"at most {alone[1, 1]:.1f}, by age 1 and zip 1" in PAGE.text
    assert f"four bring {brought([('[20, 40)', '01***')] * 4)[0]:.1f} each" in PAGE.text
