"""The history of all runs."""

from __future__ import annotations

import itertools
from typing import Any

from dbt_anonymize.extensions.report.reading import Findings
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.project.sections import Section, missing, number
from dbt_anonymize.relations import HISTORY

_MOST_RUNS = 50


def sections(findings: Findings) -> list[Section]:
    """Return what each run chose."""
    rows = [
        row
        for row in findings.evidence.rows("history", name=findings.spec.name)
        if row["is_chosen"]
    ]
    title = "Builds so far"
    if not rows:
        return [missing("history", title, HISTORY, "dbt build")]
    rows = sorted(rows, key=lambda row: str(row["run_at"]))[-_MOST_RUNS:]
    data: list[dict[str, Any]] = [
        {
            "run_at": str(row["run_at"])[:19],
            "effort": int(row["effort"]),
            "k": None if row["k"] is None else int(row["k"]),
            "qf": number(row["qf_mean"]),
            "q": number(row["q"]),
            "fingerprint": str(row["fingerprint"]),
        }
        for row in rows
    ]
    changes = sum(a["effort"] != b["effort"] for a, b in itertools.pairwise(data))
    return [
        Section(
            "history",
            title,
            f"{pluralized(len(data), 'build')} chose an effort; the choice changed "
            f"{pluralized(changes, 'time')}. A fingerprint identifies the "
            "specification of a build.",
            ("built (UTC)", "effort", "k", "QF", "Q", "specification"),
            [tuple(row.values()) for row in data],
            data,
            "history" if len(data) > 1 else None,
        )
    ]
