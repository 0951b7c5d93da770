"""The figures of a dossier from details: the profile of risks, and uniqueness."""

from __future__ import annotations

from dbt_anonymize.project.evidence import Evidence
from dbt_anonymize.project.figures import Figure, format_figure, missing


def risk_profile(evidence: Evidence, label: str) -> list[Figure]:
    """Return the share of records in each interval of risk of the released effort."""
    source = f"{evidence.spec.name}_risk_profile, records_share"
    return [
        Figure(
            label.format(format_figure(row["risk_from"]), format_figure(row["risk_to"])),
            format_figure(row["records_share"]),
            source,
        )
        for row in evidence.rows("risk_profile", effort=evidence.effort)
        if row["records_share"]
    ] or [missing(evidence, "profile of risks", "risk_profile")]


def uniqueness(evidence: Evidence, label: str) -> list[Figure]:
    """Return the uniqueness of each quasi-identifier, and of all together."""
    rows = evidence.rows("quasi_identifier_risk")
    widest = max((row["size"] for row in rows), default=None)
    source = f"{evidence.spec.name}_quasi_identifier_risk, uniqueness"
    return [
        Figure(label.format(row["quasi_identifiers"]), format_figure(row["uniqueness"]), source)
        for row in rows
        if row["size"] in {1, widest}
    ] or [missing(evidence, "uniqueness", "quasi_identifier_risk")]
