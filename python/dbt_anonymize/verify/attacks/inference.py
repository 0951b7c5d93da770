"""Attribute inference: the attacker guesses the sensitive value of a person from her candidates.

He guesses the value that most candidate rows have. What he would reach without knowing any
quasi-identifier is guessing the value that most rows of the release have.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from dbt_anonymize.verify.attacks.bounds import Shares, confidence_bound
from dbt_anonymize.verify.attacks.released import Released, released_people
from dbt_anonymize.verify.attacks.result import AttackResult, judged


def attack_inference(release: Released) -> list[AttackResult]:
    """Infer every sensitive column of the release.

    ``share_right`` is the share of released people whose value is guessed right (each of several
    values counts once; of equally frequent values the first in the order of text is guessed).
    ``highest_confidence`` is the largest share of a value in a class, with the bound that follows
    from the guarantees (see ``bounds``). An empty release is a `VerificationError`.
    """
    people = released_people(release)
    results = []
    for attribute, alias in release.sensitive.items():
        results.append(_share_right(release, attribute, alias, people))
        results.append(_highest_confidence(release, attribute, alias, people))
    return results


def _share_right(release: Released, attribute: str, alias: str, people: int) -> AttackResult:
    known = release.known
    values = (
        f"select s.candidates, m.{alias} as value, sum(m.records) as records "
        f"from {release.of_sets} as s inner join {release.members} as m on s.class = m.class "
        f"group by s.candidates, m.{alias}"
    )
    first = "row_number() over (partition by candidates order by records desc, value) = 1"
    guesses = known.session.table("guesses", f"select * from ({values}) qualify {first}")
    overall = (
        f"(select {alias} as value from {release.members} group by {alias} "
        f"order by sum(records) desc, {alias} limit 1)"
    )
    truth = (
        f"select person, class, tuple, {alias} as value from {release.own} where class is not null"
    )
    judged = (
        "select t.person, t.class, t.value, "
        "max(case when g.candidates is not null and g.value is not distinct from t.value "
        "then 1.0 else 0.0 end) as is_right, "
        "max(case when o.value is not distinct from t.value then 1.0 else 0.0 end) as by_guessing "
        f"from ({truth}) as t left join {release.sets} as s on t.tuple = s.tuple "
        f"left join {guesses} as g on s.candidates = g.candidates cross join {overall} as o "
        "group by t.person, t.class, t.value"
    )
    right, guessed = known.session.row(f"select avg(is_right), avg(by_guessing) from ({judged})")
    return AttackResult(
        "attribute_inference",
        "share_right",
        float(right),
        f"whoever knows the quasi-identifiers of released subjects guesses {attribute} right for "
        f"{right:.1%} of them; guessing the most frequent value is right for {guessed:.1%}.",
        attribute=attribute,
        baseline=float(guessed),
        subjects=people,
    )


def _highest_confidence(release: Released, attribute: str, alias: str, people: int) -> AttackResult:
    known, spec = release.known, release.known.spec
    counted = f"select class, {alias} as value, sum(records) as people from {release.members}"
    if spec.subject:
        counted = (
            f"select class, {alias} as value, count(distinct person) as people "
            f"from {release.own} where class is not null"
        )
    highest, largest_class = known.session.row(
        "select max(largest / people), max(people) from (select max(people) as largest, "
        f"cast(sum(people) as double) as people from ({counted} group by class, {alias}) "
        "group by class)"
    )
    whole = (
        f"select {alias} as value, {known.count_people('t')} as people "
        f"from {known.targets} as t group by {alias}"
    )
    share, values = known.session.row(
        f"select max(people) / cast(sum(people) as double), count(*) from ({whole})"
    )
    tree = spec.columns[attribute].hierarchy
    shares = Shares(share, int(values), int(largest_class), tree.levels if tree else 0)
    limit = confidence_bound(attribute, spec.guarantees.resolved, shares)
    bound = "no guarantee of the spec bounds it."
    if limit is not None:
        bound = f"the guarantees allow at most {limit:.4g}."
    result = AttackResult(
        "attribute_inference",
        "highest_confidence",
        float(highest),
        f"in some class one value of {attribute} has a share of {highest:.4g}; {bound}",
        attribute=attribute,
        baseline=float(share),
        declared_limit=limit,
        subjects=people,
    )
    return judged(result)
