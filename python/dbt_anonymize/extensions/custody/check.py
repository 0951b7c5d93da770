"""The receipts of re-linkings and erasures as a check of `verify`."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.extensions.custody.receipts import count_erasures
from dbt_anonymize.extensions.custody.relink.audit import check_audit
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding


def check_receipts(warehouse: Warehouse, spec: Spec) -> list[Finding]:
    """Check the numbering of re-linkings, and that erasures are complete."""
    if spec.mapping == "none":
        return []
    attempts, missing = check_audit(warehouse, spec.name)
    message = f"{pluralized(attempts, 'attempt')} to re-link, numbered without a gap."
    if missing:
        message = (
            f"attempts must be numbered without a gap; {missing:,} of {attempts + missing:,} are "
            "missing. Ask who may write the vault, or restore the relation from a backup."
        )
    of_attempts = Finding("audit", f"{spec.name}_relinkings", holds=not missing, message=message)
    return [of_attempts, *_erasures(warehouse, spec)]


def _erasures(warehouse: Warehouse, spec: Spec) -> Iterator[Finding]:
    """Yield a finding on erasures, which fails where one is incomplete."""
    erasures, begun = count_erasures(warehouse, spec.name)
    message = f"{pluralized(erasures, 'erasure')}, and all are complete."
    if begun:
        message = (
            f"an erasure that was begun must be completed; {begun:,} of {erasures:,} are not, so "
            "that the published release or the bytes of a file may still have the person. Run the "
            f"same `dbt-anonymize erase {spec.name} --subject ...` again."
        )
    if erasures:
        yield Finding("audit", f"{spec.name}_erasures", holds=not begun, message=message)
