"""Inspections that a spec declares, as the model of its evaluation passes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.data.reading import EffortReader, FirstArrays
from dbt_anonymize.evaluation.inspections import Inspection
from dbt_anonymize.evaluation.problem import Problem
from dbt_anonymize.extensions.inspection.grid import make_grid
from dbt_anonymize.extensions.inspection.groups import GroupColumn, QualityByGroup, read_groups
from dbt_anonymize.extensions.inspection.importance import Importance

_KEYS = ("groups", "smallest_group", "importance", "decision_grid")


def inspections(
    given: Mapping[str, Any], problem: Problem, reader: EffortReader, first: FirstArrays
) -> Iterator[Inspection]:
    """Yield what is declared.

    ``groups`` are mappings of a `GroupColumn` each, reported for at least ``smallest_group``
    subjects; ``importance`` is a measure, ``decision_grid`` two features.
    """
    if unknown := [key for key in given if key not in _KEYS]:
        raise EvaluationError(
            f"inspections of the model must be {', '.join(_KEYS)}; got {', '.join(unknown)}. Run "
            "`dbt-anonymize generate`."
        )
    names = tuple(column.name for column in reader.columns)
    if groups := [GroupColumn(**column) for column in given.get("groups", ())]:
        smallest = given.get("smallest_group", 1)
        yield QualityByGroup(read_groups(groups, reader, first.keys, problem.groups, smallest))
    if measure := given.get("importance"):
        yield Importance(measure, names)
    if grid := given.get("decision_grid"):
        yield make_grid(names, first.columns, (grid[0], grid[1]))
