"""Aggregates of classes that a spec or a build refuses, in one line each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.project.generate import generate
from dbt_anonymize.spec.efforts import as_yaml
from dbt_anonymize.spec.loading import validate
from tests.projects import copy_consumer
from tests.spec.files import changed

SHOWN = [{"age": {"level": 1, "show": "mean"}, "city": 1}]
FROZEN: dict[str, Any] = {"freeze": True, "release": {"effort": 1}}


def problems(**changes: Any) -> list[str]:
    """Return the problems of a spec that shows a mean."""
    return [str(problem) for problem in validate(changed("efforts", SHOWN) | changes)[1]]


def test_an_effort_is_written_as_it_was_read() -> None:
    cells = {"recoding": "cell_suppression", "levels": SHOWN[0], "k": 4}
    spec, wrong = validate(changed("efforts", [*SHOWN, cells]))
    assert spec is not None
    assert not wrong
    assert [as_yaml(effort) for effort in spec.efforts] == [*SHOWN, cells]
    again, _ = validate(spec.model_dump(mode="python"))
    assert again == spec
    assert spec.efforts[0].shown_levels == "1 (mean) 1"


@pytest.mark.needs("second_month")
def test_of_a_frozen_effort() -> None:
    (problem,) = problems(**FROZEN)
    assert problem == (
        "efforts.1.age: must not show an aggregate of a frozen effort: it is of those who are in a "
        "class now. Release another effort, or remove freeze."
    )


def test_without_members_in_the_vault() -> None:
    (problem,) = problems(mapping="none")
    assert "with mapping none: the vault keeps no members" in problem


def test_of_a_suppression_that_is_fitted_per_split() -> None:
    quality = changed("efforts", SHOWN)["quality"] | {"fit": "per_split"}
    assert any(
        "with fit per_split: it is of the whole class" in p for p in problems(quality=quality)
    )


@pytest.mark.parametrize(
    ("name", "guarantee"),
    [
        ("k_map", {"k": 5}),
        pytest.param(
            "differential_privacy",
            {"epsilon": 1.0, "delta": 0.001, "release_epsilon": 1.0},
            marks=pytest.mark.needs("differential_privacy"),
        ),
    ],
)
def test_with_guarantees_that_do_not_hold_of_it(name: str, guarantee: dict[str, Any]) -> None:
    guarantees = changed("efforts", SHOWN)["guarantees"] | {name: guarantee}
    expected = f"must not show an aggregate with the guarantee {name}, which does not hold of it"
    assert any(expected in problem for problem in problems(guarantees=guarantees))


@pytest.mark.sampled_tests(group="builds")
def test_dates_stop_the_build(tmp_path: Path) -> None:
    project = copy_consumer(tmp_path / "project")
    project.edit(
        "anonymizations/customers.yml",
        lambda text: text.replace(
            "{birth_date: 2, zip: 1, gender: 0}",
            "{birth_date: {level: 2, show: mean}, zip: 1, gender: 0}",
        ),
    )
    generate(project.folder)
    outcome = project.dbt("build")
    assert outcome.status("customers_aggregates_1") == "error"
    assert "the mean must be of numbers; birth_date holds dates. Write its level alone" in (
        outcome.messages
    )
