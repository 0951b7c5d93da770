"""The parts of a report, in the order in which they are read."""

from __future__ import annotations

from dbt_anonymize.report.reading import Findings
from dbt_anonymize.report.section import Section
from dbt_anonymize.report.sections import choice, disclosure, labels, past, usefulness


def sections(found: Findings) -> list[Section]:
    """Return every part, those first that matter for this release.

    What was not measured says so, and what was not declared is left out.
    """
    parts = [
        *choice.sections(found),
        *disclosure.sections(found),
        *labels.sections(found),
        *usefulness.sections(found),
        *past.sections(found),
    ]
    return sorted(parts, key=lambda part: not part.is_open)
