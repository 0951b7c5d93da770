"""Attacks on a release, a module each: their success as numbers.

All start from the attacker's ``knowledge`` and a matched release (``released``).
"""

from dbt_anonymize.documents import After, DossierFigures, ReportSections
from dbt_anonymize.extension import Check, Extension, Reads

EXTENSION = Extension(
    name="attacks",
    checks=(Check("attacks", "check.check_attacks", Reads.release),),
    report=(ReportSections(After.class_sizes, "sections.sections", ("attacks",)),),
    dossier=(
        DossierFigures("attack", "figures.attack", ("attacks",)),
        DossierFigures("attack_on_releases", "figures.attack_on_releases", ("attacks",)),
    ),
)
