"""The parts of a report, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Sequence

from dbt_anonymize.extension import After, ReportSections, report_sections
from dbt_anonymize.extensions.report.reading import Findings
from dbt_anonymize.extensions.report.sections import choice, class_sizes, labels, past, regions
from dbt_anonymize.project.models import undeclared_details
from dbt_anonymize.project.sections import Section
from dbt_anonymize.relations import DETAILS
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.details import chosen_details


def sections(found: Findings) -> list[Section]:
    """Return every part, those first that matter for this release.

    Parts that were not measured say so, and those not declared are left out; of the details that
    were not, one part says how to have them.
    """
    own = {
        After.quality: [choice.quality(found)],
        After.plane: [choice.plane(found)],
        After.class_sizes: [class_sizes.class_sizes(found)],
        After.labels: [*labels.invented(found), *labels.distributions(found)],
        After.losses: [labels.losses(found)],
        After.regions: regions.regions(found),
        After.history: past.sections(found),
    }
    shown = [part for place in After for part in (*own[place], *_added(found, place))]
    if undeclared := undeclared_details(found.spec):
        shown.append(_more(found.spec, undeclared))
    return sorted(shown, key=lambda part: not part.is_open)


def _added(found: Findings, place: After) -> list[Section]:
    """Return the parts that extensions add at a place."""
    return [
        part
        for extension, one in report_sections()
        if one.after == place and _is_declared(one, found.spec)
        for part in extension.load(one.function)(found.all_evidence)
    ]


def _is_declared(one: ReportSections, spec: Spec) -> bool:
    return {*one.relations} & {*DETAILS} <= chosen_details(spec.details)


def _more(spec: Spec, details: Sequence[str]) -> Section:
    """Return the part that says which details are not built, and how to have them."""
    return Section(
        "more",
        "More that can be measured",
        f"Not declared, and so not built: {', '.join(details)}. `details: all` in "
        f"anonymizations/{spec.name}.yml, or `details: [{details[0]}]`, adds them: run "
        "`dbt-anonymize generate` and `dbt build`.",
    )
