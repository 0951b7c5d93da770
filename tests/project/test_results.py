"""What commands say about results without a warehouse."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_anonymize.project.descriptions import differing_levels, in_words
from dbt_anonymize.project.results import legend
from dbt_anonymize.spec import Effort, Hierarchy, Spec
from tests.spec.declarations import spec


@pytest.mark.parametrize(
    ("changes", "shown"),
    [({}, "; Q = QF + alpha * QNF"), ({"freeze": True, "release": {"effort": 1}}, "not measured")],
    ids=["measured", "frozen"],
)
def test_the_legend_explains_what_is_there(changes: dict[str, Any], shown: str) -> None:
    lines = legend(Spec.model_validate(spec(**changes)), [])
    assert shown in " ".join(lines)
    assert any(line.startswith("QNF: privacy") for line in lines)
    differing = "age; " if "freeze" in changes else "age, city; "
    assert lines[-1].startswith(f"levels: of {differing}0 is the value itself, * the root")


TREES = {
    name: Hierarchy(ref=name, kind="categorical", levels=levels)
    for name, levels in {"age": 3, "sex": 1, "town": 2}.items()
}
ONE, TWO = {"age": 2, "sex": 1, "town": 0}, {"age": 3, "sex": 1, "town": 0}


@pytest.mark.parametrize(
    ("declared", "words", "brief"),
    [
        (
            {"levels": ONE},
            "keeps age at level 2 of 3; leaves as it is town; gives up sex",
            "2",
        ),
        ({"levels": {"age": 0, "sex": 0, "town": 0}}, "leaves everything as it is", "0 0"),
        (
            {"recoding": "local", "rounds": [{"age": 0, "sex": 1, "town": 0}, TWO]},
            "keeps age at levels 0-3 of 3; leaves as it is town; gives up sex; by record",
            "0-3, by record",
        ),
        (
            {"recoding": "cell_suppression", "levels": TWO},
            "leaves as it is town; gives up age, sex; then suppresses single cells",
            "*, then cells",
        ),
        (
            {"recoding": "multidimensional"},
            "keeps what groups cut along one attribute after the other (strict multidimensional "
            "recoding) leave of age, sex, town",
            "multidimensional",
        ),
    ],
)
def test_efforts_are_told_in_words(declared: dict[str, Any], words: str, brief: str) -> None:
    effort = Effort.model_validate(declared)
    assert in_words(effort, TREES) == words
    others = {0: Effort(levels=dict.fromkeys(TREES, 0)), 2: Effort(levels=TWO)}
    _, levels = differing_levels({**others, 1: effort, 3: Effort(levels=ONE)}, TREES)
    assert levels[1] == brief


def test_one_effort_is_compared_with_the_untouched_table() -> None:
    efforts = {0: Effort(levels=dict.fromkeys(TREES, 0)), 1: Effort(levels=ONE)}
    assert differing_levels(efforts, TREES) == (["age", "sex"], {0: "0 0", 1: "2 *"})
