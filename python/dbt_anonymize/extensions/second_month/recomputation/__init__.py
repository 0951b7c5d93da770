"""Recompute releases of committed labels, and those in which new records wait."""

from dbt_anonymize.extensions.second_month.recomputation.members import (
    members_findings,
    released_members,
)
from dbt_anonymize.extensions.second_month.recomputation.placement import place_records

__all__ = ["members_findings", "place_records", "released_members"]
