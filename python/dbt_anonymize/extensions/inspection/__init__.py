"""Inspection of the models of an evaluation: by group, by feature, over two features."""

from dbt_anonymize.documents import After, ReportSections
from dbt_anonymize.extension import Extension, Part

EXTENSION = Extension(
    name="inspection",
    keys={Part.quality: "declared.Keys"},
    rules="rules.RULES",
    has_relations=True,
    inspections="inspections",
    report=(ReportSections(After.losses, "sections.regions", ("decision_grid",)),),
)
