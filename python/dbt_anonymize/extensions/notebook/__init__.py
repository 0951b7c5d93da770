"""Projects from Python: what commands show, as objects that a notebook draws."""

from dbt_anonymize.extension import Extension

EXTENSION = Extension(
    name="notebook",
    functions={"open": "project.open_project"},
    needs=("diff", "report"),
)
