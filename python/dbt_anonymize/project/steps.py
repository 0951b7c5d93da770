"""The steps of an anonymization in Python: Python models of dbt, or else commands.

With ``vars: {dbt_anonymize_python: false}`` a project has no Python models. Each is then SQL over a
table that `dbt-anonymize evaluate` writes by running the code of the Python model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dbt_anonymize.evaluation import columns
from dbt_anonymize.extension import steps as added_steps
from dbt_anonymize.spec import Spec

# The kinds of columns of `rows_of_command`, by pandas type.
_KINDS = {"int64": "whole", "float64": "number", "str": "text", "boolean": "boolean"}
EVALUATION, OUTER_QUALITY = "evaluation", "outer_quality"

# Columns, each with its relation.
Typed = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Step:
    """A model that needs Python.

    ``columns``: kind by name, or the columns of relations whose type holds the values, which the
    command writes as text; that of ``key`` is never NULL. ``after``: models that it reads.
    ``writes_labels``: texts of values, as the engine writes them.
    """

    anonymization: str
    name: str
    columns: Mapping[str, str | Typed]
    key: str = "effort"
    after: tuple[str, ...] = ()
    writes_labels: bool = False

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
    efforts = tuple(f"{spec.name}_effort_{number}" for number in spec.numbered_efforts)
    steps = [step for of_extension in added_steps() for step in of_extension(spec)]
    is_evaluated = bool(spec.efforts) and not spec.is_frozen
    if is_evaluated and spec.is_tested:
        of_facts = kinds(columns.FACTS)
        steps.append(Step(spec.name, EVALUATION, of_facts, after=efforts))
    if is_evaluated and spec.outer_share and not spec.is_chosen_by_outer:
        of_outer, after = kinds(columns.OUTER_QUALITY), (f"{spec.name}_results", *efforts)
        steps.append(Step(spec.name, OUTER_QUALITY, of_outer, after=after))
    return steps


def kinds(types: Mapping[str, str]) -> dict[str, str]:
    """Return the kinds of columns of a step by their pandas types."""
    return {name: _KINDS[kind.lower()] for name, kind in types.items()}
