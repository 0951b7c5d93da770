"""Search for identifiers in a release, in its files and in the warehouse around it."""

from dbt_anonymize.extension import Check, Extension, Reads

EXTENSION = Extension(
    name="identifier_search",
    checks=(Check("content", "content.check_content", Reads.release),),
    diagnoses="open_seeds.diagnose",
)
