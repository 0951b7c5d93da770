"""Attacks as a check of `verify`, which keeps their figures in ``<n>_attacks``."""

from __future__ import annotations

from dataclasses import replace

from dbt_anonymize.extensions.attacks.result import AttackResult, findings
from dbt_anonymize.extensions.attacks.running import chosen_effort, run_attacks
from dbt_anonymize.verify.checked import Checked, write_or_note
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.writing import write_rows


def check_attacks(checked: Checked) -> list[Finding]:
    """Attack a release, and store the results."""
    spec, release, earlier = checked.spec, checked.release, checked.earlier
    if checked.kept:  # nobody knows any more whose its rows are
        return []
    if chosen_effort(checked.read, spec) in spec.external_efforts:
        measured = f"{spec.name}_measured_privacy"
        message = (
            "the rows are of another tool, and whose they are nobody knows; they were attacked "
            f"before the release, see {measured}."
        )
        return [Finding("attacks", spec.name, None, message, was_run=False)]
    results = run_attacks(checked.read, checked.project, spec, release=release, earlier=earlier)

    def write() -> None:
        content = checked.current
        rows = [replace(result, content=content, spec=spec.fingerprint) for result in results]
        write_rows(checked.warehouse, spec, "attacks", AttackResult, rows)

    return [*findings(results), *write_or_note(checked.warehouse, spec, ["attacks"], write)]
