"""Linkage through the mapping: the attacker holds the release and the mapping in the vault."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.extensions.attacks.knowledge import Knowledge
from dbt_anonymize.extensions.attacks.linkage import declared_k
from dbt_anonymize.extensions.attacks.result import AttackResult, judge
from dbt_anonymize.literals import quote_name
from dbt_anonymize.verify.relations import members_relation

# The column of a release that leads to the vault, by mode.
_COLUMNS = {"class": "cqi", "token": "token"}


def attack_mapping(knowledge: Knowledge, relation: str) -> list[AttackResult]:
    """Follow each released row into the vault, and count the people behind it.

    ``highest_success``: with `class` 1 / the people of the smallest group, at most 1/k; with
    `token` 1 by design, and ``most_rows_of_a_token``; with `none` there is no way. Different groups
    in vault and release are a `VerificationError`.
    """
    spec = knowledge.spec
    columns = knowledge.session.columns(relation)
    forbidden = [c for mode, c in _COLUMNS.items() if mode != spec.mapping and c in columns]
    undeclared = [c for c in forbidden if c not in spec.columns]
    if undeclared:
        return [_undeclared_column(undeclared[0], spec.mapping)]
    if spec.mapping == "none":
        return [
            AttackResult(
                "mapping",
                "highest_success",
                0.0,
                "no way back: with mapping none, release and vault have no column in common.",
                subjects=knowledge.people,
            )
        ]
    if (column := _COLUMNS[spec.mapping]) not in columns:
        raise VerificationError(
            f"{spec.name}: a release of mapping {spec.mapping} must have the column {column}; it "
            "has not. Run `dbt-anonymize generate` and build again."
        )
    if spec.mapping == "token":
        return _tokens(knowledge, relation)
    return [_groups(knowledge, relation)]


def _undeclared_column(column: str, mapping: str) -> AttackResult:
    return AttackResult(
        "mapping",
        "highest_success",
        None,
        f"the release has the column {column}, which mapping {mapping} must not release. "
        "Run `dbt-anonymize generate` and build again.",
        holds=False,
    )


def _groups(knowledge: Knowledge, relation: str) -> AttackResult:
    spec = knowledge.spec
    groups = knowledge.session.table(
        "groups",
        "select r.cqi, coalesce(v.people, 0) as people "
        f"from (select distinct cqi from {relation}) as r "
        f"left join ({_groups_of_vault(knowledge)}) as v on r.cqi is not distinct from v.cqi",
    )
    missing, smallest, average, people = knowledge.session.row(
        "select count(*) filter (where people = 0), min(people), "
        f"cast(count(*) as double) / sum(people), sum(people) from {groups}"
    )
    if missing or smallest is None:
        raise VerificationError(
            f"{spec.name}: vault and release must hold the same groups; {missing} groups of the "
            "release lead to nobody. Build both in one `dbt build`."
        )
    k = declared_k(spec)
    result = AttackResult(
        "mapping",
        "highest_success",
        1 / smallest,
        f"whoever holds the vault too gets from a row to a group of at least {smallest:,} subjects "
        f"(on average the chance is {average:.4g}); declared are {k}.",
        declared_limit=1 / k,
        subjects=int(people),
    )
    return judge(result)


def _groups_of_vault(knowledge: Knowledge) -> str:
    """Return a query of each `cqi` in the vault with its number of people."""
    warehouse, spec = knowledge.session.warehouse, knowledge.spec
    if spec.holds_back_joiners:
        # People who left stay released and remembered until enough of their class leave too.
        members = members_relation(warehouse, spec)
        return f"select cqi, count(*) as people from {members} where left_at is null group by cqi"
    vault = warehouse.relation_of_ref(f"{spec.name}_identifiers")
    return (
        f"select i.cqi, {knowledge.count_people('t')} as people from {vault} as i "
        f"inner join {knowledge.targets} as t on i.{quote_name(spec.record_key)} = t.record_key "
        "where i.cqi is not null group by i.cqi"
    )


def _tokens(knowledge: Knowledge, relation: str) -> list[AttackResult]:
    rows, most, tokens = knowledge.session.row(
        "select sum(records), max(records), count(*) from "
        f"(select token, count(*) as records from {relation} group by token)"
    )
    is_single = most == 1
    return [
        AttackResult(
            "mapping",
            "highest_success",
            1.0,
            "by design: a token leads to one person, for whoever holds the vault. Only custodians "
            "may.",
            subjects=int(tokens),
        ),
        AttackResult(
            "mapping",
            "most_rows_of_a_token",
            float(most),
            "every token stands in one row, so that it joins nothing."
            if is_single
            else f"a token stands in up to {most:,} of {int(rows):,} rows, so that rows of one "
            "person can be joined without the vault. Release one record for each person.",
            declared_limit=1.0,
            holds=is_single,
            subjects=int(tokens),
        ),
    ]
