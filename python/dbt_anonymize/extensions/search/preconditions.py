"""Preconditions of a search; a build can measure efforts that a search cannot find."""

from __future__ import annotations

from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.search.measure_names import NEED_TARGET
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.tested import KEYS


def check_readable(spec: Spec, measure: str) -> None:
    """Raise a `SearchError` if guarantees or measure need other records than a search reads."""
    models = [name for name, model in spec.guarantees.declared if model.COMPARES_WITH_TABLE]
    if spec.sample and models:
        raise SearchError(
            f"{spec.name}: {models[0]} cannot be searched in a sample: it compares with the whole "
            "source, which is not read. Write the efforts by hand."
        )
    if not spec.targets and measure in NEED_TARGET:
        raise SearchError(
            f"{spec.name}: the measure of a search must need no target where none is declared; got "
            f"{measure}. Search by another measure, such as loss, or declare {', '.join(KEYS)}."
        )
    if spec.outer_share and measure == "classification_metric":
        raise SearchError(
            f"{spec.name}: the measure of a search must not read targets beside "
            "quality.outer_share, since those of the outer records would help to find the efforts; "
            f"got {measure}. Search by another measure, or remove outer_share."
        )
