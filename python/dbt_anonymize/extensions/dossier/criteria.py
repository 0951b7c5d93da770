"""The criteria of a dossier, which ``templates/criteria.yml`` lists, with their figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

import yaml

from dbt_anonymize.extension import dossier_figures, extensions
from dbt_anonymize.project.evidence import Evidence
from dbt_anonymize.project.figures import Figure, figure, format_figure, missing
from dbt_anonymize.spec.tested import NO_MODEL

_CHECKS_OF_CORE = ("guarantees", "recomputation")


@dataclass(frozen=True)
class Criterion:
    """One criterion: its question, the figures shown, the assumptions and the gaps."""

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
    declared = files("dbt_anonymize.extensions.dossier").joinpath("templates", "criteria.yml")
    return [
        Framework(
            **{**framework, "criteria": [_criterion(evidence, c) for c in framework["criteria"]]}
        )
        for framework in yaml.safe_load(declared.read_text(encoding="utf-8"))["frameworks"]
    ]


def _criterion(evidence: Evidence, declared: Mapping[str, Any]) -> Criterion:
    kinds = [item for kind in declared["shown"] for item in kind.items()]
    added = [
        (addition.kind, None)
        for _, addition in dossier_figures()
        if addition.criterion == declared["heading"]
    ]
    figures = [
        entry
        for kind, argument in (*kinds, *added)
        for entry in _figures_of_kind(evidence, kind, argument)
    ]
    return Criterion(**{**declared, "shown": figures})


def _figures_of_kind(evidence: Evidence, kind: str, argument: Any) -> list[Figure]:
    """Return the figures of a kind; one of an absent extension says that it is missing."""
    if kind in _FIGURES:
        return _FIGURES[kind](evidence, argument)
    for extension, added in dossier_figures():
        if added.kind == kind:
            figures: list[Figure] = extension.load(added.function)(evidence, argument)
            return figures
    named = argument[:1] if isinstance(argument, list) else []
    label = " ".join([kind, *named]).replace("_", " ")
    return [_without_extension(label)]


def _without_extension(label: str) -> Figure:
    return Figure(label, "missing: its extension is not here", "none")


def _privacy_figures(evidence: Evidence, labels: Mapping[str, str]) -> list[Figure]:
    return [
        entry
        for column, label in labels.items()
        for entry in figure(evidence, label, "privacy", column, effort=evidence.effort)
    ]


def _sensitive_figures(evidence: Evidence, labels: Mapping[str, str]) -> list[Figure]:
    columns = {
        f"{name}_{measure}": f"{name}: {label}"
        for name in evidence.spec.sensitive
        for measure, label in labels.items()
    }
    return _privacy_figures(evidence, columns)


def _identifier_figures(evidence: Evidence, label: str) -> list[Figure]:
    listed = ", ".join(evidence.spec.columns_with_role("identifier"))
    return [Figure(label, listed or "none", "specification")]


def _guarantee_figures(evidence: Evidence, label: str) -> list[Figure]:
    listed = "; ".join(
        ", ".join(f"{name} {value}" for name, value in guarantee.items() if name != "values")
        for guarantee in evidence.spec.guarantees.resolved
    )
    return [Figure(label, listed, "specification")]


def _verification_figures(evidence: Evidence, checks: Sequence[str]) -> list[Figure]:
    """Count the findings of checks of the last verification."""
    present = {*_CHECKS_OF_CORE, *(check.name for one in extensions() for check in one.checks)}
    figures = []
    for check in checks:
        label = f"verification, {check}"
        rows = evidence.rows("verification", proof=check)
        if not rows and check not in present:
            figures.append(_without_extension(label))
            continue
        counts = {
            status: sum(row["status"] == status for row in rows)
            for status in ("FAILED", "warning", "not run", "holds", "measured")
        }
        value = ", ".join(f"{status} {number}" for status, number in counts.items() if number)
        figures.append(
            Figure(label, value, f"{evidence.spec.name}_verification")
            if rows
            else missing(evidence, label, "verification")
        )
    return figures


def _result_figures(evidence: Evidence, labels: Mapping[str, str]) -> list[Figure]:
    spec = evidence.spec
    qf = (
        f"{spec.measure} on original records"
        if spec.is_tested
        else f"{spec.shown_measure}; {NO_MODEL}"
    )
    figures = [
        entry
        for column, label in labels.items()
        for entry in figure(
            evidence,
            label.format(qf=qf),
            "results",
            column,
            effort=evidence.effort,
        )
    ]
    if spec.is_tested and not spec.is_frozen:
        return figures
    why = "the effort is frozen, and no model is trained" if spec.is_frozen else NO_MODEL
    text = f"{format_figure(None)}: {why}"
    return [
        replace(entry, value=text) if entry.value == format_figure(None) else entry
        for entry in figures
    ]


def _release_figures(evidence: Evidence, label: str) -> list[Figure]:
    releases = {row["release"] for row in evidence.rows("releases")}
    if not releases:
        return [missing(evidence, label, "releases")]
    return [Figure(label, format_figure(len(releases)), f"{evidence.spec.name}_releases, release")]


def _effort_figures(evidence: Evidence, label: str) -> list[Figure]:
    return figure(evidence, label, "results", "effort", is_chosen=True)


def _recoding_figures(evidence: Evidence, label: str) -> list[Figure]:
    number = evidence.effort
    effort = None if number is None else evidence.spec.numbered_efforts.get(number)
    if effort is not None:
        levels = (f"{name} {level}" for name, level in (effort.levels or {}).items())
        recoding = ", ".join([effort.kind, *levels])
    elif number is None:
        recoding = "missing: no effort is chosen"
    else:
        recoding = f"missing: the specification has no effort {number} any more"
    return [Figure(label, recoding, "specification")]


# The kinds of figures that a criterion may show, beside those that extensions add; each takes the
# evidence and what is written there.
_FIGURES: dict[str, Callable[[Evidence, Any], list[Figure]]] = {
    "privacy": _privacy_figures,
    "sensitive_columns": _sensitive_figures,
    "identifiers": _identifier_figures,
    "guarantees": _guarantee_figures,
    "verified": _verification_figures,
    "results": _result_figures,
    "releases": _release_figures,
    "effort": _effort_figures,
    "recoding": _recoding_figures,
}
