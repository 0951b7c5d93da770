"""The step of specs with tables of other tools: their privacy, measured."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.project.steps import Step, kinds
from dbt_anonymize.spec import Spec

COLUMN_TYPES = {
    "effort": "int64",
    "attack": "str",
    "measure": "str",
    "attribute": "str",
    "rate": "float64",
    "control_rate": "float64",
    "risk": "float64",
    "risk_low": "float64",
    "risk_high": "float64",
    "guesses": "Int64",
    "p_value": "float64",
    "rows_digest": "str",
}


def steps_of(spec: Spec) -> Iterator[Step]:
    """Yield the step that attacks every effort."""
    if spec.external_efforts and not spec.is_frozen:
        efforts = tuple(f"{spec.name}_effort_{number}" for number in spec.built_efforts)
        yield Step(spec.name, "measured_privacy", kinds(COLUMN_TYPES), after=efforts)
