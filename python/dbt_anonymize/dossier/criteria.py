"""The criteria of a dossier: what each asks, in our words, and what of it is measured."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dbt_anonymize.dossier.evidence import Evidence
from dbt_anonymize.dossier.figures import Figure, figure, measured, missing, shown

_ATTACKER = (
    "The attacker is the one of the attacks: he knows the quasi-identifiers and the hierarchies, "
    "and in the trials all released columns that are not sensitive."
)
_QUASI_IDENTIFIERS = (
    "The declared quasi-identifiers are all that others may know of a person; whoever wrote the "
    "specification decided that."
)


@dataclass(frozen=True)
class Criterion:
    """One criterion: what it asks, what is shown, what is assumed and what is not covered."""

    heading: str
    question: str
    shown: list[Figure]
    assumed: list[str]
    not_covered: list[str]


@dataclass(frozen=True)
class Framework:
    """A text of a regulator or a standard, and its criteria."""

    heading: str
    about: str
    criteria: list[Criterion]


def frameworks(evidence: Evidence) -> list[Framework]:
    """Map the evidence to each framework."""
    return [
        Framework(
            "WP 216",
            "Opinion 05/2014 on Anonymisation Techniques of the Article 29 Working Party names "
            "three risks that remain after a technique was applied.",
            [_singling_out(evidence), _linkability(evidence), _inference(evidence)],
        ),
        Framework(
            "NIST SP 800-188",
            "De-Identifying Government Datasets: Techniques and Governance (2023) describes the "
            "steps of an organization that shares data.",
            [step(evidence) for step in (_identifiers, _model_of_risk, _tests, _utility, _later)],
        ),
        Framework(
            "HIPAA expert determination",
            "45 CFR 164.514(b)(1): an expert determines that the risk of identification is very "
            "small, and documents how. The guidance names principles by which risk is assessed.",
            [step(evidence) for step in (_distinguishable, _available, _risk, _documented)],
        ),
    ]


def _privacy(evidence: Evidence, **labels: str) -> list[Figure]:
    return [
        found
        for column, label in labels.items()
        for found in figure(evidence, label, "privacy", column, effort=evidence.effort)
    ]


def _singling_out(evidence: Evidence) -> Criterion:
    return Criterion(
        "Singling out",
        "Can the records of one person be isolated in the release?",
        [
            *_privacy(
                evidence,
                k="k: subjects of the smallest class",
                highest_risk="highest risk: 1 / k",
                average_risk="average risk",
                sample_uniqueness="share of unique records",
                suppressed_records="suppressed records",
            ),
            *measured(evidence, "singling_out", ["univariate", "multivariate"]),
            *measured(evidence, "linkage", ["highest_success", "average_success"]),
        ],
        [_QUASI_IDENTIFIERS, _ATTACKER],
        ["Other attacks than these: a risk of 0 is no proof.", "Values that are known roughly."],
    )


def _linkability(evidence: Evidence) -> Criterion:
    return Criterion(
        "Linkability",
        "Can records of one person be joined, within the release or with other data?",
        [
            *measured(evidence, "linkability", ["same_row"]),
            *measured(evidence, "mapping", ["highest_success", "most_rows_of_a_token"]),
            *measured(evidence, "composition", ["joint_classes_below_k"]),
        ],
        ["The vault is read by custodians only.", _ATTACKER],
        [
            "Releases of others, and of other projects, unless their files were given to the "
            "verification.",
            "Efforts beside the released one are composed as if they were published too.",
        ],
    )


def _inference(evidence: Evidence) -> Criterion:
    spec = evidence.spec
    of_attributes = [
        found
        for name in spec.sensitive
        for found in _privacy(
            evidence,
            **{
                f"{name}_distinct_l": f"{name}: fewest values of a class",
                f"{name}_highest_share": f"{name}: highest share of a value in a class",
                f"{name}_t": f"{name}: largest distance of a class from the table",
            },
        )
    ]
    return Criterion(
        "Inference",
        "Can a value of a person be deduced, with more certainty than without the release?",
        [
            *of_attributes,
            *measured(
                evidence,
                "attribute_inference",
                ["share_right", "share_right_knowing_the_rest", "highest_confidence"],
            ),
            *measured(evidence, "membership_inference", ["auc", "taken_for_members"]),
        ],
        ["Only columns with the role sensitive are secrets.", _ATTACKER],
        ["What is true of people in general: it is inferred of those who are not in the release."],
    )


def _identifiers(evidence: Evidence) -> Criterion:
    return Criterion(
        "Direct identifiers are removed",
        "Which columns name a person, and does anything of them reach the release?",
        [
            Figure(
                "columns with the role identifier",
                ", ".join(evidence.spec.columns_with_role("identifier")) or "none",
                "specification",
            ),
            *_verified(evidence, "content"),
            *_verified(evidence, "provenance"),
        ],
        ["The role of each column is right."],
        ["Names within free text that are in no identifier column."],
    )


def _model_of_risk(evidence: Evidence) -> Criterion:
    return Criterion(
        "Quasi-identifiers are transformed by a formal model",
        "What is promised, and was it counted again by other code?",
        [
            Figure("guarantees", _guarantees(evidence), "specification"),
            *_privacy(
                evidence,
                meets_guarantees="the released effort meets the guarantees",
                released_records="released records",
                suppressed_records="suppressed records",
            ),
            *_verified(evidence, "guarantees"),
            *_verified(evidence, "recomputation"),
        ],
        [_QUASI_IDENTIFIERS],
        ["Whether k, l or t are large enough for these data: the standard sets no number."],
    )


def _tests(evidence: Evidence) -> Criterion:
    return Criterion(
        "Re-identification is tried",
        "Did somebody attack the release, and what did it give?",
        [
            *measured(evidence, "linkage", ["highest_success", "unexplained_rows"]),
            *measured(evidence, "singling_out", ["univariate", "multivariate"]),
            *_verified(evidence, "attacks"),
        ],
        [_ATTACKER],
        ["A study by people who search for real persons with public data."],
    )


def _utility(evidence: Evidence) -> Criterion:
    labels = {
        "qf_mean": f"QF: {evidence.spec.quality.measure} on original records",
        "qf_low": "its interval, from",
        "qf_high": "its interval, to",
        "qf_difference": "difference to the untouched table",
        "zero_rule": "without any feature",
        "reason": "why this effort is released",
    }
    found = [
        one
        for column, label in labels.items()
        for one in figure(evidence, label, "results", column, effort=evidence.effort)
    ]
    if evidence.spec.freeze:
        text = f"{shown(None)}: the effort is frozen, and no model is trained"
        found = [replace(one, value=text) if one.value == shown(None) else one for one in found]
    return Criterion(
        "The data stay useful",
        "Is the release still good for what it is shared for?",
        found,
        ["The declared target and model stand for the purpose."],
        ["Other uses of the data."],
    )


def _later(evidence: Evidence) -> Criterion:
    label = "releases that the vault remembers"
    releases = {row["release"] for row in evidence.rows("releases")}
    remembered = (
        [Figure(label, shown(len(releases)), f"{evidence.spec.name}_releases, release")]
        if releases
        else [missing(evidence, label, "releases")]
    )
    return Criterion(
        "Releases are watched over time, and governed",
        "What was released before, and does it break the promise of this release?",
        [
            *remembered,
            *measured(evidence, "composition", ["joint_classes_below_k"], with_efforts=False),
        ],
        ["Whoever may change the specification is allowed to decide about it."],
        [
            "A disclosure review board, agreements with recipients, and training.",
            "Data of others that appear later.",
        ],
    )


def _distinguishable(evidence: Evidence) -> Criterion:
    rows = evidence.rows("quasi_identifier_risk")
    widest = max((row["size"] for row in rows), default=None)
    label = "distinguishable by {}: share of unique records of the source"
    source = f"{evidence.spec.name}_quasi_identifier_risk, uniqueness"
    return Criterion(
        "Distinguishability and replicability",
        "How far do the attributes tell people apart, and do they stay with a person?",
        [
            Figure(label.format(row["quasi_identifiers"]), shown(row["uniqueness"]), source)
            for row in rows
            if row["size"] in {1, widest}
        ]
        or [missing(evidence, "uniqueness", "quasi_identifier_risk")],
        ["Quasi-identifiers are those attributes that stay with a person."],
        ["How long a value stays with a person: no relation measures it."],
    )


def _available(evidence: Evidence) -> Criterion:
    return Criterion(
        "Availability of other data",
        "Who could know the attributes of a person, and of how many people like her?",
        _privacy(
            evidence,
            journalist_highest_risk="highest risk for somebody of the declared population",
            marketer_risk="expected share of identified people of the population",
            population_uniqueness="unique people of the population",
        ),
        ["The recipient has what the attacker of this dossier has, and no more."],
        ["Registers, social networks and sellers of data were not searched."],
    )


def _risk(evidence: Evidence) -> Criterion:
    profile = [
        row for row in evidence.rows("risk_profile", effort=evidence.effort) if row["records_share"]
    ]
    source = f"{evidence.spec.name}_risk_profile, records_share"
    return Criterion(
        "The risk of identification",
        "How likely is it that a recipient identifies somebody?",
        [
            *_privacy(evidence, highest_risk="highest risk", average_risk="average risk"),
            *(
                [
                    Figure(
                        f"records with a risk above {shown(row['risk_from'])}, at most "
                        f"{shown(row['risk_to'])}",
                        shown(row["records_share"]),
                        source,
                    )
                    for row in profile
                ]
                or [missing(evidence, "profile of risks", "risk_profile")]
            ),
            *measured(evidence, "linkage", ["highest_success"]),
        ],
        [_QUASI_IDENTIFIERS],
        ["Whether this is very small: the expert determines it, and no number here does."],
    )


def _documented(evidence: Evidence) -> Criterion:
    done, effort = "missing: no effort is chosen", None
    if evidence.effort is not None:
        done = f"missing: the specification has no effort {evidence.effort} any more"
        effort = evidence.spec.numbered_efforts.get(evidence.effort)
    if effort is not None:
        levels = effort.levels or {}
        done = ", ".join([effort.recoding, *(f"{name} {n}" for name, n in levels.items())])
    return Criterion(
        "Methods and results are documented",
        "What was done to the data, and can it be repeated?",
        [
            *figure(evidence, "released effort", "results", "effort", is_chosen=True),
            Figure("recoding and levels (0 is the raw value)", done, "specification"),
            *_verified(evidence, "recomputation"),
            *_verified(evidence, "audit"),
        ],
        ["Specification, hierarchies and generated models are kept under version control."],
        [
            "The qualification of the expert, and the determination itself.",
            "The other way of the rule, safe harbor, and its list of identifiers.",
        ],
    )


def _guarantees(evidence: Evidence) -> str:
    return "; ".join(
        ", ".join(f"{name} {value}" for name, value in guarantee.items() if name != "values")
        for guarantee in evidence.spec.guarantees.resolved
    )


def _verified(evidence: Evidence, check: str) -> list[Figure]:
    """Count the findings of one check of the last verification."""
    label = f"verification, {check}"
    rows = evidence.rows("verification", proof=check)
    if not rows:
        return [missing(evidence, label, "verification")]
    counts = {
        status: sum(row["status"] == status for row in rows)
        for status in ("FAILED", "warning", "not run", "holds", "measured")
    }
    value = ", ".join(f"{status} {number}" for status, number in counts.items() if number)
    return [Figure(label, value, f"{evidence.spec.name}_verification")]
