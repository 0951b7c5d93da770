"""Inspection of the models of an evaluation: by group, by feature, over two features."""

from dbt_anonymize.extension import After, Extension, Part, ReportSections

EXTENSION = Extension(
    name="inspection",
    keys={Part.quality: "declared.Keys"},
    rules="rules.RULES",
    has_relations=True,
    inspections="inspections",
    report=(ReportSections(After.losses, "sections.regions", ("decision_grid",)),),
)
