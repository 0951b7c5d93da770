"""Masks and the roles masked and dropped: what a spec may say of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from dbt_anonymize.errors import SpecError
from dbt_anonymize.spec import Spec, load_spec
from tests.spec.declarations import spec, write_spec

WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("income", {"role": "insensitive", "mask": {}}, "must be one mask"),
    ("income", {"role": "insensitive", "mask": {"round": 0}}, "must be > 0"),
    ("income", {"role": "insensitive", "mask": {"round": True}}, "mask.round"),
    ("income", {"role": "insensitive", "mask": {"round": 1, "phone": 2}}, "stand together"),
    ("income", {"role": "insensitive", "mask": {"top": 1, "bottom": 1}}, "bottom < top"),
    ("income", {"role": "insensitive", "mask": {"truncate": "decade"}}, "truncate"),
    ("income", {"role": "insensitive", "mask": {"blur": 1}}, "blur"),
    ("income", {"role": "insensitive", "mask": {"constant": "x"}}, "read alike"),
    ("income", {"role": "dropped"}, "read alike"),
    ("income", {"role": "masked", "mask": {"round": 10}}, "read alike"),
    ("income", {"role": "masked"}, "must have a mask"),
    ("income", {"role": "dropped", "mask": {"round": 10}}, "is not released"),
    ("phone", {"role": "identifier", "mask": {"phone": 2}}, "Make the role masked"),
    ("ill", {"role": "sensitive", "mask": {"round": 10}}, "about the values that are released"),
    ("ill", {"role": "insensitive", "mask": {"round": 10}}, "what models predict"),
    ("ill", {"role": "masked", "mask": {"round": 10}}, "released as it is"),
    ("income", {"role": "insensitive", "mask": {"keyed_hash": False}}, "keyed_hash"),
    ("income", {"role": "insensitive", "mask": {"keyed_hash": True}}, "read alike"),
    ("income", {"role": "insensitive", "mask": {"shift_days": 9, "round": 1}}, "stand together"),
    ("phone", {"role": "identifier", "free_text": "accepted"}, "released as it is"),
    ("phone", {"role": "identifier", "unique": "accepted"}, "of a released column"),
    ("income", {"role": "insensitive", "repeats": "accepted"}, "of an identifier"),
    ("income_masked", {"role": "insensitive"}, "a column that we add for income"),
]


@pytest.mark.parametrize(("column", "declared", "message"), WRONG)
def test_a_wrong_mask_is_explained(
    tmp_path: Path, column: str, declared: dict[str, Any], message: str
) -> None:
    content = spec()
    content["columns"]["income"]["mask"] = {"round": 10}
    content["columns"][column] = declared
    with pytest.raises(SpecError) as error:
        load_spec(write_spec(tmp_path, content))
    assert message in str(error.value)


def test_masked_and_dropped_columns_have_their_places() -> None:
    content = spec()
    content["columns"] |= {
        "phone": {"role": "masked", "mask": {"phone": 2}},
        "income": {"role": "insensitive", "mask": {"round": 100, "top": 9000}},
        "note": {"role": "dropped"},
    }
    found = Spec.model_validate(content)
    assert found.identifiers == ["phone"]
    assert found.kept_columns == ["phone", "income", "ill"]
    assert found.masked_attributes == ["income"]
    plain = spec()
    plain["columns"]["note"] = {"role": "dropped"}
    assert Spec.model_validate(plain).fingerprint != found.fingerprint


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"subject": "patient"}, "joins the rows"), ({"release": {"access": "public"}}, "is public")],
)
def test_a_hash_joins_nobody(changes: dict[str, Any], message: str) -> None:
    content = spec(**changes)
    content["columns"] |= {
        "patient": {"role": "identifier"},
        "phone": {"role": "masked", "mask": {"keyed_hash": True}},
    }
    with pytest.raises(ValidationError, match=message):
        Spec.model_validate(content)
