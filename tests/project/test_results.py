"""What commands say about results without a warehouse."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_anonymize.project.results import legend
from dbt_anonymize.spec import Spec
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
    assert lines[-1] == "levels: of age, city; 0 is the value itself"
