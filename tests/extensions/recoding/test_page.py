"""The page on recoding says what is released of its example, and what that brings."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

import pytest

from tests.docs.examples import (
    BASIS,
    QUASI_IDENTIFIERS,
    RECORD_KEY,
    Built,
    Example,
    build,
    diagnosed,
    name_of_spec,
)
from tests.docs.pages import DOCS, Page
from tests.oracle.aggregates import Member, aggregate
from tests.oracle.privacy import Class, payout

# An effort of the page goes by payouts.
pytestmark = pytest.mark.needs("payouts")
PAGE = Page(DOCS / "extensions" / "recoding.md")
# What the records of its example bring.
PROFITABLE = Page(DOCS / "extensions" / "payouts" / "profitable.md")
# What its text says of the example.
RECODINGS = {
    "full_domain": {"age": 2, "zip": 1},
    "local": {"recoding": "local", "rounds": [{"age": 2, "zip": 1}, {"age": 2, "zip": 2}]},
    "payouts": PAGE.specs[0].content["efforts"][3],
    "multidimensional": {"recoding": "multidimensional"},
    "cell_suppression": {
        "recoding": "cell_suppression",
        "levels": {"age": 1, "zip": 0},
        "importance": {"age": 2},
    },
    "microaggregation": {"recoding": "microaggregation", "k": 4},
    "clustering": {"recoding": "clustering"},
    "modes": {"recoding": "microaggregation", "k": 4, "categories": "mode"},
}


def example() -> Example:
    """Return the example of the page."""
    rows = PAGE.table(RECORD_KEY, *QUASI_IDENTIFIERS).records
    return diagnosed(PAGE, PAGE.name, [tuple(row[q] for q in QUASI_IDENTIFIERS) for row in rows])


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    """Give what the page declares, built once."""
    declared = example().spec(name_of_spec(PAGE.name, 1), {"efforts": list(RECODINGS.values())})
    relations = {*BASIS, "groups", "recoding", "effort", "information_loss"}
    found = build(tmp_path_factory.mktemp("documented"), [example()], [(declared, relations)])
    with found.connection:
        yield found


def test_the_parts_of_specs_are_valid() -> None:
    assert PAGE.specs
    for snippet in PAGE.specs:
        spec = example().spec("documented", snippet.content)
        assert set(snippet.content) <= spec.model_fields_set


def test_recodings_are_as_printed(built: Built) -> None:
    for number, recoding in enumerate(RECODINGS, start=1):
        rows = built.rows(
            f"select * from {name_of_spec('recoding', 1)}_effort_{number} order by {RECORD_KEY}"
        )
        computed = [
            "suppressed" if row["is_suppressed"] else f"{row['age']} {row['zip']}" for row in rows
        ]
        assert [row[recoding] for row in PAGE.table(RECORD_KEY).records] == computed


def test_aggregates_are_as_printed() -> None:
    people = PAGE.table(RECORD_KEY).records
    for person in people:
        label = person["full_domain"]
        if label == "suppressed":
            assert person["shown"] == label
            continue
        alike = [one for one in people if one["full_domain"] == label]
        age, _, code = label.rpartition(" ")
        bounds = _bounds(age)
        members = {
            name: [Member(one[RECORD_KEY], read(one[name])) for one in alike]
            for name, read in (("age", Fraction), ("zip", str))
        }
        mean = aggregate(members["age"], "mean", bounds)
        mode = aggregate(members["zip"], "mode")
        shown = age if mean is None else f"{float(mean):g}"
        assert person["shown"] == f"{shown} {mode or code}"


def test_non_uniform_entropy_is_undefined_where_levels_differ_per_record(built: Built) -> None:
    rows = built.rows(f"select * from {name_of_spec('recoding', 1)}_information_loss")
    undefined = {row["effort"] for row in rows if row["non_uniform_entropy"] is None}
    assert undefined == {
        number for number, name in enumerate(RECODINGS, start=1) if name != "full_domain"
    }


def brought(labels: Sequence[Sequence[str]]) -> list[float]:
    """Return what each record of the example brings, by its labels."""
    guarantees = PAGE.specs[0].content["efforts"][3]["guarantees"]
    game, sizes = (
        {**guarantees["profitable"], "attacker": "prosecutor"},
        Counter(map(tuple, labels)),
    )
    found = []
    for age, code in labels:
        one = Class(sizes[age, code], covered=[(_ages(age), 6), (_codes(code), 4)])
        found.append(max(0.0, payout(game, one)) if one.size >= 2 else 0.0)
    return found


def _bounds(label: str) -> tuple[int, int]:
    lower, upper = map(int, label.strip("[)").split(", "))
    return lower, upper


def _ages(label: str) -> Fraction:
    if not label.startswith("["):
        return Fraction(6 if label == "*" else 1)
    lower, upper = _bounds(label)
    return Fraction(upper - lower, 10)


def _codes(label: str) -> Fraction:
    return Fraction({"*": 4}.get(label, 2 if "*" in label else 1))


def test_payouts_per_record_are_as_printed() -> None:
    people = PAGE.table("record", "age").records
    labels = [person["payouts"] for person in people]
    paid = brought([label.rsplit(" ", 1) if " " in label else (label, "") for label in labels])
    for row in PROFITABLE.table("records", "labels").records:
        for person in (int(record) - 1 for record in row["records"].split(", ")):
            assert labels[person] == row["labels"]
            assert f"{paid[person]:.1f}" == row["payout of each"]
    files = PAGE.files.values()
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
    assert f"In all {sum(paid):.1f}; " in PROFITABLE.text
    assert f"at most {alone[1, 1]:.1f}, by age 1 and zip 1" in PROFITABLE.text
    assert f"four bring {brought([('[20, 40)', '01***')] * 4)[0]:.1f} each" in PROFITABLE.text
