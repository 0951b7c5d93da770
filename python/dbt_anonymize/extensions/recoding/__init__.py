"""Recodings whose levels differ per record."""

from dbt_anonymize.extension import Check, Extension, Part, Reads

EXTENSION = Extension(
    name="recoding",
    keys={Part.effort: "declared.Keys"},
    rules="rules.RULES",
    checks=(Check("aggregates", "remembered.check_remembered", Reads.vault),),
    has_relations=True,
    steps="steps.steps_of",
)
