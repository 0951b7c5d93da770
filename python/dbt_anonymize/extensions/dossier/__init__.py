"""Dossiers of a release, for somebody who decides on it."""

from dbt_anonymize.extension import Command, Extension, Stage

EXTENSION = Extension(
    name="dossier",
    commands=(Command("dossier", "commands.dossier", Stage.read),),
)
