"""Recodings whose levels differ per record: one function each, which generated models call."""

from dbt_anonymize.extensions.recoding.cells import cell_suppression
from dbt_anonymize.extensions.recoding.grouping import grouped_recoding
from dbt_anonymize.extensions.recoding.local import local_recoding
from dbt_anonymize.extensions.recoding.multidimensional import multidimensional_recoding
from dbt_anonymize.extensions.recoding.payouts import payout_recoding
from dbt_anonymize.extensions.recoding.records import Source

__all__ = [
    "Source",
    "cell_suppression",
    "grouped_recoding",
    "local_recoding",
    "multidimensional_recoding",
    "payout_recoding",
]
