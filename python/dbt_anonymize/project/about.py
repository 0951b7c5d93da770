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

_NO_GUARANTEE = "none: another tool made the rows, and their privacy was measured"


@dataclass(frozen=True)
class Fact:
    """A line: its topic, its text, and the number in it, if it is one."""

    fact: str
    value: str
    number: float | None = None


def declared_facts(spec: Spec) -> dict[str, str]:
    """Return the facts that follow from the spec, by topic."""
    private = spec.differential_privacy
    owner, about = spec.owner, spec.release.about
    facts = {
        "what": spec.description,
        "guarantees": ", ".join(map(requirement, spec.guarantees.resolved)),
        "predicts": f"{spec.target} ({spec.measure})" if spec.targets else "",
        "models": f"{spec.task} ({spec.measure})" if spec.is_tested and not spec.targets else "",
        "tested": "" if spec.is_tested else f"{NO_MODEL}; QF is {spec.shown_measure}",
        "left out": ", ".join(spec.release.leave_out or ()),
        **(private.facts if private else {}),
        "limits": (about.limits if about else None) or _LIMITS,
        "licence": (about.licence if about else None) or "",
        "contact": " ".join(filter(None, (owner.name, owner.email))) if owner else "",
    }
    if private:
        del facts["guarantees"], facts["predicts"], facts["models"], facts["tested"]
    return {fact: value for fact, value in facts.items() if value}


def requirement(guarantee: dict[str, object]) -> str:
    """Return a guarantee with its parameters as text."""
    parameters = ", ".join(f"{key} {value}" for key, value in guarantee.items() if key != "model")
    return f"{guarantee['model']} ({parameters})"


def facts_of(
    spec: Spec, results: Collection[EffortResult], date: str, records: int, starred: Collection[str]
) -> list[Fact]:
    """Return the facts that a release states about itself.

    ``date`` is the date of the build, ``records`` its rows, and ``starred`` its columns without any
    label but the root. No count is stated that is below the guaranteed k, that counts records of
    possibly fewer people, or that waiting records would change.
    """
    chosen = next(result for result in results if result.is_chosen)
    is_external = chosen.effort in spec.external_efforts
    facts = [
        Fact(fact, _NO_GUARANTEE if is_external and fact == "guarantees" else value)
        for fact, value in declared_facts(spec).items()
    ]
    words = chosen.levels_in_words or in_words(
        spec.built_efforts[chosen.effort], spec.described_trees
    )
    facts += [Fact("date", date), Fact("levels", words)]
    if spec.differential_privacy:
        return facts
    facts += [Fact("effort", str(chosen.effort), chosen.effort), _count("records", records)]
    if starred:
        facts.append(Fact("only *", ", ".join(starred)))
    if not spec.holds_back_joiners and spec.subject is None and not is_external:
        suppressed, least = chosen.suppressed_records, spec.largest_k
        rounded = Fact("records left out", f"fewer than {least}")
        facts.append(rounded if 0 < suppressed < least else _count("records left out", suppressed))
    if chosen.k is not None and not spec.holds_back_joiners and not is_external:
        facts.append(_count("k", chosen.k))
    original = next((result.qf_mean for result in results if result.effort == 0), None)
    scores = {"QF": chosen.qf_mean, "QF, original": original, "QF, zero rule": chosen.zero_rule}
    return facts + [
        Fact(fact, f"{score:.3f}", round(score, 3))
        for fact, score in scores.items()
        if score is not None
    ]


def _count(fact: str, number: int) -> Fact:
    return Fact(fact, str(number), number)
