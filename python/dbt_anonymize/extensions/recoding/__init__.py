"""Recodings whose levels differ per record."""

from dbt_anonymize.extension import Extension, Part

EXTENSION = Extension(
    name="recoding",
    keys={Part.effort: "declared.Keys"},
    rules="rules.RULES",
    has_relations=True,
    steps="steps.steps_of",
)
