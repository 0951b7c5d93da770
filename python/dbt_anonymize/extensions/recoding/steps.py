"""The steps of recodings: a model for each effort that has one."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.project.steps import Step, Typed
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.efforts import Effort


def steps_of(spec: Spec) -> Iterator[Step]:
    """Yield the step of each effort whose levels differ per record; frozen labels need none."""
    for number, effort in () if spec.is_frozen else spec.recoded_efforts.items():
        yield Step(
            spec.name,
            f"recoding_{number}",
            _column_types(spec, effort),
            spec.record_key,
            writes_labels=True,
        )


def _column_types(spec: Spec, effort: Effort) -> dict[str, str | Typed]:
    """Return the types of the columns of a recoding."""
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
