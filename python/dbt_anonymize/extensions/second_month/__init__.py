"""Releases of the same table month after month: the labels stay, and whoever is new waits.

An effort is frozen with its levels and labels, and no release differs from another by few people.
"""

from dbt_anonymize.extension import Command, Extension, Part, Stage

EXTENSION = Extension(
    name="second_month",
    commands=(Command("freeze", "commands.freeze", Stage.build),),
    keys={Part.spec: "declared.Keys", Part.release: "declared.ReleaseKeys"},
    rules="rules.RULES",
    has_relations=True,
)
