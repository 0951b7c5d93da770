"""Trials of a table: a few ways to release it side by side, without writing anything."""

from dbt_anonymize.extension import Command, Extension, Stage

EXTENSION = Extension(
    name="trial",
    commands=(Command("try", "commands.try_", Stage.begin),),
    needs=("drafting", "left_out", "search"),
)
