"""Tables around a person: what a subject's linked records add to what is known of her."""

from dbt_anonymize.extension import Extension

EXTENSION = Extension(name="linked")
