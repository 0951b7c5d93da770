"""Attacks on a release as its reader would carry them out, a module each; they give numbers.

All know what ``known`` holds and read what ``released`` holds.
"""

from dbt_anonymize.extension import (
    After,
    Check,
    DossierFigures,
    Extension,
    Reads,
    ReportSections,
)

EXTENSION = Extension(
    name="attacks",
    checks=(Check("attacks", "check.check_attacks", Reads.release),),
    report=(ReportSections(After.class_sizes, "sections.sections", ("attacks",)),),
    dossier=(
        DossierFigures("attack", "figures.attack", ("attacks",)),
        DossierFigures("attack_on_releases", "figures.attack_on_releases", ("attacks",)),
    ),
)
