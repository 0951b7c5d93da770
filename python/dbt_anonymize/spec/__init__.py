"""What a user declares: one validated spec per anonymized table."""

from dbt_anonymize.privacy.k_anonymity import KAnonymity
from dbt_anonymize.spec.efforts import Effort
from dbt_anonymize.spec.guarantees import Guarantees
from dbt_anonymize.spec.loading import load_spec, load_specs
from dbt_anonymize.spec.models import Column, Hierarchy, Source, Spec
from dbt_anonymize.spec.quality import Quality
from dbt_anonymize.spec.release import Release

__all__ = [
    "Column",
    "Effort",
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
