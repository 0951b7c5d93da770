"""Findings of `verify` on what a recoding gave: labels, means, modes, and aggregates of classes."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.extensions.recoding.recomputation.aggregates import wrong_aggregates
from dbt_anonymize.extensions.recoding.recomputation.coverage import uncovered
from dbt_anonymize.extensions.recoding.recomputation.means import wrong_means
from dbt_anonymize.extensions.recoding.recomputation.modes import wrong_modes
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.recomputation.expected import Expected


def findings(expected: Expected) -> Iterator[Finding]:
    """Judge what cannot be computed anew from the levels of the effort."""
    effort = expected.spec.numbered_efforts[expected.number]
    if not effort.is_full_domain:
        yield _coverage_finding(expected)
    if effort.aggregates:
        yield _aggregates_finding(expected)
    if effort.has_means:
        yield _means_finding(expected)
    if effort.has_modes:
        yield _modes_finding(expected)


def _coverage_finding(expected: Expected) -> Finding:
    records = uncovered(expected)
    message = "every label covers the value of its record."
    if records:
        message = (
            "the labels of a record must cover its values, as the recoding may give them; those of "
            f"{records:,} records do not. Do not use this release; build again."
        )
    return Finding("recomputation", "recoded labels", not records, message)


def _means_finding(expected: Expected) -> Finding:
    effort = expected.spec.numbered_efforts[expected.number]
    wrong = sum(
        wrong_means(expected.tables, expected.spec, effort, expected.source, generalization)
        for generalization in expected.generalizations.values()
        if generalization.is_interval
    )
    message = f"every {effort.group_numbers} is that of its group, and may be told."
    if wrong:
        message = (
            f"every {effort.group_numbers} must be that of its group, and tell no value too "
            f"closely; {wrong:,} do not. Do not use this release; build again."
        )
    return Finding("recomputation", "means of groups", not wrong, message)


def _modes_finding(expected: Expected) -> Finding:
    wrong = sum(
        wrong_modes(expected.tables, expected.spec, expected.source, generalization)
        for generalization in expected.generalizations.values()
        if not generalization.is_interval
    )
    message = "every mode is that of its group, and may be told."
    if wrong:
        message = (
            "every category must be the mode of its group, or a label that covers the group; "
            f"{wrong:,} are not, or tell the value of the others to one of them. Do not use this "
            "release; build again."
        )
    return Finding("recomputation", "modes of groups", not wrong, message)


def _aggregates_finding(expected: Expected) -> Finding:
    wrong = wrong_aggregates(expected)
    message = "every mean, median and mode is that of its class, and may be told."
    if wrong:
        message = (
            "a class must show its label, or a mean, median or mode of its records that tells no "
            f"value too closely; {wrong:,} do not. Do not use this release; build again."
        )
    return Finding("recomputation", "aggregates of classes", not wrong, message)
