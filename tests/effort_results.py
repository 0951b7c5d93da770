"""Rows of results of three efforts, made up."""

from __future__ import annotations

from typing import Any

from dbt_anonymize.project.register import COLUMNS, RegisteredRelease
from dbt_anonymize.project.results import EffortResult

# Effort: QF, QNF, k, suppressed records, whether it qualifies.
LINES = {
    0: (0.90, 0.0, 1, 0, False),
    1: (0.88, 0.5, 2, 0, True),
    2: (0.80, 0.9, 10, 7, True),
}
ALPHA = 0.1
# The digests of the published rows and of what was declared, which findings carry.
ABOUT = {"content": "00c0ffee", "spec": "12345678"}


def result_of(effort: int) -> dict[str, Any]:
    """Return the row of an effort."""
    qf, qnf, k, suppressed, qualifies = LINES[effort]
    named = EffortResult(
        effort=effort,
        k=k,
        suppressed_records=suppressed,
        qf_mean=qf,
        qf_low=qf - 0.02,
        qf_high=qf + 0.02,
        zero_rule=0.6,
        beats_zero_rule=True,
        qnf=qnf,
        alpha=ALPHA,
        q=qf + ALPHA * qnf,
        qualifies=qualifies,
        is_chosen=effort == 1,
        choice_share=0.75 if effort == 1 else 0.25 if qualifies else None,
        runner_up=2 if effort == 1 else None,
        q_difference_to_runner_up=0.04 if effort == 1 else None,
        q_difference_to_runner_up_low=-0.01 if effort == 1 else None,
        q_difference_to_runner_up_high=0.09 if effort == 1 else None,
        reason="chosen: highest Q" if effort == 1 else "not chosen",
    )
    return vars(named) | {
        "records": 100,
        "qf_difference": qf - 0.9,
        "qf_difference_low": qf - 0.92,
        "qf_difference_high": qf - 0.88,
        "fingerprint": "12345678",
    }


def published() -> RegisteredRelease:
    """Return the row of the register of the published release."""
    columns: dict[str, Any] = dict.fromkeys(COLUMNS) | ABOUT
    return RegisteredRelease(
        **columns | {"release": 3, "released_at": "2026-01-02 00:00:00", "k": 2}
    )
