"""Contradictions to an outer hold-out are refused, wherever they are declared."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_anonymize.project.generate import render
from dbt_anonymize.project.results import outer_quality
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.rules import violations
from tests.spec.declarations import SPEC, spec

QUALITY = {**SPEC["quality"], "fit": "per_split", "outer_share": 0.25}


def test_an_outer_share_adds_one_model_and_one_column() -> None:
    with_outer, without = spec(quality=QUALITY), spec(quality={**QUALITY, "outer_share": None})
    assert not violations(with_outer)
    found, plain = (render(Spec.model_validate(one)) for one in (with_outer, without))
    assert set(found) - set(plain) == {"visits_outer_quality.py"}
    shown = "'outer': {'share': 0.25, 'random_state': 1},"
    assert shown in found["visits_microdata.sql"].replace('"', "'")
    fingerprints = {Spec.model_validate(one).fingerprint for one in (with_outer, without)}
    assert len(fingerprints) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"quality": {**QUALITY, "fit": "once"}}, "quality.fit: must be per_split beside"),
        ({"sample": {"share": 0.5}}, "quality.fit: must not be per_split where a sample"),
        pytest.param(
            {"efforts": [{"recoding": "multidimensional"}]},
            "quality.fit: must be once where an effort is recoded",
            marks=pytest.mark.needs("recoding"),
        ),
        (
            {"columns": {**SPEC["columns"], "is_outer": {"role": "insensitive"}}},
            "columns.is_outer: ",
        ),
    ],
)
def test_what_would_see_outer_records_is_refused(changes: dict[str, Any], message: str) -> None:
    found = violations(spec(**{"quality": QUALITY, **changes}))
    assert any(str(problem).startswith(message) for problem in found), list(map(str, found))


class Rows:
    """A warehouse that answers every question alike."""

    def __init__(self, *rows: tuple[Any, ...]) -> None:
        self.answer = list(rows)

    def relation_of_ref(self, name: str) -> str:
        """Name the relation as its model."""
        return name

    def rows(self, _: str) -> list[tuple[Any, ...]]:
        """Return the rows."""
        return self.answer


def test_results_say_how_good_the_chosen_effort_is_on_outer_records() -> None:
    rows: Any = Rows(
        (0, 1, 0.9, None, None, None, None),
        (2, 80, 0.8, 0.7, 0.875, 0.85, None),
        (3, 80, None, None, None, 0.8, "no training record is released"),
    )
    assert outer_quality(rows, Spec.model_validate(spec(quality=QUALITY))) == [
        "effort 0 on 1 outer record, which no choice has seen: QF 0.900",
        "effort 2 on 80 outer records, which no choice has seen: QF 0.800, with an interval from "
        "0.700 to 0.875; 0.850 over the splits",
        "effort 3 has no QF on outer records: no training record is released",
    ]
    assert outer_quality(rows, Spec.model_validate(SPEC)) == []
