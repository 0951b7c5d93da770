"""Distance of each effort from the original table, without any model."""

from dbt_anonymize.extension import Extension, Part

EXTENSION = Extension(name="fidelity", keys={Part.spec: "declared.Keys"}, has_relations=True)
