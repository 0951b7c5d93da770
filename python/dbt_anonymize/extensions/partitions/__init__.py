"""Building in parts: microdata and frequencies of the partitions of the source that changed."""

from dbt_anonymize.extension import Extension, Part

EXTENSION = Extension(
    name="partitions",
    keys={Part.spec: "declared.Keys"},
    rules="rules.RULES",
    has_relations=True,
)
