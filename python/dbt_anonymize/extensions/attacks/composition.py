"""Composition: the attacker intersects two releases of the same people.

Who is in a class of each hides only in the joint class, so two releases that keep k can break it
together. And the values that both leave for her may have only one in common.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from dataclasses import dataclass

from dbt_anonymize.extensions.attacks.known import Known
from dbt_anonymize.extensions.attacks.linkage import declared_k
from dbt_anonymize.extensions.attacks.released import Released
from dbt_anonymize.extensions.attacks.result import AttackResult
from dbt_anonymize.pluralize import pluralized


@dataclass(frozen=True)
class OtherRelease:
    """The other side of an intersection; warnings are only about a published one."""

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
    only, though neither does alone. Baselines are those of the first release alone. No limit judges
    them, as a spec promises nothing about other releases; what breaks the promise of this one is a
    warning. ``other`` is None where it shows no quasi-identifier.
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
    # Whoever is in one release only is told from the others of her class by that, too.
    joint = (
        f"select a.class as own, b.class as other, {release.known.count_people('a')} as people "
        f"from {release.own} as a inner join {other.own} as b on a.record_key = b.record_key "
        "where a.class is not null or b.class is not null group by a.class, b.class"
    )
    results = joint_classes(release, joint, beside)
    for attribute in release.sensitive:
        if attribute in other.sensitive:
            results.append(_determined(release, other, attribute, beside))
    return results


def joint_classes(release: Released, joint: str, beside: OtherRelease) -> list[AttackResult]:
    """Count the classes that two releases make together: see `attack_composition`.

    ``joint`` selects ``own``, ``other`` and ``people`` of each pair of classes; NULL is the class
    of records that a release has not.
    """
    known, k, shown = release.known, declared_k(release.known.spec), beside.shown
    alone = (
        f"select class as own, {known.count_people('o')} as people from {release.own} as o "
        "where class is not null group by class"
    )
    found, before = _summary(known, joint, k), _summary(known, alone, k)
    classes, below, people_below, smallest, people = found
    if below:
        both = (
            f"whoever has both gets closer to them than {release.name} promises"
            if beside.is_published
            else "not to be published too"
        )
        explanation = (
            f"together with {shown}, {below:,} of "
            f"{pluralized(classes, 'joint class', 'joint classes')} "
            f"are below k = {k}, with {pluralized(people_below, 'subject', 'subjects')}, "
            f"{smallest:,} in the smallest: {both}."
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
            explanations.items(), found, before, strict=False
        )
    ]


def _summary(known: Known, classes: str, k: int) -> tuple[int, ...]:
    """Count the classes, those below k, people of these, of the smallest class, and of all."""
    found = known.session.row(
        f"select count(*), count(*) filter (where people < {k}), "
        f"coalesce(sum(people) filter (where people < {k}), 0), coalesce(min(people), 0), "
        f"coalesce(sum(people), 0) from ({classes})"
    )
    return tuple(map(int, found))


def _determined(
    release: Released, other: Released, attribute: str, beside: OtherRelease
) -> AttackResult:
    known, alias, shown = release.known, release.sensitive[attribute], beside.shown
    values, others = _possible(release, attribute), _possible(other, attribute)
    groups = (
        f"select distinct a.candidates as own, b.candidates as other from {release.sets} as a "
        f"inner join {other.sets} as b on a.tuple = b.tuple"
    )
    determined = known.session.table(
        "determined",
        "select g.own, g.other, min(a.value) as value, "
        f"min(a.possible) as alone, min(b.possible) as alone_other from ({groups}) as g "
        f"inner join {values} as a on g.own = a.candidates "
        f"inner join {others} as b "
        "on g.other = b.candidates and a.value is not distinct from b.value "
        "group by g.own, g.other having count(*) = 1",
    )
    both = (
        f"from {release.own} as x inner join {other.own} as y on x.record_key = y.record_key "
        f"inner join {release.sets} as a on x.tuple = a.tuple "
        f"inner join {other.sets} as b on y.tuple = b.tuple "
        f"inner join {determined} as d on a.candidates = d.own and b.candidates = d.other "
        f"and x.{alias} is not distinct from d.value "
        "where x.class is not null and y.class is not null"
    )
    together, by_other = known.session.row(
        "select count(distinct x.person) filter (where d.alone > 1 and d.alone_other > 1), "
        f"count(distinct x.person) filter (where d.alone > 1 and d.alone_other = 1) {both}"
    )
    (alone,) = known.session.row(
        f"select count(distinct x.person) from {release.own} as x "
        f"inner join {release.sets} as a on x.tuple = a.tuple "
        f"inner join {values} as v on a.candidates = v.candidates and v.possible = 1 "
        f"and x.{alias} is not distinct from v.value where x.class is not null"
    )
    messages = []
    if together:
        messages.append(
            f"together with {shown}, {attribute} of {pluralized(together, 'subject', 'subjects')} "
            "is certain, though neither tells it alone."
        )
    if by_other:
        messages.append(
            f"{shown} alone reveals {attribute} of {pluralized(by_other, 'subject', 'subjects')} "
            f"whom {release.name} hides."
        )
    nobody = f"together with {shown}, {attribute} of nobody becomes certain."
    return AttackResult(
        "composition",
        "subjects_with_determined_value",
        float(together),
        " ".join(messages) or nobody,
        against=beside.against,
        attribute=attribute,
        naive=float(alone),
        subjects=known.people,
        is_warning=beside.is_published and bool(messages),
    )


def _possible(release: Released, attribute: str) -> str:
    """List the sensitive values that each set of classes leaves, and how many these are."""
    alias = release.sensitive[attribute]
    return release.known.session.table(
        "possible",
        "select candidates, value, count(*) over (partition by candidates) as possible from "
        f"(select distinct s.candidates, m.{alias} as value from {release.of_sets} as s "
        f"inner join {release.members} as m on s.class = m.class)",
    )
