"""Groups of similar records, for recodings that need more than SQL."""

from dbt_anonymize.recoding.grouping import group_records

__all__ = ["group_records"]
