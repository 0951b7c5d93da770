"""What a user declares: one validated spec per anonymized table."""

from dbt_anonymize.spec.loading import load_spec, load_specs
from dbt_anonymize.spec.models import (
    Column,
    Guarantees,
    Hierarchy,
    KAnonymity,
    Quality,
    Release,
    Source,
    Spec,
)

__all__ = [
    "Column",
    "Guarantees",
    "Hierarchy",
    "KAnonymity",
    "Quality",
    "Release",
    "Source",
    "Spec",
    "load_spec",
    "load_specs",
]
