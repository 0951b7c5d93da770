"""The parts of a report, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Sequence

from dbt_anonymize.documents import After
from dbt_anonymize.extension import report_sections
from dbt_anonymize.extensions.report.reading import Findings
from dbt_anonymize.extensions.report.sections import choice, class_sizes, labels, past
from dbt_anonymize.project.models import undeclared_details
from dbt_anonymize.project.sections import Section
from dbt_anonymize.relations import DETAILS
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.details import chosen_details


def sections(findings: Findings) -> list[Section]:
    """Return every part, those first that matter for this release.

    A part that was not measured says so. Undeclared details share one part, which says how to add
    them.
    """
    own = {
        After.quality: [choice.quality(findings)],
        After.plane: [choice.plane(findings)],
        After.class_sizes: [class_sizes.class_sizes(findings)],
        After.labels: [*labels.invented_records(findings), *labels.distributions(findings)],
        After.losses: [labels.losses(findings)],
        After.history: past.sections(findings),
    }
    parts = [part for place in After for part in (*own[place], *_added_sections(findings, place))]
    if undeclared := undeclared_details(findings.spec):
        parts.append(_undeclared_section(findings.spec, undeclared))
    return sorted(parts, key=lambda part: not part.is_open)


def _added_sections(findings: Findings, place: After) -> list[Section]:
    """Return the parts that extensions add at a place."""
    declared = chosen_details(findings.spec.details)
    return [
        part
        for extension, added in report_sections()
        if added.after == place and {*added.relations} & {*DETAILS} <= declared
        for part in extension.load(added.function)(findings.all_evidence)
    ]


def _undeclared_section(spec: Spec, details: Sequence[str]) -> Section:
    """Return the part that lists the details that are not built, and how to add them."""
    return Section(
        "more",
        "More that can be measured",
        f"Not declared, and so not built: {', '.join(details)}. `details: all` in "
        f"anonymizations/{spec.name}.yml, or `details: [{details[0]}]`, adds them: run "
        "`dbt-anonymize generate` and `dbt build`.",
    )
