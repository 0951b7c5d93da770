"""Composition with earlier releases: those that the vault remembers, and external files."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.extensions.attacks.composition import (
    OtherRelease,
    attack_composition,
    joint_classes,
)
from dbt_anonymize.extensions.attacks.linkage import declared_k
from dbt_anonymize.extensions.attacks.released import Released, read_release
from dbt_anonymize.extensions.attacks.result import AttackResult
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.project.register import PUBLISHED_TARGETS, published_targets, publishes
from dbt_anonymize.release.composition import (
    UNNAMED_DRAFTS,
    Composition,
    Remainders,
    compare_releases,
)


def attack_remembered(release: Released) -> list[AttackResult]:
    """Intersect a release with each of the last ten that the vault remembers.

    Measures are those of `joint_classes` and `attack_earlier`, but exact, as the vault knows every
    record; one that left the source counts as a subject of its own. Empty without a mapping or
    another remembered release.
    """
    knowledge, session = release.knowledge, release.knowledge.session
    if knowledge.spec.mapping == "none":
        return []
    vault = session.warehouse.relation_of_ref(f"{knowledge.spec.name}_identifiers")
    relation = vault.incorporate(path={"identifier": f"{knowledge.spec.name}_releases"})
    if not publishes(session.warehouse, knowledge.spec.name):
        return [
            AttackResult(
                "composition",
                "joint_classes_below_k",
                None,
                "not intersected with earlier releases: this target builds drafts, which are for "
                f"nobody else ({PUBLISHED_TARGETS}).",
                against="all remembered releases",
            )
        ]
    if session.warehouse.find(relation) is None:  # built before releases were remembered
        return []
    remembered = session.rows(
        "select release, strftime(min(released_at), '%Y-%m-%d %H:%M'), "
        f"release = max(max(release)) over () from {relation} group by release order by release "
        "desc limit 10"
    )
    results = []
    for number, released_at, is_last in remembered:
        name = f"release {number} of {released_at}"
        joint_results = _joint_results(
            release, str(relation), int(number), OtherRelease(name, name)
        )
        joint = {result.measure: result for result in joint_results}
        # The last one is usually this release itself.
        if not is_last or joint["joint_classes"].main != joint["joint_classes"].naive:
            results += joint_results
    is_named = published_targets(session.warehouse) is not None
    return results if is_named else _with_one_warning(results, len(remembered))


def _with_one_warning(results: Sequence[AttackResult], remembered: int) -> list[AttackResult]:
    """Replace the warnings about each release by one that names the setting.

    Where the project does not declare publishing targets, each release may be a draft.
    """
    warnings = [result for result in results if result.is_warning]
    if not warnings:
        return list(results)
    broken = len({result.against for result in warnings})
    below = [result for result in results if result.measure == "joint_classes_below_k"]
    worst = max(below, key=lambda result: result.main or 0.0)
    summary = replace(
        worst,
        against="all remembered releases",
        is_warning=True,
        explanation=f"{broken} of {pluralized(remembered, 'release')} that the vault remembers "
        "show, beside this one, who joined or left, or joint classes below k; the most with "
        f"{worst.against}: {worst.main or 0:,.0f} such classes. {UNNAMED_DRAFTS}",
    )
    return [*(replace(result, is_warning=False) for result in results), summary]


def _joint_results(
    release: Released, relation: str, number: int, beside: OtherRelease
) -> list[AttackResult]:
    """Intersect a release with one that the vault remembers."""
    knowledge, session = release.knowledge, release.knowledge.session
    is_person = "cast(a.person as varchar)"
    # People who left the source are in no table.
    person = f"coalesce({is_person}, 'left ' || b.record_key)"
    people = f"count(distinct {person})" if knowledge.spec.subject else "count(*)"
    own = release.own
    if knowledge.spec.holds_back_joiners:  # who left the source may be released
        own = (
            "(select record_key, record_key as person, nullif(arg_max(cqi, release), '') as class "
            f"from {_all_versions(relation)} group by record_key)"
        )
    joint = session.table(
        "joint",
        f"select a.class as own, b.cqi as other, {people} as people from {own} as a "
        "full outer join (select record_key, cqi from (select record_key, cqi, row_number() over "
        f"(partition by record_key order by release desc) as age from {relation} "
        f"where release <= {number}) where age = 1) as b "
        "on cast(a.record_key as varchar) = b.record_key "
        "where a.class is not null or b.cqi is not null group by a.class, b.cqi",
    )
    k = declared_k(knowledge.spec)
    few = session.row(
        "select count(*) filter (other is null), coalesce(sum(people) filter (other is null), 0), "
        "count(*) filter (own is null), coalesce(sum(people) filter (own is null), 0) "
        f"from {joint} where people < {k}"
    )
    remainders = Remainders(*map(int, few))
    return [
        *joint_classes(release, f"select * from {joint}", beside),
        *_remainder_results(release, remainders, beside),
    ]


def _all_versions(relation: str) -> str:
    """Return SQL of all remembered classes, with '' for NULL, which `arg_max` would skip."""
    return f"(select release, record_key, coalesce(cqi, '') as cqi from {relation})"


def attack_earlier(
    release: Released, relation: str, earlier: str, file: Path
) -> list[AttackResult]:
    """Intersect a release with the file of an earlier one, and subtract their class sizes.

    ``relation`` and ``earlier`` hold the rows of both. Beside the measures of `attack_composition`,
    ``classes_with_few_joined`` and ``classes_with_few_left`` count the classes that 1 to k - 1
    records joined or left. A file without a quasi-identifier or with an unknown label is a
    `VerificationError`.
    """
    knowledge, name = release.knowledge, f"earlier release {file.name}"
    other = read_release(knowledge, earlier, name, published=None, origin=None)
    if other is None:
        raise VerificationError(
            f"{file}: an earlier release of {knowledge.spec.name} must show a quasi-identifier of "
            "it; it has no such column. Give the file of a release of the same people."
        )
    beside = OtherRelease(name, name)
    composition = Composition(list(knowledge.spec.quasi_identifiers), declared_k(knowledge.spec))
    remainders = compare_releases(knowledge.session.cursor, earlier, relation, composition)
    return [
        *attack_composition(release, other, beside),
        *_remainder_results(release, remainders, beside),
    ]


def _remainder_results(
    release: Released, remainders: Remainders, beside: OtherRelease
) -> list[AttackResult]:
    k = declared_k(release.knowledge.spec)
    changes = {
        "joined": (remainders.joined_classes, remainders.joined_records),
        "left": (remainders.left_classes, remainders.left_records),
    }
    return [
        AttackResult(
            "composition",
            f"classes_with_few_{verb}",
            float(classes),
            f"since {beside.shown}, 1 to {k - 1} records {verb} each of "
            f"{pluralized(classes, 'class', 'classes')}, {records:,} in all.",
            against=beside.against,
            subjects=records,
            is_warning=classes > 0,
        )
        for verb, (classes, records) in changes.items()
    ]
