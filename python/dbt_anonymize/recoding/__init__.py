"""Recodings whose levels differ per record: one function each, which generated models call."""

from dbt_anonymize.recoding.grouping import grouped_recoding
from dbt_anonymize.recoding.multidimensional import multidimensional_recoding
from dbt_anonymize.recoding.records import Source

__all__ = ["Source", "grouped_recoding", "multidimensional_recoding"]
