"""Features of linked tables that tell the target by themselves are left out of a draft."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dbt_anonymize.extensions.drafting.by_target import find_inner
from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.extensions.drafting.linked_tables import COUNT, LinkedDraft
from dbt_anonymize.extensions.drafting.proposal import KEY, Proposal
from dbt_anonymize.extensions.drafting.redundant import leak_reason
from dbt_anonymize.extensions.drafting.target_shares import with_target_shares
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse

# Each feature takes some passes over the linked table.
_MOST_RECORDS = 5_000_000


def without_telling(
    warehouse: Warehouse,
    relation: Any,
    own: Sequence[Proposal],
    drafts: Sequence[LinkedDraft],
) -> list[LinkedDraft]:
    """Return drafts without the features that reveal the target of inner people, with reasons.

    ``own`` are the proposals of the people's own table. Beside the rule of its columns, a feature
    that explains half of the target is left out: it is rarely known before.
    """
    target = next((one for one in own if one.is_target), None)
    if target is None:
        return list(drafts)
    inner = find_inner(warehouse, relation, own).sql
    key = quote_name(next(one.name for one in own if one.role == KEY))
    people = {"": f"select {key} as person, {key} as number from {inner}"}  # noqa: S608 (quoted)
    found = []
    for draft in drafts:
        records = f"{warehouse.relation_of(draft.source)} as records"
        joined = (
            f"from {records} join ({people[draft.over]}) as parents "
            f"on records.{quote_name(draft.link.column)} = parents.number"
        )
        if draft.key is not None:
            number = f"records.{quote_name(draft.key)}"
            people[draft.name] = f"select parents.person, {number} as number {joined}"
        telling: dict[str, str] = {}
        if draft.records <= _MOST_RECORDS:
            columns = _aggregates(warehouse, draft.means)
            source = _per_person(inner, key, quote_name(target.name), joined, columns)
            telling = _reasons(warehouse, source, target, list(columns))
        found.append(replace(draft, telling=telling))
    return found


def _aggregates(warehouse: Warehouse, means: Sequence[str]) -> dict[str, str]:
    """Return the SQL of each feature: the number of records, and means."""
    double = warehouse.macro("_type_double")
    return {
        COUNT: "count(*)",
        **{name: f"avg(cast(records.{quote_name(name)} as {double}))" for name in means},
    }


def _per_person(
    inner: str, key: str, target: str, joined: str, aggregates: Mapping[str, str]
) -> str:
    """Return SQL with the target and the features of each inner person, for a ``from``."""
    columns = "".join(f", {sql} as feature_{n}" for n, sql in enumerate(aggregates.values()))
    shown = "".join(f", features.feature_{n}" for n in range(1, len(aggregates)))
    return (
        f"(select inner_records.{target}, coalesce(features.feature_0, 0) as feature_0{shown} "  # noqa: S608 (quoted)
        f"from {inner} left join (select parents.person{columns} {joined} group by parents.person) "
        f"as features on inner_records.{key} = features.person) as people"
    )


def _reasons(
    warehouse: Warehouse, source: str, target: Proposal, features: Sequence[str]
) -> dict[str, str]:
    """Return the reason why each telling feature tells the target."""
    names = [f"feature_{n}" for n in range(len(features))]
    counts = "".join(f", count({name}), count(distinct {name})" for name in names)
    ((records, *numbers),) = warehouse.rows(f"select count(*){counts} from {source}")  # noqa: S608 (quoted)
    own = replace(target.facts, follows=())
    facts = [
        ColumnFacts(name, "double", "number", int(records), int(numbers[2 * n]), int(distinct))
        for n, (name, distinct) in enumerate(zip(names, numbers[1::2], strict=True))
    ]
    found, *shares = with_target_shares(warehouse, source, [own, *facts], target.name)
    told = replace(target, facts=found)
    reasons = {}
    for feature, one in zip(features, shares, strict=True):
        proposal = Proposal(one, "insensitive", "")
        gives = f"it {one.explains} of {target.name} by itself" if proposal.gives_away else ""
        if reason := leak_reason(proposal, told) or gives:
            reasons[feature] = reason
    return reasons
