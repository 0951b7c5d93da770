"""Relations that tell more of an anonymization than its choice needs: `details` of a spec."""

from dbt_anonymize.extension import Extension

EXTENSION = Extension(name="details", has_relations=True)
