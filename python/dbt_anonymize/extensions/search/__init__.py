"""Search for levels that keep the guarantees."""

from dbt_anonymize.extension import Command, Extension, Part, Stage

EXTENSION = Extension(
    name="search",
    commands=(Command("search", "commands.search", Stage.begin),),
    keys={Part.spec: "declared.Keys"},
    rules="rules.RULES",
    # Rounds that it finds are judged as they are released.
    needs=("recoding",),
)
