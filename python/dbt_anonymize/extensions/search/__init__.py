"""Search for levels that keep the guarantees."""

from dbt_anonymize.extension import Command, Extension, Stage

EXTENSION = Extension(
    name="search",
    commands=(Command("search", "commands.search", Stage.begin),),
)
