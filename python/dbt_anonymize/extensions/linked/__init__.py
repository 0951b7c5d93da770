"""Tables around a person: what her linked records tell of her, counted, suppressed, released."""

from dbt_anonymize.documents import After, ReportSections
from dbt_anonymize.extension import Check, Extension, Part, Reads

EXTENSION = Extension(
    name="linked",
    keys={Part.spec: "declared.Keys", Part.effort: "declared.EffortKeys"},
    rules="rules.RULES",
    has_relations=True,
    steps="steps.steps_of",
    checks=(Check("linked", "verification.checking.check_linked", Reads.release),),
    notes="shown.note_linked",
    report=(ReportSections(After.losses, "shown.sections", ("linked_losses",)),),
    searched="levels.searched.read_searched",
    drafts={"linked": "levels.search.draft"},
)
