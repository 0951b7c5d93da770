"""Attribute inference: the attacker guesses the sensitive value of a person from what he knows.

He guesses the most frequent value among the rows that can be hers. Without such a row, or without
the release, he guesses the most frequent value of all rows.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dbt_anonymize.extensions.attacks.rates import Rate, with_rates
from dbt_anonymize.extensions.attacks.released import Released, released_people
from dbt_anonymize.extensions.attacks.result import AttackResult, judge
from dbt_anonymize.extensions.attacks.trial import Column, Trial
from dbt_anonymize.privacy.model import AttributeModel, PrivacyModel, Shares


def attack_confidence(release: Released) -> list[AttackResult]:
    """Measure for every sensitive column of a release how sure an attacker can be.

    ``highest_confidence`` is the largest share of a value in a class, with the bound that follows
    from the guarantees (``share_bound`` of each privacy model). An empty release is a
    `VerificationError`.
    """
    people = released_people(release)
    return [
        _highest_confidence(release, attribute, alias, people)
        for attribute, alias in release.sensitive.items()
    ]


def attack_inference(trial: Trial, guesses: int) -> list[AttackResult]:
    """Infer every sensitive column of ``guesses`` people of the trial, and of those left out.

    ``share_right``: the attacker knows all quasi-identifiers. ``share_right_knowing_the_rest``: he
    also knows the other columns that are not sensitive; where no row matches all of them, the
    quasi-identifiers decide.
    """
    targets = trial.targets(guesses)
    quasi_identifiers = [column for column in trial.columns if column.label is not None]
    non_identifiers = [c for c in trial.columns if c.label is None and not c.is_sensitive]
    column_sets_of = {"share_right": [quasi_identifiers]}
    if non_identifiers:
        column_sets_of["share_right_knowing_the_rest"] = [
            [*quasi_identifiers, *non_identifiers],
            quasi_identifiers,
        ]
    results = []
    for secret in (column for column in trial.columns if column.is_sensitive):
        for measure, column_sets in column_sets_of.items():
            knowledge_text = (
                "the quasi-identifiers" if len(column_sets) == 1 else "all that is not sensitive"
            )
            result = AttackResult(
                "attribute_inference",
                measure,
                None,
                f"whoever knows {knowledge_text} of a person guesses {secret.name}.",
                attribute=secret.name,
                subjects=trial.members,
            )
            results.append(
                with_rates(result, *rates_of_guesses(trial, targets, secret, column_sets))
            )
    return results


def rates_of_guesses(
    trial: Trial, targets: str, secret: Column, column_sets: Sequence[Sequence[Column]]
) -> tuple[Rate, Rate, Rate]:
    """Return the rates of right guesses of a secret: of members, of others, and naively.

    The first of ``column_sets`` that leaves a row decides; of equally frequent values the first in
    the order of text is guessed.
    """
    value = secret.row_name
    first = f"order by records desc, {value}"
    joins, guesses = [], []
    for place, columns in enumerate(column_sets):
        best = (
            f"select *, true as is_found from ({trial.candidates(targets, columns, secret)}) "
            f"qualify row_number() over (partition by target {first}) = 1"
        )
        joins.append(f"left join ({best}) as k_{place} on t.tuple = k_{place}.target")
        guesses.append(f"when k_{place}.is_found then k_{place}.{value}")
    most = (
        f"(select {value} from (select {value}, count(*) as records from {trial.rows} "
        f"group by {value}) {first} limit 1)"
    )
    truth = f"t.{secret.known_name}"
    rows = trial.knowledge.session.rows(
        "select is_member, count(*), count(*) filter (is_right), count(*) filter (is_naive) from "
        f"(select t.is_member, {truth} is not distinct from (case {' '.join(guesses)} "
        f"else o.{value} end) as is_right, {truth} is not distinct from o.{value} as is_naive "
        f"from {targets} as t {' '.join(joins)} cross join {most} as o) group by is_member"
    )
    counts = {bool(row[0]): tuple(map(int, row[1:])) for row in rows}
    (members, right, naive), (others, controls, _) = counts[True], counts[False]
    return Rate(right, members), Rate(controls, others), Rate(naive, members)


def _highest_confidence(release: Released, attribute: str, alias: str, people: int) -> AttackResult:
    knowledge, spec = release.knowledge, release.knowledge.spec
    counted = f"select class, {alias} as value, sum(records) as people from {release.members}"
    if spec.subject:
        counted = (
            f"select class, {alias} as value, count(distinct person) as people "
            f"from {release.own} where class is not null"
        )
    highest, largest_class = knowledge.session.row(
        "select max(largest / people), max(people) from (select max(people) as largest, "
        f"cast(sum(people) as double) as people from ({counted} group by class, {alias}) "
        "group by class)"
    )
    whole = (
        f"select {alias} as value, {knowledge.count_people('t')} as people "
        f"from {knowledge.targets} as t group by {alias}"
    )
    share, values = knowledge.session.row(
        f"select max(people) / cast(sum(people) as double), count(*) from ({whole})"
    )
    tree = spec.columns[attribute].hierarchy
    shares = Shares(share, int(values), int(largest_class), tree.levels if tree else 0)
    limit = confidence_bound(attribute, (g for _, g in spec.guarantees.declared), shares)
    bound = "no guarantee of the spec bounds it."
    if limit is not None:
        bound = f"the guarantees allow at most {limit:.4g}."
    result = AttackResult(
        "attribute_inference",
        "highest_confidence",
        float(highest),
        f"in some class one value of {attribute} has a share of {highest:.4g}; {bound}",
        attribute=attribute,
        naive=float(share),
        declared_limit=limit,
        subjects=people,
    )
    return judge(result)


def confidence_bound(
    attribute: str, guarantees: Iterable[PrivacyModel], shares: Shares
) -> float | None:
    """Return the largest share, at most 1, that a value may have in a class; None if not bounded.

    Examples
    --------
    >>> from dbt_anonymize.privacy.t_closeness import TCloseness
    >>> declared = [TCloseness(attribute="x", t=0.25)]
    >>> confidence_bound("x", declared, Shares(0.5, 2, 10))
    0.75
    >>> confidence_bound("y", declared, Shares(0.5, 2, 10)) is None
    True
    """
    bounds = [
        bound
        for model in guarantees
        if isinstance(model, AttributeModel) and model.attribute == attribute
        if (bound := model.share_bound(shares)) is not None
    ]
    return min(1.0, *bounds) if bounds else None
