"""Generalization hierarchies: their seeds, and words for their levels.

A hierarchy generalizes the values of one quasi-identifier level by level, up to the root ``*``. It
is a dbt seed: a CSV file with one row per leaf.
"""

from dbt_anonymize.hierarchies.model import ROOT, CategoricalHierarchy, Hierarchy, IntervalHierarchy
from dbt_anonymize.hierarchies.seed_csv import (
    hierarchy_csv,
    read_table,
    write_hierarchy,
)

__all__ = [
    "ROOT",
    "CategoricalHierarchy",
    "Hierarchy",
    "IntervalHierarchy",
    "hierarchy_csv",
    "read_table",
    "write_hierarchy",
]
