"""Recompute what recodings give: labels per record, and aggregates of groups and classes.

Like `verify`, it shares nothing with kernels and macros.
"""

from dbt_anonymize.extensions.recoding.recomputation.findings import findings
from dbt_anonymize.extensions.recoding.recomputation.labels import labels_of

__all__ = ["findings", "labels_of"]
