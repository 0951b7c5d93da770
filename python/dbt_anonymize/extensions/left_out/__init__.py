"""Values whose records are left out of a release far more often than others, in `results`."""

from dbt_anonymize.extension import Extension

EXTENSION = Extension(name="left_out", notes="outliers.note_left_out")
