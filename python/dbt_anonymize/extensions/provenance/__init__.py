"""Provenance: from which columns of seeds and dbt sources each column of the source is made."""

from dbt_anonymize.extension import Check, Extension, Reads

EXTENSION = Extension(
    name="provenance",
    checks=(Check("provenance", "check.check_provenance", Reads.sources),),
)
