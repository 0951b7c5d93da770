"""The steps of linked tables: for each effort, what becomes of linked records."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.extensions.linked.declared import keys_of
from dbt_anonymize.project.steps import Step
from dbt_anonymize.spec import Spec

_COLUMNS = {"linked_table": "text", "record": "text", "status": "text", "released_key": "whole"}


def steps_of(spec: Spec) -> Iterator[Step]:
    """Yield the step of each effort."""
    for number in spec.built_efforts if keys_of(spec).linked else ():
        if number > 0:
            after = tuple(f"{spec.name}_{part}_{number}" for part in ("effort", "linked_values"))
            yield Step(spec.name, f"linked_decisions_{number}", _COLUMNS, "record", after=after)
