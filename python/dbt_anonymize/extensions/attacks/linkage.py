"""Linkage: the attacker knows all quasi-identifiers of a person and looks for her row.

Candidates are the released rows whose labels do not contradict what he knows. He picks one of them
at random (one person, where people have several rows), so he succeeds with 1 / candidates if hers
is among them, and never if her record is suppressed. All classes that can hold her count: where
levels differ per record these are several, and `*` can hold everybody.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from functools import partial

from dbt_anonymize.extensions.attacks.released import Released, released_people
from dbt_anonymize.extensions.attacks.result import AttackResult, judge
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.relations import members_relation


def declared_k(spec: Spec) -> int:
    """Return the smallest number of people per class that a spec guarantees."""
    private = spec.differential_privacy  # it guarantees them in a sample that others do not see
    return max(g.least_people for _, g in spec.guarantees.declared if g is not private)


def declared_risk(spec: Spec, statistic: str) -> float | None:
    """Return the declared ``highest`` or ``average`` re-identification risk, if there is one."""
    declared = (getattr(guarantee, statistic, None) for _, guarantee in spec.guarantees.declared)
    return min((risk for risk in declared if risk is not None), default=None)


def attack_linkage(release: Released, average_risk: float) -> list[AttackResult]:
    """Link everybody of the source with the release by all quasi-identifiers.

    - ``highest_success``.
    - ``average_success`` over the released people, once in each of their classes, as risks are
      counted. Without a declared limit it is ``average_risk`` of the build, or the risk of those in
      the source where the release still has people who left it.
    - ``average_success_of_all``, including people without a released record.
    - ``unexplained_rows``: differences of the release from the records behind it. If there are any,
      the other measures mean nothing.

    An empty release is a `VerificationError`.
    """
    knowledge, spec = release.knowledge, release.knowledge.spec
    people = released_people(release)
    success = knowledge.session.table("success", _success_sql(release))
    highest, average = knowledge.session.row(
        f"select max(success), avg(success) from {success} where class is not null"
    )
    (total,) = knowledge.session.row(
        f"select sum(success) from (select person, max(success) as success from {success} "
        "group by person)"
    )
    k = declared_k(spec)
    limit = min(1 / k, declared_risk(spec, "highest") or 1.0)
    declared = declared_risk(spec, "average")
    (classes,) = knowledge.session.row(f"select count(*) from {release.classes}")
    average_limit, whose = average_risk, "what the build reports"
    if declared is not None:
        average_limit, whose = declared, "as declared"
    elif _rows_of_people_who_left(release):
        average_limit, whose = _average_risk_of_present(release), "what their classes give"
    result = partial(AttackResult, "linkage", naive=1 / people, subjects=people)
    return [
        judge(
            result(
                "highest_success",
                float(highest),
                "whoever knows all quasi-identifiers of a person finds her row with a chance of up "
                f"to {highest:.4g}; declared is at most {limit:.4g} (k = {k}).",
                declared_limit=limit,
            )
        ),
        judge(
            result(
                "average_success",
                float(average),
                f"over {people:,} released subjects in {classes:,} classes the chance is "
                f"{average:.4g} on average; the limit is {average_limit:.4g}, {whose}.",
                declared_limit=average_limit,
            )
        ),
        AttackResult(
            "linkage",
            "average_success_of_all",
            float(total) / knowledge.people,
            f"over all {knowledge.people:,} subjects of the source, those without a released "
            "record included.",
            naive=1 / knowledge.people,
            subjects=knowledge.people,
        ),
        _unexplained_rows(release),
    ]


def _average_risk_of_present(release: Released) -> float:
    """Return the average risk of those released people who are in the source."""
    (risk,) = release.knowledge.session.row(
        f"select avg(1.0 / c.records) from {release.own} as o "
        f"inner join {release.classes} as c on o.class = c.class where o.is_released"
    )
    return float(risk)


def candidates_sql(release: Released) -> str:
    """Return SQL of the number of people in each set of classes: ``candidates``, ``people``.

    A release does not show which rows belong to one person. With a subject the true number is
    taken, at most the number of rows.
    """
    rows = (
        f"select s.candidates, sum(c.records) as people from {release.of_sets} as s "
        f"inner join {release.classes} as c on s.class = c.class group by s.candidates"
    )
    if not release.knowledge.spec.subject:
        return rows
    persons = (
        f"select s.candidates, count(distinct o.person) as people from {release.of_sets} as s "
        f"inner join (select distinct class, person from {release.own}) as o "
        "on s.class = o.class group by s.candidates"
    )
    return (
        "select r.candidates, least(r.people, p.people) as people "
        f"from ({rows}) as r inner join ({persons}) as p on r.candidates = p.candidates"
    )


def _success_sql(release: Released) -> str:
    """Return SQL of the chance to find each person, in each of her classes."""
    success = (
        "select o.person, o.class, case when p.class is null then 0.0 "
        f"else 1.0 / n.people end as success from {release.own} as o "
        f"left join {release.sets} as s on o.tuple = s.tuple "
        f"left join {release.of_sets} as p on s.candidates = p.candidates and o.class = p.class "
        f"left join ({candidates_sql(release)}) as n on s.candidates = n.candidates"
    )
    if not release.knowledge.spec.subject:
        return success
    return f"select person, class, max(success) as success from ({success}) group by person, class"


def _rows_of_people_who_left(release: Released) -> int:
    """Count the released rows of people who have left the source."""
    spec, warehouse = release.knowledge.spec, release.knowledge.session.warehouse
    if not spec.holds_back_joiners:
        return 0
    (rows,) = release.knowledge.session.row(
        f"select count(*) from {members_relation(warehouse, spec)} as members "
        f"anti join {release.knowledge.targets} as targets "
        "on members.record_key = cast(targets.record_key as varchar) where members.left_at is null"
    )
    return int(rows)


def _unexplained_rows(release: Released) -> AttackResult:
    knowledge = release.knowledge
    # The class of a released record is NULL where the file lacks its row.
    own = f"select class, count(*) as records from {release.own} where is_released group by class"
    rows, released = knowledge.session.row(
        "select coalesce(sum(abs(coalesce(c.records, 0) - coalesce(o.records, 0))), 0), "
        f"coalesce(sum(c.records), 0) from {release.classes} as c "
        f"full outer join ({own}) as o on c.class = o.class"
    )
    differing = abs(int(rows) - _rows_of_people_who_left(release))
    return AttackResult(
        "linkage",
        "unexplained_rows",
        float(differing),
        "every class of the release has as many rows as records became it."
        if not differing
        else f"{differing:,} rows are in the release, which has {int(released):,}, or in what the "
        "build made of the records, but not in both, so attacks by the truth are not to be trusted."
        " The file is not of the last build: build it again.",
        declared_limit=0.0,
        holds=differing == 0,
        subjects=knowledge.people,
    )
