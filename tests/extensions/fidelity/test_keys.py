"""`fidelity` in a spec adds one model."""

from __future__ import annotations

from dbt_anonymize.project.generate import render
from dbt_anonymize.spec import Spec
from tests.spec.declarations import rich


def test_fidelity_is_built_where_it_is_declared_and_moves_no_result() -> None:
    plain = Spec.model_validate(rich())
    declared = Spec.model_validate({**rich(), "fidelity": {"pairs": 1, "queries": 7}})
    name = f"{plain.name}_fidelity.sql"
    assert set(render(declared)) - set(render(plain)) == {name}
    model = render(declared)[name]
    assert "'queries': 7," in model
    first, second, *_ = plain.quasi_identifiers
    assert f"'pairs': [[{first!r}, {second!r}]]," in model
    assert declared.fingerprint == plain.fingerprint
