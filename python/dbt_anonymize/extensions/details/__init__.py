"""Relations that tell more of an anonymization than its choice needs: `details` of a spec."""

from dbt_anonymize.documents import After, DossierFigures, ReportSections
from dbt_anonymize.extension import Extension

EXTENSION = Extension(
    name="details",
    has_relations=True,
    report=(
        ReportSections(After.quality, "sections.ranges", ("alpha_ranges",)),
        ReportSections(After.class_sizes, "sections.risks", ("risk_profile",)),
        ReportSections(After.class_sizes, "sections.columns", ("quasi_identifier_risk",)),
        ReportSections(After.losses, "sections.curves", ("curves",)),
        ReportSections(After.losses, "sections.calibration", ("calibration",)),
    ),
    dossier=(
        DossierFigures("risk_profile", "figures.risk_profile", ("risk_profile",)),
        DossierFigures("uniqueness", "figures.uniqueness", ("quasi_identifier_risk",)),
    ),
)
