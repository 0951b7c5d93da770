"""Keys of ``quality`` that inspect models."""

from __future__ import annotations

import pytest

from dbt_anonymize.spec import Spec
from tests.spec.declarations import SPEC, spec


def inspected(**keys: object) -> dict[str, object]:
    return spec(quality={**SPEC["quality"], **keys})


def test_groups_are_read_raw_unless_a_level_is_given() -> None:
    plain, listed = Spec.model_validate(SPEC), Spec.model_validate(inspected(groups=["age", "ill"]))
    assert listed.model_dump()["quality"]["groups"] == {"age": 0, "ill": 0}
    # They decide nothing, so results stay valid.
    assert listed.fingerprint == plain.fingerprint


@pytest.mark.parametrize("key", [{"importance": True}, {"decision_grid": ["age", "city"]}])
def test_inspections_move_no_result(key: dict[str, object]) -> None:
    assert (
        Spec.model_validate(inspected(**key)).fingerprint == Spec.model_validate(SPEC).fingerprint
    )
