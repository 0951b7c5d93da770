"""Builders of hierarchies: cuts, groups, codes and dates, from values or by rules, as seeds.

A hierarchy may as well be written by hand, or come from a model: core reads seeds alone.
"""

from dbt_anonymize.extension import Command, Extension, Stage

EXTENSION = Extension(
    name="hierarchy_builders",
    commands=(Command("hierarchy", "commands.hierarchy", Stage.tools),),
)
