"""Linkage: the attacker knows all quasi-identifiers of a person and looks for her row.

Candidates are the released rows whose labels do not contradict what he knows. He picks one of them
at random (of people: one person), so he succeeds with 1 / candidates if hers is among them, and
never if her record is suppressed. Every class that can hold her counts: where levels differ per
record, several can, and `*` can always.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from functools import partial

from dbt_anonymize.extensions.attacks.released import Released, released_people
from dbt_anonymize.extensions.attacks.result import AttackResult, judged
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.relations import members_relation


def declared_k(spec: Spec) -> int:
    """Return the fewest people of a class that a spec promises."""
    private = spec.differential_privacy  # promises them of a sample, which others do not see
    return max(g.least_people for _, g in spec.guarantees.declared if g is not private)


def declared_risk(spec: Spec, which: str) -> float | None:
    """Return the declared ``highest`` or ``average`` re-identification risk, if there is one."""
    declared = (getattr(guarantee, which, None) for _, guarantee in spec.guarantees.declared)
    return min((risk for risk in declared if risk is not None), default=None)


def attack_linkage(release: Released, average_risk: float) -> list[AttackResult]:
    """Link everybody of the source with the release by all quasi-identifiers.

    ``highest_success``; ``average_success`` over the released people (in each of their classes, as
    risks are counted; its limit is ``average_risk`` of the build where the spec declares none, but
    that of the people who are attacked where others of the release have left the source);
    ``average_success_of_all``, including people without a released record; and
    ``unexplained_rows``, by which the release differs from the records that became it: none, or the
    others mean nothing. An empty release is a `VerificationError`.
    """
    known, spec = release.known, release.known.spec
    people = released_people(release)
    success = known.session.table("success", _success_sql(release))
    highest, average = known.session.row(
        f"select max(success), avg(success) from {success} where class is not null"
    )
    (total,) = known.session.row(
        f"select sum(success) from (select person, max(success) as success from {success} "
        "group by person)"
    )
    k = declared_k(spec)
    limit = min(1 / k, declared_risk(spec, "highest") or 1.0)
    declared = declared_risk(spec, "average")
    (classes,) = known.session.row(f"select count(*) from {release.classes}")
    average_limit, whose = average_risk, "what the build reports"
    if declared is not None:
        average_limit, whose = declared, "as declared"
    elif _rows_of_people_who_left(release):
        average_limit, whose = _risk_of_own(release), "what their classes give"
    found = {
        "highest_success": (
            highest,
            limit,
            f"whoever knows all quasi-identifiers of a person finds her row with a chance of up to "
            f"{highest:.4g}; declared is at most {limit:.4g} (k = {k}).",
        ),
        "average_success": (
            average,
            average_limit,
            f"over {people:,} released subjects in {classes:,} classes the chance is {average:.4g} "
            f"on average; the limit is {average_limit:.4g}, {whose}.",
        ),
    }
    judge = partial(AttackResult, "linkage", naive=1 / people, subjects=people)
    return [
        *(
            judged(judge(m, float(v), text, declared_limit=at))
            for m, (v, at, text) in found.items()
        ),
        AttackResult(
            "linkage",
            "average_success_of_all",
            float(total) / known.people,
            f"over all {known.people:,} subjects of the source, those without a released record "
            "included.",
            naive=1 / known.people,
            subjects=known.people,
        ),
        _unexplained(release),
    ]


def _risk_of_own(release: Released) -> float:
    """Return the average risk of those released people who are in the source."""
    (risk,) = release.known.session.row(
        f"select avg(1.0 / c.records) from {release.own} as o "
        f"inner join {release.classes} as c on o.class = c.class where o.is_released"
    )
    return float(risk)


def candidates_sql(release: Released) -> str:
    """Return SQL of the people that each set of classes holds: ``candidates``, ``people``.

    A release does not say which rows are of one person. Where people count, the truth is taken,
    but no more people than there are rows.
    """
    rows = (
        f"select s.candidates, sum(c.records) as people from {release.of_sets} as s "
        f"inner join {release.classes} as c on s.class = c.class group by s.candidates"
    )
    if not release.known.spec.subject:
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
    """Return SQL of the chance to find each person in each of her classes."""
    found = (
        "select o.person, o.class, case when p.class is null then 0.0 "
        f"else 1.0 / n.people end as success from {release.own} as o "
        f"left join {release.sets} as s on o.tuple = s.tuple "
        f"left join {release.of_sets} as p on s.candidates = p.candidates and o.class = p.class "
        f"left join ({candidates_sql(release)}) as n on s.candidates = n.candidates"
    )
    if not release.known.spec.subject:
        return found
    return f"select person, class, max(success) as success from ({found}) group by person, class"


def _rows_of_people_who_left(release: Released) -> int:
    """Count the rows of people who are in the source no more and wait to leave the release."""
    spec, warehouse = release.known.spec, release.known.session.warehouse
    if not spec.holds_back_joiners:
        return 0
    (rows,) = release.known.session.row(
        f"select count(*) from {members_relation(warehouse, spec)} as members "
        f"anti join {release.known.targets} as targets "
        "on members.record_key = cast(targets.record_key as varchar) where members.left_at is null"
    )
    return int(rows)


def _unexplained(release: Released) -> AttackResult:
    known = release.known
    # Rows that the build released have a class; one that is gone from the file is NULL here.
    own = f"select class, count(*) as records from {release.own} where is_released group by class"
    rows, released = known.session.row(
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
        subjects=known.people,
    )
