"""Columns that `release.leave_out` names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.project.generate import render
from dbt_anonymize.spec import Spec, load_spec
from tests.extensions import with_known_keys
from tests.spec.declarations import SPEC, spec
from tests.spec.files import errors_of

LEFT_OUT = {"release": {"leave_out": ["city"]}, "features": ["age", "income"]}
EFFORTS: list[dict[str, Any]] = with_known_keys(
    [
        {"age": 1, "city": 2},
        {"recoding": "local", "rounds": [{"age": 1, "city": 0}, {"age": 2, "city": 1}]},
        {
            "recoding": "cell_suppression",
            "levels": {"age": 2, "city": 1},
            "importance": {"city": 2},
        },
        {"recoding": "multidimensional", "k": 4},
    ]
)


def without_city(content: Any) -> Any:
    """Return a part of a spec as it is where city is dropped."""
    if isinstance(content, dict):
        return {key: without_city(one) for key, one in content.items() if key != "city"}
    return [without_city(one) for one in content] if isinstance(content, list) else content


def _without_digests(text: str, one: Spec) -> str:
    keys = ", ".join(f"'{key}': '{digits}'" for key, digits in one.key_digests.items())
    for digits in (one.fingerprint, one.digest, keys):
        text = text.replace(digits, "")
    return text


def test_a_column_left_out_is_as_if_it_were_dropped(write: Callable[..., Path]) -> None:
    quality = SPEC["quality"] | {"fit": "once"}
    found = load_spec(write(spec(**LEFT_OUT, efforts=EFFORTS, quality=quality)))
    assert found.released_columns == ["age", "age_lower", "age_upper", "income", "ill", "cqi"]
    dropped = spec(efforts=without_city(EFFORTS), features=LEFT_OUT["features"], quality=quality)
    dropped["columns"]["city"] = {"role": "dropped"}
    expected = Spec.model_validate(dropped)
    assert found.fingerprint != expected.fingerprint
    for file, text in render(expected).items():
        assert _without_digests(render(found)[file], found) == _without_digests(text, expected)
    # A spec that was read is one that can be read.
    assert Spec.model_validate(found.model_dump()) == found


def test_efforts_need_not_name_it(write: Callable[..., Path]) -> None:
    found = load_spec(write(spec(**LEFT_OUT, efforts=[{"age": 1}])))
    assert [effort.levels for effort in found.efforts] == [{"age": 1}]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": ["age", "city"]}, "leave_out.1: must not be a feature: nobody can learn"),
        ({"release": {"leave_out": ["ill"]}}, "leave_out.1: must not be the target: models"),
        ({"release": {"leave_out": ["phone"]}}, "leave_out.1: must not be an identifier"),
        ({"release": {"leave_out": ["town"]}}, "leave_out.1: must be a declared column"),
        ({"release": {"leave_out": ["city", "city"]}}, "leave_out.2: must name each column once"),
        ({"release": {"leave_out": []}}, "leave_out: must have at least 1 entries"),
        ({"efforts": [{"age": 0, "city": 1}]}, "efforts.1: must generalize something"),
        ({"efforts": [{"age": 1, "city": 1}, {"age": 1}]}, "efforts.2: must differ from effort 1"),
    ],
)
def test_what_cannot_be_left_out_is_refused(
    write: Callable[..., Path], changes: dict[str, Any], message: str
) -> None:
    (line,) = errors_of(write(spec(**{**LEFT_OUT, **changes})))
    assert message in line


def test_the_attribute_of_a_guarantee_is_released(write: Callable[..., Path]) -> None:
    diversity = {"attribute": "income", "variant": "distinct", "l": 2}
    declared = spec(
        features=["age", "city"],
        release={"leave_out": ["income"]},
        guarantees={"k_anonymity": {"k": 3}, "l_diversity": [diversity]},
    )
    declared["columns"]["income"] = {"role": "sensitive"}
    (line,) = errors_of(write(declared))
    assert "must be a column of role sensitive that is released" in line
