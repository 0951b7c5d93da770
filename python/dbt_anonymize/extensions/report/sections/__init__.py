"""The parts of a report, in the order in which they are read."""

from __future__ import annotations

from dbt_anonymize.extensions.report.reading import Findings
from dbt_anonymize.extensions.report.section import Section, more
from dbt_anonymize.extensions.report.sections import choice, disclosure, labels, past, usefulness
from dbt_anonymize.project.models import undeclared_details
from dbt_anonymize.spec.details import chosen_details

# The parts that show details.
_SECTIONS = {
    "alpha_ranges": "ranges",
    "calibration": "calibration",
    "curves": "curves",
    "quasi_identifier_risk": "columns",
    "risk_profile": "risks",
}


def sections(found: Findings) -> list[Section]:
    """Return every part, those first that matter for this release.

    What was not measured says so, and what was not declared is left out; of the details that were
    not, one part says how to have them.
    """
    parts = [
        *choice.sections(found),
        *disclosure.sections(found),
        *labels.sections(found),
        *usefulness.sections(found),
        *past.sections(found),
    ]
    declared = chosen_details(found.spec.details)
    left_out = {part for detail, part in _SECTIONS.items() if detail not in declared}
    shown = [part for part in parts if part.key not in left_out]
    if undeclared := undeclared_details(found.spec):
        shown.append(more(found.spec, undeclared))
    return sorted(shown, key=lambda part: not part.is_open)
