"""Putting the package into a dbt project: files and settings that it needs, and what hinders it."""

from dbt_anonymize.extension import Command, Extension, Stage

EXTENSION = Extension(
    name="installation",
    commands=(
        Command("new", "commands.new", Stage.begin),
        Command("doctor", "commands.doctor", Stage.begin),
        Command("schema", "commands.schema", Stage.tools),
    ),
    obstacles="missing_refs.missing_refs",
)
