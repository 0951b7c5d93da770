"""Distance of each effort from the original table, without any model."""

from dbt_anonymize.extension import Extension

EXTENSION = Extension(name="fidelity", keys="keys.Keys", has_relations=True)
