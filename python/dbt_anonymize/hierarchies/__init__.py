"""Generalization hierarchies: build, read, write and check them.

A hierarchy generalizes the values of one quasi-identifier level by level, up to the root ``*``. It
is a dbt seed: a CSV file with one row per leaf.
"""

from dbt_anonymize.hierarchies.arx import read_arx, to_interval_hierarchy
from dbt_anonymize.hierarchies.codes import code_prefixes
from dbt_anonymize.hierarchies.dates import date_intervals
from dbt_anonymize.hierarchies.groups import explicit_groups, ordered_groups
from dbt_anonymize.hierarchies.growing import growing_intervals
from dbt_anonymize.hierarchies.integers import integer_groups
from dbt_anonymize.hierarchies.intervals import cut_intervals, equal_width_intervals
from dbt_anonymize.hierarchies.model import ROOT, CategoricalHierarchy, Hierarchy, IntervalHierarchy
from dbt_anonymize.hierarchies.ordered import order_values
from dbt_anonymize.hierarchies.others import rare_together
from dbt_anonymize.hierarchies.padding import padded_labels
from dbt_anonymize.hierarchies.priority import priority_by_frequency, priority_by_order
from dbt_anonymize.hierarchies.quantiles import quantile_intervals
from dbt_anonymize.hierarchies.redaction import all_codes, redact_codes
from dbt_anonymize.hierarchies.rules import Violation, check, is_nested, violations
from dbt_anonymize.hierarchies.seed_csv import (
    hierarchy_csv,
    read_hierarchy,
    read_table,
    write_hierarchy,
)

__all__ = [
    "ROOT",
    "CategoricalHierarchy",
    "Hierarchy",
    "IntervalHierarchy",
    "Violation",
    "all_codes",
    "check",
    "code_prefixes",
    "cut_intervals",
    "date_intervals",
    "equal_width_intervals",
    "explicit_groups",
    "growing_intervals",
    "hierarchy_csv",
    "integer_groups",
    "is_nested",
    "order_values",
    "ordered_groups",
    "padded_labels",
    "priority_by_frequency",
    "priority_by_order",
    "quantile_intervals",
    "rare_together",
    "read_arx",
    "read_hierarchy",
    "read_table",
    "redact_codes",
    "to_interval_hierarchy",
    "violations",
    "write_hierarchy",
]
