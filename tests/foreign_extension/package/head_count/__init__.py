"""Head count: how many people a class has on average, a toy."""

from dbt_anonymize.documents import After, DossierFigures, ReportSections
from dbt_anonymize.extension import Command, Extension, Part, Stage

EXTENSION = Extension(
    name="head_count",
    package="head_count",
    commands=(Command("head-count", "command", Stage.read),),
    keys={
        Part.spec: "declared.Keys",
        Part.effort: "declared.Note",
        Part.column: "declared.Note",
        Part.release: "declared.Note",
    },
    rules="declared.RULES",
    has_relations=True,
    report=(ReportSections(After.class_sizes, "documents.section", ("head_count",)),),
    dossier=(
        DossierFigures("heads", "documents.figures", ("head_count",), "The risk of identification"),
    ),
)
