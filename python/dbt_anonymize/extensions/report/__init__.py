"""Reports of a build: a page with charts, a text for pull requests, figures for programs."""

from dbt_anonymize.extension import Command, Extension, Stage

EXTENSION = Extension(
    name="report",
    commands=(Command("report", "commands.report", Stage.read),),
    needs=("dossier",),
)
