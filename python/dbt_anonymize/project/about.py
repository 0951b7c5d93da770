"""Facts that `<n>_about` tells of a release."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from dbt_anonymize.project.descriptions import in_words
from dbt_anonymize.project.results import EffortResult
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.tested import NO_MODEL

_LIMITS = (
    "A label stands for a group and a bound is nobody's value: what is learned here holds for "
    "groups, and not surely for one of their people. Do not join rows with others to find people."
)


@dataclass(frozen=True)
class Fact:
    """A line: what it is about, what is said, and the number of it, if it is one."""

    fact: str
    value: str
    number: float | None = None


def declared_facts(spec: Spec) -> dict[str, str]:
    """Return what the spec alone says, by what it is about."""
    private = spec.differential_privacy
    owner, about = spec.owner, spec.release.about
    said = {
        "what": spec.description,
        "guarantees": ", ".join(map(requirement, spec.guarantees.resolved)),
        "predicts": f"{spec.target} ({spec.measure})" if spec.is_tested else "",
        "tested": "" if spec.is_tested else f"{NO_MODEL}; QF is {spec.shown_measure}",
        "left out": ", ".join(spec.release.leave_out or ()),
        "epsilon": f"{private.release_epsilon:g}" if private else "",
        "delta": f"{private.delta:g}" if private else "",
        "limits": (about.limits if about else None) or _LIMITS,
        "licence": (about.licence if about else None) or "",
        "contact": " ".join(filter(None, (owner.name, owner.email))) if owner else "",
    }
    if private:
        del said["guarantees"], said["predicts"], said["tested"]
    return {fact: value for fact, value in said.items() if value}


def requirement(guarantee: dict[str, object]) -> str:
    """Say what a guarantee requires."""
    parameters = ", ".join(f"{key} {value}" for key, value in guarantee.items() if key != "model")
    return f"{guarantee['model']} ({parameters})"


def facts_of(
    spec: Spec, results: Collection[EffortResult], date: str, records: int, starred: Collection[str]
) -> list[Fact]:
    """Return all that a release says of itself.

    ``date`` is when it was built, ``records`` its rows, and ``starred`` its columns without any
    label but the root. No count below the guaranteed k is told, nor one of records that may be of
    fewer people, nor one that waiting records would change.
    """
    said = [Fact(fact, value) for fact, value in declared_facts(spec).items()]
    chosen = next(one for one in results if one.is_chosen)
    words = chosen.levels_in_words or in_words(
        spec.numbered_efforts[chosen.effort], spec.quasi_identifiers
    )
    said += [Fact("date", date), Fact("levels", words)]
    if spec.differential_privacy:
        return said
    said += [Fact("effort", str(chosen.effort), chosen.effort), _count("records", records)]
    if starred:
        said.append(Fact("only *", ", ".join(starred)))
    if not spec.holds_back_joiners and spec.subject is None:
        gone, least = chosen.suppressed_records, spec.largest_k
        few = Fact("records left out", f"fewer than {least}")
        said.append(few if 0 < gone < least else _count("records left out", gone))
    if chosen.k is not None and not spec.holds_back_joiners:
        said.append(_count("k", chosen.k))
    original = next((one.qf_mean for one in results if one.effort == 0), None)
    scores = {"QF": chosen.qf_mean, "QF, original": original, "QF, zero rule": chosen.zero_rule}
    return said + [
        Fact(fact, f"{score:.3f}", round(score, 3))
        for fact, score in scores.items()
        if score is not None
    ]


def _count(fact: str, number: int) -> Fact:
    return Fact(fact, str(number), number)
