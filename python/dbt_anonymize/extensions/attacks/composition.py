"""Composition: the attacker intersects two releases of the same people.

Who is in a class of each hides only in the joint class, so two releases that keep k can break it
together. And the values that both leave for her may have only one in common.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from dataclasses import dataclass

from dbt_anonymize.extensions.attacks.knowledge import Knowledge
from dbt_anonymize.extensions.attacks.linkage import declared_k
from dbt_anonymize.extensions.attacks.released import Released
from dbt_anonymize.extensions.attacks.result import AttackResult
from dbt_anonymize.pluralize import pluralized


@dataclass(frozen=True)
class OtherRelease:
    """Names of the other release; only a published one causes warnings."""

    against: str
    shown: str
    is_published: bool = True


def attack_composition(
    release: Released, other: Released | None, beside: OtherRelease
) -> list[AttackResult]:
    """Intersect a release with another one, read with the same knowledge.

    Measures are ``joint_classes``, ``joint_classes_below_k``, ``subjects_below_k``,
    ``smallest_joint_class`` and, for each sensitive column of both,
    ``subjects_with_determined_value``: those for whom both releases together leave the true value
    only, though neither does alone; None where the other release generalizes the column. Baselines
    are those of the first release alone. No limit judges them, as a spec promises nothing about
    other releases; what breaks the promise of this one is a warning. ``other`` is None where it
    shows no quasi-identifier.
    """
    if other is None:
        return [
            AttackResult(
                "composition",
                "joint_classes_below_k",
                None,
                f"nothing to intersect: {beside.shown} shows no quasi-identifier of "
                f"{release.name}.",
                against=beside.against,
            )
        ]
    # Outer: being in one release only also tells a person from others of her class.
    joint = (
        f"select a.class as own, b.class as other, {release.knowledge.count_people('a')} as people "
        f"from {release.own} as a inner join {other.own} as b on a.record_key = b.record_key "
        "where a.class is not null or b.class is not null group by a.class, b.class"
    )
    results = joint_classes(release, joint, beside)
    for attribute in release.sensitive:
        if attribute in other.sensitive:
            results.append(_determined_values(release, other, attribute, beside))
    for attribute in sorted({*release.sensitive} & {*other.generalized}):
        results.append(
            AttackResult(
                "composition",
                "subjects_with_determined_value",
                None,
                f"not compared: {beside.shown} has no values of {attribute}, but labels or masks.",
                against=beside.against,
                attribute=attribute,
            )
        )
    return results


def joint_classes(release: Released, joint: str, beside: OtherRelease) -> list[AttackResult]:
    """Count the joint classes of two releases: see `attack_composition`.

    ``joint`` selects ``own``, ``other`` and ``people`` of each pair of classes; a class is NULL for
    records that the release does not have.
    """
    knowledge, k, shown = release.knowledge, declared_k(release.knowledge.spec), beside.shown
    alone = (
        f"select class as own, {knowledge.count_people('o')} as people from {release.own} as o "
        "where class is not null group by class"
    )
    summary, baseline_summary = _summary(knowledge, joint, k), _summary(knowledge, alone, k)
    classes, below, people_below, smallest, people = summary
    if below:
        verdict = (
            f"whoever has both gets closer to them than {release.name} promises"
            if beside.is_published
            else "not to be published too"
        )
        explanation = (
            f"together with {shown}, {below:,} of "
            f"{pluralized(classes, 'joint class', 'joint classes')} "
            f"are below k = {k}, with {pluralized(people_below, 'subject', 'subjects')}, "
            f"{smallest:,} in the smallest: {verdict}."
        )
    else:
        explanation = f"with {shown}, every joint class has at least {smallest:,} subjects."
    explanations = {
        "joint_classes": f"classes, divided by {shown}.",
        "joint_classes_below_k": explanation,
        "subjects_below_k": f"subjects of joint classes with {shown} that have fewer than k = {k}.",
        "smallest_joint_class": f"subjects of the smallest joint class with {shown}.",
    }
    is_broken = beside.is_published and below > 0
    return [
        AttackResult(
            "composition",
            measure,
            float(value),
            text,
            against=beside.against,
            naive=float(baseline),
            subjects=people,
            is_warning=is_broken and measure == "joint_classes_below_k",
        )
        for (measure, text), value, baseline in zip(
            explanations.items(), summary, baseline_summary, strict=False
        )
    ]


def _summary(knowledge: Knowledge, classes: str, k: int) -> tuple[int, ...]:
    """Return counts: classes, those below k, their people, people of the smallest and of all."""
    counts = knowledge.session.row(
        f"select count(*), count(*) filter (where people < {k}), "
        f"coalesce(sum(people) filter (where people < {k}), 0), coalesce(min(people), 0), "
        f"coalesce(sum(people), 0) from ({classes})"
    )
    return tuple(map(int, counts))


def _determined_values(
    release: Released, other: Released, attribute: str, beside: OtherRelease
) -> AttackResult:
    knowledge, alias, shown = release.knowledge, release.sensitive[attribute], beside.shown
    values, other_values = _possible_values(release, attribute), _possible_values(other, attribute)
    groups = (
        f"select distinct a.candidates as own, b.candidates as other from {release.sets} as a "
        f"inner join {other.sets} as b on a.tuple = b.tuple"
    )
    determined = knowledge.session.table(
        "determined",
        "select g.own, g.other, min(a.value) as value, "
        f"min(a.possible) as alone, min(b.possible) as alone_other from ({groups}) as g "
        f"inner join {values} as a on g.own = a.candidates "
        f"inner join {other_values} as b "
        "on g.other = b.candidates and a.value is not distinct from b.value "
        "group by g.own, g.other having count(*) = 1",
    )
    joint = (
        f"from {release.own} as x inner join {other.own} as y on x.record_key = y.record_key "
        f"inner join {release.sets} as a on x.tuple = a.tuple "
        f"inner join {other.sets} as b on y.tuple = b.tuple "
        f"inner join {determined} as d on a.candidates = d.own and b.candidates = d.other "
        f"and x.{alias} is not distinct from d.value "
        "where x.class is not null and y.class is not null"
    )
    jointly_determined, by_other_alone = knowledge.session.row(
        "select count(distinct x.person) filter (where d.alone > 1 and d.alone_other > 1), "
        f"count(distinct x.person) filter (where d.alone > 1 and d.alone_other = 1) {joint}"
    )
    (alone,) = knowledge.session.row(
        f"select count(distinct x.person) from {release.own} as x "
        f"inner join {release.sets} as a on x.tuple = a.tuple "
        f"inner join {values} as v on a.candidates = v.candidates and v.possible = 1 "
        f"and x.{alias} is not distinct from v.value where x.class is not null"
    )
    messages = []
    if jointly_determined:
        messages.append(
            f"together with {shown}, {attribute} of "
            f"{pluralized(jointly_determined, 'subject', 'subjects')} "
            "is certain, though neither tells it alone."
        )
    if by_other_alone:
        messages.append(
            f"{shown} alone reveals {attribute} of "
            f"{pluralized(by_other_alone, 'subject', 'subjects')} whom {release.name} hides."
        )
    nobody = f"together with {shown}, {attribute} of nobody becomes certain."
    return AttackResult(
        "composition",
        "subjects_with_determined_value",
        float(jointly_determined),
        " ".join(messages) or nobody,
        against=beside.against,
        attribute=attribute,
        naive=float(alone),
        subjects=knowledge.people,
        is_warning=beside.is_published and bool(messages),
    )


def _possible_values(release: Released, attribute: str) -> str:
    """Return a table of the sensitive values possible in each set of classes, with their number."""
    alias = release.sensitive[attribute]
    return release.knowledge.session.table(
        "possible",
        "select candidates, value, count(*) over (partition by candidates) as possible from "
        f"(select distinct s.candidates, m.{alias} as value from {release.of_sets} as s "
        f"inner join {release.members} as m on s.class = m.class)",
    )
