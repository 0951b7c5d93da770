"""Attacks on a release as its reader would carry them out, a module each; they give numbers.

All know what ``known`` holds and read what ``released`` holds.
"""

from dbt_anonymize.extension import Check, Extension, Reads

EXTENSION = Extension(
    name="attacks",
    checks=(Check("attacks", "check.check_attacks", Reads.release),),
)
