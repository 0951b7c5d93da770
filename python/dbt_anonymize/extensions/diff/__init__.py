"""Privacy and quality of a release beside an earlier one, and by how much they may get worse."""

from dbt_anonymize.extension import Command, Extension, Part, Stage

EXTENSION = Extension(
    name="diff",
    commands=(Command("diff", "commands.diff", Stage.read),),
    keys={Part.spec: "declared.Keys"},
    rules="rules.RULES",
)
