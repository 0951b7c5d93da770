"""Keys of a spec that are about building in parts."""

from __future__ import annotations

from typing import Annotated

from dbt_anonymize.validation import BESIDE_RESULTS, ColumnName, Strict


class Keys(Strict):
    """Keys of the spec."""

    partition_by: Annotated[ColumnName | None, BESIDE_RESULTS] = None
    """Column of the source by which records are built in parts: those that changed."""
