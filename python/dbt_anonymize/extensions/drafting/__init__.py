"""Drafts of specs and hierarchies, from the values of a table."""

from dbt_anonymize.extension import Command, Extension, Stage

EXTENSION = Extension(
    name="drafting",
    commands=(
        Command("init", "commands.init", Stage.begin),
        Command("hierarchy by-target", "commands.by_target", Stage.begin),
    ),
    needs=("hierarchy_builders", "search"),
)
