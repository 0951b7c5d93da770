"""Provenance: the columns of seeds and dbt sources behind each column of the source."""

from dbt_anonymize.extension import Check, Extension, Reads

EXTENSION = Extension(
    name="provenance",
    checks=(Check("provenance", "check.check_provenance", Reads.sources),),
)
