"""Payouts in a spec."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.spec import Spec, of_extensions
from dbt_anonymize.spec.of_extensions import remedy_of
from tests.spec.declarations import spec
from tests.spec.files import changed, errors_of

K = {"k_anonymity": {"k": 3}}


def test_amounts_have_their_signs(write: Callable[..., Path]) -> None:
    (error,) = errors_of(write(changed("", _guaranteed({"publisher_loss": -1}))))
    assert "guarantees.profitable.publisher_loss: must be >= 0; got -1" in error


def test_payouts_are_columns_where_their_amounts_are_declared() -> None:
    found = Spec.model_validate(spec(qnf="publisher_payout / 1200", **_guaranteed({})))
    assert found.reads_labels
    with pytest.raises(ValueError, match="has no publisher_payout"):
        Spec.model_validate(spec(qnf="publisher_payout"))


@pytest.mark.parametrize("above", [(), ("efforts", 1)])
def test_a_model_whose_extension_is_missing_is_told_by_it(
    above: tuple[str | int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = (*above, "guarantees", "profitable")
    # One that is here, where the model may not stand.
    assert remedy_of(path, "Remove it.") == "Remove it."
    monkeypatch.setattr(of_extensions, "shipped", tuple)
    assert remedy_of(path, "").startswith("It belongs to the extension payouts, which is not here")
    assert remedy_of((*above, "columns", "profitable"), "Remove it.") == "Remove it."


UP = [{"age": 1, "city": 0}, {"age": 2, "city": 1}]


@pytest.mark.parametrize(
    ("effort", "further", "message"),
    [
        ({}, {"guarantees": K}, "must have the amounts of the guarantee profitable"),
        ({}, {"subject": "phone"}, "must not be there where a subject is declared"),
        (
            {"rounds": UP[::-1]},
            {},
            "must be at least the level of the round before, 2",
        ),
        (
            {"guarantees": {"l_diversity": {"attribute": "ill", "l": 2}}},
            {},
            "must not be there with the guarantee l_diversity",
        ),
        (
            {"recoding": "full_domain", "levels": UP[0], "rounds": None},
            {},
            "must have maximize only where its recoding is local",
        ),
    ],
)
@pytest.mark.needs("recoding")
def test_payouts_per_record_are_those_that_are_counted(
    effort: dict[str, Any], further: dict[str, Any], message: str
) -> None:
    paid = {"recoding": "local", "rounds": UP, "maximize": "publisher_payout"}
    Spec.model_validate(spec(efforts=[paid], **_guaranteed({})))
    declared = {"efforts": [{**paid, **effort}], **_guaranteed({}), **further}
    with pytest.raises(ValueError, match=re.escape(message)):
        Spec.model_validate(spec(**declared))


def _guaranteed(amounts: dict[str, Any]) -> dict[str, Any]:
    return {"guarantees": {**K, "profitable": amounts}}
