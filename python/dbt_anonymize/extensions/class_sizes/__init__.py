"""Class sizes before a build: records in small classes."""

from dbt_anonymize.extension import Command, Extension, Stage

EXTENSION = Extension(
    name="class_sizes",
    commands=(Command("profile", "commands.profile", Stage.tools),),
)
