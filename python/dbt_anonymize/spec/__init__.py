"""Specs: one validated declaration per anonymized table."""

from dbt_anonymize.spec.efforts import Effort
from dbt_anonymize.spec.loading import load_spec, load_specs
from dbt_anonymize.spec.models import Spec
from dbt_anonymize.spec.quality import Quality
from dbt_anonymize.spec.sources import Source
from dbt_anonymize.validation import Hierarchy

__all__ = ["Effort", "Hierarchy", "Quality", "Source", "Spec", "load_spec", "load_specs"]
