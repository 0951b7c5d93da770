"""Figures of a release that are worse than those of an earlier one by more than tolerated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.extensions.diff.compared import Composition, read_register_file
from dbt_anonymize.extensions.diff.differences import Comparison
from dbt_anonymize.project.register import RegisteredRelease
from dbt_anonymize.spec import Spec
from tests.spec.declarations import spec

BEFORE = RegisteredRelease(
    release=3,
    released_at="2026-01-31 10:00:00",
    effort=2,
    levels="age 2, city 1",
    spec="0b4b731b",
    hierarchies="5ca64680",
    records=1000,
    suppressed_records=10,
    released_records=990,
    equivalence_classes=30,
    k=5,
    highest_risk=0.2,
    average_risk=0.03,
    qf=0.9,
    qf_low=0.88,
    qf_high=0.92,
    qnf=0.8,
    q=1.0,
    source="11111111",
)


def compared(
    tolerance: dict[str, Any], *, composed: Composition | None = None, **after: Any
) -> Any:
    """Compare with a release that differs in some figures."""
    declared = Spec.model_validate(spec(tolerance=tolerance))
    return Comparison(declared, BEFORE, replace(BEFORE, release=4, **after), composed)


@pytest.mark.parametrize(
    ("figure", "tolerance", "holds", "breaks"),
    [
        ("k", 2, {"k": 3}, {"k": 2}),
        ("suppressed_share", 0.01, {"suppressed_records": 20}, {"suppressed_records": 21}),
        ("highest_risk", 0.05, {"highest_risk": 0.25}, {"highest_risk": 0.26}),
        ("average_risk", 0.0, {"average_risk": 0.03}, {"average_risk": 0.0301}),
        ("qf", 0.02, {"qf": 0.88}, {"qf": 0.87}),
        ("qnf", 0.1, {"qnf": 0.7}, {"qnf": 0.69}),
    ],
)
def test_a_figure_may_get_worse_by_its_tolerance(
    figure: str, tolerance: float, holds: dict[str, Any], breaks: dict[str, Any]
) -> None:
    assert compared({figure: tolerance}, **holds).broken == []
    (broken,) = compared({figure: tolerance}, **breaks).broken
    assert broken.figure == figure
    assert "worse by more than" in broken.text
    # What nobody declared is not judged.
    assert compared({}, **breaks).broken == []
    # An unknown figure does not hold.
    (name,) = holds
    (unknown,) = compared({figure: tolerance}, **{name: None}).broken
    assert unknown.text == f"{figure} is not known after, so its tolerance does not hold"


def test_better_is_never_broken() -> None:
    tolerance = {"k": 0, "suppressed_share": 0, "highest_risk": 0, "qf": 0, "qnf": 0}
    better = {"k": 9, "suppressed_records": 0, "highest_risk": 0.1, "qf": 0.95, "qnf": 0.9}
    assert compared(tolerance, **better).broken == []


def test_figures_of_tables_beside_a_release_follow_its_own() -> None:
    """A table that one of both lacks has no figures there."""
    before = replace(BEFORE, beside={"stays.records": 10, "orders.records": 3})
    after = replace(BEFORE, beside={"stays.records": 12, "visits.levels": "ward 1"})
    declared = Spec.model_validate(spec(tolerance={"k": 0}))

    *_, stays, visits, orders = Comparison(declared, before, after, None).lines

    assert stays == ("stays.records", "10", "12", "")
    assert visits == ("visits.levels", "-", "ward 1", "")
    assert orders == ("orders.records", "3", "-", "")


def test_what_changed_and_who_joined_is_said_in_counts() -> None:
    said = " ".join(compared({}, source="22222222", hierarchies=None).sentences)
    assert said.startswith("release 4 of 2026-01-31 10:00:00, against release 3 of ")
    assert "the spec did not change" in said
    assert "whether the hierarchies changed is not known" in said
    assert "the data changed" in said
    assert "who joined and who left is not known" in said
    said = " ".join(compared({}, composed=Composition(12, 1, 0, 1, 1)).sentences)
    assert "12 records joined, 1 left and 0 moved to another class" in said
    assert (
        "1 class of both releases together has fewer than 3 records, 1 in all: whoever has both "
        "tells them apart"
    ) in said
    said = " ".join(compared({}, composed=Composition(12, 0, 0, 0, 0)).sentences)
    assert said.endswith("0 classes of both releases together have fewer than 3 records")
    said = " ".join(compared({}, effort=None, k=None).sentences)
    assert "nothing may be released: no effort is chosen" in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "must be the number of a release, or a file that can be read"),
        ("", "must hold a release of visits; it has none"),
        ("[1]\n", "line 1 must be a release"),
        ("no json", "line 1 must be a release"),
        ('{"anonymization": "others"}\n', "must hold a release of visits; it has none"),
        ('\n{"anonymization": "visits", "k": 3}\n', "line 1 must be a release"),
        ('{"anonymization": "visits", "beside": "x"}\n', "line 1 must be a release"),
        ('{"anonymization": "visits", "beside": 3}\n', "line 1 must be a release"),
        (b"\xff\xfe", "a file that can be read"),
    ],
)
def test_a_file_of_something_else_is_explained(
    tmp_path: Path, text: str | bytes | None, message: str
) -> None:
    path = tmp_path / "main.json"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(WarehouseError, match=message):
        read_register_file(path, "visits")
