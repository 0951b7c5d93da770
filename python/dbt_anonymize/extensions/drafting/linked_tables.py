"""Drafts of tables of which a person has several records: keys, roles and hierarchies."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dbt_anonymize.errors import HierarchyError, SpecError, WarehouseError
from dbt_anonymize.extensions.drafting.facts import ColumnFacts, find_column, read_facts
from dbt_anonymize.extensions.drafting.links import Link, source_of
from dbt_anonymize.extensions.drafting.names import name_indicates
from dbt_anonymize.extensions.drafting.plans import (
    Plan,
    option_of,
    plan_hierarchy,
    seed_name,
)
from dbt_anonymize.extensions.drafting.proposal import (
    KEY,
    MOST_CATEGORIES,
    Proposal,
    singling_text,
)
from dbt_anonymize.extensions.drafting.roles import ROUNDED, find_key, propose, propose_role
from dbt_anonymize.extensions.hierarchy_builders.table_column import TableColumn
from dbt_anonymize.literals import quote_name
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec.sources import Source

# Records of a person that somebody knows; the share of records of a table that may be lost, and
# that of a draft: new records must not stop the next build.
KNOWN_RECORDS, LINKED_LIMIT, MOST_LOST = 2, 0.2, 0.1
# Roles of columns of a linked table.
ROLES = ("quasi_identifier", "sensitive", "insensitive", "dropped")
# A fraction with more values is measured, not a category.
_FEW = 10
_LONGEST = 30
# Feature of the number of records, which is no column.
COUNT = ""
# Kinds of names of numbers that others know of a record.
_KNOWN_KINDS = ("quasi_identifier", "calendar", "money")


@dataclass(frozen=True)
class LinkedDraft:
    """The draft of a linked table; ``over`` is the table that it leads over, "" for the subject.

    ``broken`` is the reason why a build could not follow its keys, if any. ``telling`` has the
    reasons why features, means by their column, tell the target by themselves.
    """

    name: str
    source: Source
    link: Link
    over: str
    key: str | None
    records: int
    proposals: Sequence[Proposal]
    plans: Mapping[str, Plan] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    broken: str = ""
    telling: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_count(self) -> bool:
        """Tell whether models learn how many records somebody has."""
        return COUNT not in self.telling

    @property
    def left_out(self) -> list[str]:
        """Features that are left out, with their reasons."""
        return [
            f"{self.name}: {f'the mean of {name}' if name else 'the number of records'} is no "
            f"feature: models would learn little else, since {reason}"
            for name, reason in self.telling.items()
        ]

    @property
    def means(self) -> list[str]:
        """Numbers that are released as they are, of which models may learn the mean."""
        kept = {"sensitive", "insensitive"}
        return [
            one.name
            for one in self.proposals
            if one.role in kept and one.facts.kind == "number" and one.name not in self.telling
        ]

    @property
    def problem(self) -> str:
        """Reason for which it cannot be released with the subject; "" without one."""
        if self.broken:
            return self.broken
        if any(o.role == "quasi_identifier" and o.name not in self.failed for o in self.proposals):
            return ""
        return "holds nothing that others could know of a record"


@dataclass(frozen=True)
class LinkedTables:
    """Drafts of linked tables, parents first, and efforts: own levels, and those by table."""

    tables: Sequence[LinkedDraft]
    efforts: Sequence[tuple[Mapping[str, int], Mapping[str, Mapping[str, int]]]] = ()

    @property
    def have_features(self) -> bool:
        """Tell whether models learn anything of the tables."""
        return any(one.has_count or one.means for one in self.tables)

    @property
    def plans(self) -> dict[str, Plan]:
        """All hierarchies, by their seeds."""
        return {plan.seed: plan for one in self.tables for plan in one.plans.values()}


def short_names(names: Sequence[str], subject: str) -> list[str]:
    """Return names of linked tables, without a prefix that all have in common with the subject.

    Examples
    --------
    >>> short_names(["clinic_stays", "clinic_results"], "clinic_patients")
    ['stays', 'results']
    >>> short_names(["Orders", "order items"], "customers")
    ['orders', 'order_items']
    """
    first, last = min(*names, subject), max(*names, subject)
    length = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    shared = first[: first.rfind("_", 0, length) + 1]
    shortened: list[str] = []
    for name in names:
        plain = re.sub("[^a-z0-9]+", "_", name.removeprefix(shared).lower()).strip("_")
        plain = plain if plain[:1].isalpha() and plain != "subjects" else f"table_{plain}"
        plain = plain[:_LONGEST].rstrip("_")
        while plain in shortened:
            plain = f"{plain[: _LONGEST - 2]}_2"
        shortened.append(plain)
    return shortened


def read_linked(
    warehouse: Warehouse,
    links: Mapping[str, Link],
    names: Mapping[str, str],
    *,
    subject: tuple[str, Source, ColumnFacts],
) -> list[LinkedDraft]:
    """Return the drafts of linked tables, parents first, without hierarchies.

    ``subject`` has the id of dbt, the source and the record key.
    """
    table, source, record_key = subject
    keys: dict[str, tuple[Source, ColumnFacts | None]] = {table: (source, record_key)}
    drafts = []
    for table, link in links.items():
        source = source_of(warehouse, table)
        facts = read_facts(warehouse, warehouse.relation_of(source))
        parent = find_column(facts, link.column)
        if parent is None:
            raise SpecError(
                f"{source.name}: must have the column {link.column}, by which a {link.declared_by} "
                "leads to another table; it has none. Correct that."
            )
        key = _key_of(facts, parent, [one.field for one in links.values() if one.parent == table])
        keys[table] = source, key
        drafts.append(
            LinkedDraft(
                name=names[table],
                source=source,
                link=replace(link, column=parent.name),
                over=names.get(link.parent, ""),
                key=key.name if key else None,
                records=parent.records,
                proposals=propose_linked(facts, parent, key),
                broken=_broken_reason(warehouse, source, link, parent, keys[link.parent]),
            )
        )
    return drafts


def _broken_reason(
    warehouse: Warehouse,
    source: Source,
    link: Link,
    column: ColumnFacts,
    to: tuple[Source, ColumnFacts | None],
) -> str:
    """Return why a build could not follow a link to a table with a key; "" if it can."""
    parents, key = to
    if key is None or key.name.lower() != link.field.lower():
        has = f"has the key {key.name}" if key else "has no unique column"
        return f"leads to {link.field} of {parents.name}, which {has}"
    if column.type != key.type:
        return (
            f"has {column.name} of the type {column.type}, and {parents.name} has {key.name} of "
            f"the type {key.type}: cast one in a model before"
        )
    child, parent = warehouse.relation_of(source), warehouse.relation_of(parents)
    ((orphans,),) = warehouse.rows(
        f"select count(*) from {child} as child left join {parent} as parent "  # noqa: S608 (quoted)
        f"on child.{quote_name(column.name)} = parent.{quote_name(key.name)} "
        f"where parent.{quote_name(key.name)} is null"
    )
    if not orphans:
        return ""
    return (
        f"has {pluralized(int(orphans), 'record')} without {column.name}, or with one that leads "
        "nowhere: leave them out in a model before"
    )


def _key_of(
    facts: Sequence[ColumnFacts], parent: ColumnFacts, fields: Sequence[str]
) -> ColumnFacts | None:
    """Return the key: the unique column to which others lead, else that of a record key."""
    named = [find_column(facts, name) for name in fields]
    found = next((one for one in named if one is not None and one.is_unique), None)
    return found or find_key([column for column in facts if column is not parent])


def propose_linked(
    facts: Sequence[ColumnFacts], parent: ColumnFacts, key: ColumnFacts | None
) -> list[Proposal]:
    """Return a proposal for each column but the keys, by the rules of the subject's own columns.

    What names a person is dropped. Measured numbers stay as they are, unless their name says that
    others know them, as a wage, or when it was, or nothing else could be known of a record; times
    are dates.
    """
    own = [
        propose_role(one.facts) if one.role == KEY else one
        for one in propose([one for one in facts if one not in {parent, key}], is_guessed=False)
    ]
    proposals = [_as_linked(one) for one in own]
    if any(one.role == "quasi_identifier" for one in proposals):
        return proposals
    return [_without_masks(one) for one in own]


def _without_masks(proposal: Proposal) -> Proposal:
    """Return a proposal with a role that linked tables have."""
    if proposal.role == "identifier":
        reason = f"{proposal.reason}; linked tables keep no identifiers"
        return replace(proposal, role="dropped", reason=reason)
    if proposal.mask:
        reason = f"a time, which others could know to the day; {singling_text(proposal.facts)}"
        return replace(proposal, role="quasi_identifier", mask=None, is_decided=True, reason=reason)
    return replace(proposal, reason=proposal.reason.replace(f"; {ROUNDED}", ""))


def _as_linked(proposal: Proposal) -> Proposal:
    plain, facts = _without_masks(proposal), proposal.facts
    is_measured = facts.kind == "number" and facts.distinct > (
        _FEW if facts.is_fractional else MOST_CATEGORIES
    )
    is_known = any(name_indicates(facts.name, kind) for kind in _KNOWN_KINDS)
    if plain.role != "quasi_identifier" or not is_measured or is_known:
        return plain
    role = "sensitive" if name_indicates(facts.name, "sensitive") else "insensitive"
    reason = (
        f"a measured number, released as it is; {singling_text(facts)}: make it a quasi_identifier "
        "with a hierarchy if others could know it, such as a price"
    )
    return replace(plain, role=role, reason=reason)


def with_hierarchies(
    warehouse: Warehouse,
    drafts: Sequence[LinkedDraft],
    *,
    name: str,
    folder: str,
    taken: Collection[str],
) -> list[LinkedDraft]:
    """Return drafts with a hierarchy for each quasi-identifier; ``taken`` are names of seeds."""
    seeds = set(taken)
    return [_with_hierarchies(warehouse, one, name, folder, seeds) for one in drafts]


def _with_hierarchies(
    warehouse: Warehouse, draft: LinkedDraft, name: str, folder: str, seeds: set[str]
) -> LinkedDraft:
    relation = warehouse.relation_of(draft.source)
    plans: dict[str, Plan] = {}
    failed: dict[str, str] = {}
    for one in draft.proposals:
        if one.role != "quasi_identifier":
            continue
        column = TableColumn.find(warehouse, relation, one.name)
        seed = seed_name(name, f"{draft.name}_{one.name}", seeds)
        try:
            plans[one.name] = plan_hierarchy(
                one.facts, column, seed, option_of(draft.source), folder
            )
        except (HierarchyError, WarehouseError) as error:
            failed[one.name] = str(error)
    return replace(draft, plans=plans, failed=failed)
