"""Messages of commands about results, without a warehouse."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from dbt_anonymize.project.descriptions import differing_levels, in_words
from dbt_anonymize.project.results import EffortResult, choice_sentences, legend
from dbt_anonymize.spec import Effort, Hierarchy, Spec
from tests.effort_results import result_of
from tests.spec.declarations import spec


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, "; Q = QF + alpha * QNF"),
        pytest.param(
            {"freeze": True, "release": {"effort": 1}},
            "not measured",
            marks=pytest.mark.needs("second_month"),
        ),
    ],
    ids=["measured", "frozen"],
)
def test_the_legend_explains_what_is_there(changes: dict[str, Any], shown: str) -> None:
    lines = legend(Spec.model_validate(spec(**changes)), [], 1)
    assert shown in " ".join(lines)
    assert any(line.startswith("QNF: privacy") for line in lines)
    assert lines[-1].endswith("those of 1 column do not differ between efforts")
    assert "differ" not in legend(Spec.model_validate(spec(**changes)), [], 0)[-1]


def test_the_legend_says_that_k_counts_people() -> None:
    declared = spec(subject="person")
    declared["columns"]["person"] = {"role": "identifier"}
    assert "k counts people by person, not rows" in legend(Spec.model_validate(declared), [], 0)
    assert "k counts" not in " ".join(legend(Spec.model_validate(spec()), [], 0))


def test_the_legend_says_that_only_those_who_agreed_are_counted() -> None:
    declared = Spec.model_validate(spec(consent="ill"))
    told = "of people who agreed (ill); the vault tells who did not"
    assert told in legend(declared, [], 0)
    assert "agreed" not in " ".join(legend(Spec.model_validate(spec()), [], 0))


@pytest.mark.needs("search")
def test_levels_that_models_chose_are_said_to_look_better_than_they_are() -> None:
    def says(quality: dict[str, Any], **search: str) -> bool:
        declared = spec(search=search, quality={**spec()["quality"], **quality})
        return "a little better than it is" in " ".join(
            legend(Spec.model_validate(declared), [], 0)
        )

    assert says({}, measure="quality")
    assert says({}, measure="guided")
    assert not says({}, measure="loss")
    assert not says({})
    assert not says({"outer_share": 0.2, "fit": "per_split"}, measure="quality")


PINNED = "release.effort pins effort 2: by Q, effort 1 would be chosen, whose Q is 0.040 higher"


@pytest.mark.parametrize(
    ("pinned", "changes", "said"),
    [
        (2, {}, PINNED),
        (1, {}, None),
        (2, {1: {"qualifies": False}}, None),
        (2, {1: {"q": 0.8904}}, None),
        (2, {1: {"q": None}}, None),
        (2, {2: {"q": None, "qualifies": False}}, None),
        (2, {2: {"reason": "chosen: highest Q"}}, None),
    ],
    ids=["better", "best", "broken", "alike", "unknown", "unmeasured", "free"],
)
def test_a_better_effort_than_the_pinned_one_is_named(
    pinned: int, changes: dict[int, dict[str, Any]], said: str | None
) -> None:
    """Effort 0, whose Q is highest, is never released."""
    names = [field.name for field in fields(EffortResult)]
    efforts = []
    for number in (0, 1, 2):
        of = result_of(number) | {"is_chosen": number == pinned}
        of["reason"] = f"{'not ' * (number != pinned)}chosen: release.effort is {pinned}"
        of |= changes.get(number, {})
        efforts.append(EffortResult(**{name: of[name] for name in names}))
    found = [line for line in choice_sentences(efforts, "accuracy") if "pins" in line]
    assert found == ([said] if said else [])


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
            "keeps age at level 2 of 3; leaves town as it is; gives up sex",
            "age at level 2 of 3",
        ),
        (
            {"levels": {"age": 0, "sex": 0, "town": 0}},
            "leaves everything as it is",
            "age as it is, sex as it is",
        ),
        (
            {"recoding": "local", "rounds": [{"age": 0, "sex": 1, "town": 0}, TWO]},
            "keeps age as it is to *; leaves town as it is; gives up sex; by record",
            "age as it is to *, by record",
        ),
        (
            {"recoding": "cell_suppression", "levels": TWO},
            "leaves town as it is; gives up age, sex; then suppresses single cells",
            "age *, then cells",
        ),
        (
            {"recoding": "multidimensional"},
            "keeps what groups cut along one attribute after the other (strict multidimensional "
            "recoding) leave of age, sex, town",
            "multidimensional",
        ),
    ],
)
@pytest.mark.needs("recoding")
def test_efforts_are_told_in_words(declared: dict[str, Any], words: str, brief: str) -> None:
    effort = Effort.model_validate(declared)
    assert in_words(effort, TREES) == words
    others = {0: Effort(levels=dict.fromkeys(TREES, 0)), 2: Effort(levels=TWO)}
    _, levels = differing_levels({**others, 1: effort, 3: Effort(levels=ONE)}, TREES)
    assert levels[1] == brief


def test_one_effort_is_compared_with_the_untouched_table() -> None:
    efforts = {0: Effort(levels=dict.fromkeys(TREES, 0)), 1: Effort(levels=ONE)}
    assert differing_levels(efforts, TREES) == (
        ["age", "sex"],
        {0: "age as it is, sex as it is", 1: "age at level 2 of 3, sex *"},
    )


@pytest.mark.needs("recoding")
def test_levels_with_words_are_told_by_them() -> None:
    words = {"age": ("by 5", "by 10", "*"), "town": ("in 4 groups", "*")}
    local = Effort.model_validate({"recoding": "local", "rounds": [ONE | {"town": 1}, TWO]})
    told = "keeps age by 10 to *, town as it is to in 4 groups; gives up sex; by record"
    assert in_words(local, TREES, words) == told
    efforts = {1: local, 2: Effort(levels=TWO), 3: Effort(levels=ONE)}
    assert differing_levels(efforts, TREES, words) == (
        ["age", "town"],
        {
            1: "age by 10 to *, town as it is to in 4 groups, by record",
            2: "age *, town as it is",
            3: "age by 10, town as it is",
        },
    )
