"""The steps of an anonymization that need Python: models of dbt, or else commands.

A project with ``vars: {dbt_anonymize_python: false}`` has no Python model. Each is then SQL over a
table that `dbt-anonymize evaluate` has written, with the code that the Python model would have run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dbt_anonymize.evaluation import outer, outputs
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.efforts import Effort

# The kinds of columns that `rows_of_command` knows, by those of pandas.
_KINDS = {"int64": "whole", "float64": "number", "str": "text", "boolean": "boolean"}
EVALUATION, OUTER_QUALITY, RECODING = "evaluation", "outer_quality", "recoding"

# Columns, each with its relation.
Typed = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Step:
    """A model that needs Python.

    ``columns``: kind by name, or the columns of relations whose type holds the values, which the
    command writes as text; that of ``key`` is never NULL. ``after``: models that it reads.
    """

    anonymization: str
    name: str
    columns: Mapping[str, str | Typed]
    key: str = "effort"
    after: tuple[str, ...] = ()

    @property
    def model(self) -> str:
        """Name of the model."""
        return f"{self.anonymization}_{self.name}"

    @property
    def rows(self) -> str:
        """Name of the table that the command writes."""
        return f"{self.model}_rows"

    @property
    def command(self) -> str:
        """The command that writes it."""
        option = "" if self.name == EVALUATION else f" --step {self.name}"
        return f"dbt-anonymize evaluate {self.anonymization}{option}"


def steps_of(spec: Spec) -> list[Step]:
    """Return the steps of a spec in the order in which they can run."""
    if not spec.efforts or spec.freeze:
        return []
    efforts = tuple(f"{spec.name}_effort_{number}" for number in spec.numbered_efforts)
    steps = [
        Step(spec.name, f"{RECODING}_{number}", _recoded(spec, effort), spec.record_key)
        for number, effort in spec.recoded_efforts.items()
    ]
    if spec.is_tested:
        columns = _kinds(outputs.COLUMN_TYPES)
        steps.append(Step(spec.name, EVALUATION, columns, after=efforts))
    if spec.outer_share:
        columns, after = _kinds(outer.COLUMN_TYPES), (f"{spec.name}_results", *efforts)
        steps.append(Step(spec.name, OUTER_QUALITY, columns, after=after))
    return steps


def _recoded(spec: Spec, effort: Effort) -> dict[str, str | Typed]:
    """Return the columns of a recoding."""
    microdata = f"{spec.name}_microdata"
    columns: dict[str, str | Typed] = {spec.record_key: ((microdata, spec.record_key),)}
    exact = effort.exact(spec.quasi_identifiers)
    for name, tree in spec.quasi_identifiers.items():
        columns[name] = "text"
        for end in ("lower", "upper") if tree.kind == "interval" else ():
            values = ((microdata, name),) if name in exact else ()
            columns[f"{name}_{end}"] = ((tree.ref, f"{end}_bound"), *values)
        columns |= {f"{name}_level": "whole", f"{name}_share": "number"}
    return columns


def _kinds(types: Mapping[str, str]) -> dict[str, str]:
    return {name: _KINDS[kind.lower()] for name, kind in types.items()}
