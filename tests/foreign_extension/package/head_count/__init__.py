"""Head count: how many people a class has on average, a toy."""

from dbt_anonymize.extension import Command, Extension, Part, Stage

EXTENSION = Extension(
    name="head_count",
    package="head_count",
    commands=(Command("head-count", "command", Stage.read),),
    keys={Part.spec: "declared.Keys"},
    rules="declared.RULES",
    has_relations=True,
)
