"""Findings of `verify` on the release of a table of another tool, and what it cannot find."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.literals import quote_name
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.recomputation.canonical import Comparer, Comparison
from dbt_anonymize.verify.recomputation.tables import Tables


def findings(tables: Tables, spec: Spec, number: int) -> Iterator[Finding]:
    """Compare the release with the table as the build reads it; of its rows nothing is promised."""
    effort = f"{spec.name}_effort_{number}"
    message = "another tool made the rows, so that nothing can compute them again."
    yield Finding("recomputation", effort, None, message, was_run=False)
    columns = tuple(spec.released_columns)
    released = {
        f"{spec.name}_anonymized": tables.anonymized,
        f"release file, {spec.name}_anonymized": tables.release,
    }
    comparer = Comparer(tables)
    for subject, relation in released.items():
        if relation is None:
            continue
        rows = f"select {', '.join(map(quote_name, columns))} from {tables.effort} as rows_"  # noqa: S608
        differing = comparer.differences(Comparison(subject, rows, relation))
        message = "has exactly the rows of the other tool as the build reads them."
        if differing:
            message = (
                "must have exactly the rows of the other tool as the build reads them; "
                f"{differing}. Do not use this release; build again."
            )
        yield Finding("recomputation", subject, not differing, message)
    message = (
        "the release has no formal guarantee, so none can be counted; its measured risks are in "
        f"{spec.name}_measured_privacy."
    )
    yield Finding("guarantees", spec.name, None, message, was_run=False)
