"""The option ``--linked`` of ``dbt-anonymize init``: tables that lead to the subject."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dbt_anonymize.cli.common import note, spinner
from dbt_anonymize.cli.place import Place
from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.drafting.commands.asking import ask_role
from dbt_anonymize.extensions.drafting.linked_efforts import (
    can_draft,
    drafting_function,
    linked_levels,
)
from dbt_anonymize.extensions.drafting.linked_tables import (
    ROLES,
    LinkedDraft,
    LinkedTables,
    read_linked,
    short_names,
    with_hierarchies,
)
from dbt_anonymize.extensions.drafting.links import (
    Around,
    Link,
    find_around,
    find_links,
    node_id,
    source_of,
)
from dbt_anonymize.extensions.drafting.proposal import KEY
from dbt_anonymize.extensions.drafting.roles import decide_all
from dbt_anonymize.extensions.drafting.telling_features import without_telling
from dbt_anonymize.extensions.drafting.text import spec_of
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.spec.problems import did_you_mean, split_names
from dbt_anonymize.spec.problems import names as shown_names

if TYPE_CHECKING:
    from dbt_anonymize.extensions.drafting.facts import ColumnFacts
    from dbt_anonymize.extensions.drafting.table import Draft
    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Source

_ALL = "all"


@dataclass(frozen=True)
class Asked:
    """Tables of the option, and whether somebody decides roles, or all are taken as proposed."""

    tables: Sequence[str]
    is_asked: bool
    takes_all: bool


@dataclass(frozen=True)
class Neighbours:
    """Links of a project around a subject, by ids of dbt, and names of the tables."""

    links: Sequence[Link]
    subject: str
    key: ColumnFacts | None
    names: Mapping[str, str]
    dbt_names: Mapping[str, str]

    def around(self, chosen: Mapping[str, str] | None = None) -> Around:
        """Return the tables that lead to the subject."""
        key = self.key.name if self.key else None
        return find_around(self.links, self.subject, key, chosen)

    def described(self, link: Link) -> str:
        """Return a link in words."""
        over = "" if link.parent == self.subject else f" over {self.names[link.parent]}"
        return f"{self.names[link.child]} ({link.column}{over})"


def read_neighbours(warehouse: Warehouse, declared: Source, drafted: Draft) -> Neighbours:
    """Return the tables around the subject of a draft."""
    key = next((one.facts for one in drafted.proposals if one.role == KEY), None)
    subject, links = node_id(warehouse, declared), find_links(warehouse)
    around = find_around(links, subject, key.name if key else None)
    tables = list(dict.fromkeys([*around.links, *around.ambiguous, *_below(around, links)]))
    sources = [source_of(warehouse, table) for table in tables]
    plain = [(one.source or ("",))[-1] or str(one.ref) for one in sources]
    shortened = short_names(plain, (declared.source or ("",))[-1] or str(declared.ref))
    return Neighbours(
        links,
        subject,
        key,
        dict(zip(tables, shortened, strict=True)),
        {table: one.name for table, one in zip(tables, sources, strict=True)},
    )


def _below(around: Around, links: Sequence[Link]) -> list[str]:
    """Return tables that lead over one with several paths."""
    below = list(around.ambiguous)
    for table in below:
        below += [one.child for one in links if one.parent == table and one.child not in below]
    return below


def note_neighbours(neighbours: Neighbours, drafted: Draft) -> None:
    """Say which tables lead to the subject and could be released with it."""
    around = neighbours.around()
    if drafted.subject or not can_draft():
        return
    if around.links:
        listed = ", ".join(map(neighbours.described, around.links.values()))
        verb = "leads" if len(around.links) == 1 else "lead"
        note(
            f"{listed} {verb} to these records: to release all together, joined by new keys, add "
            f"--linked {','.join(neighbours.names[table] for table in around.links)}."
        )
    _note_not_taken(neighbours, around)


def _note_not_taken(neighbours: Neighbours, around: Around) -> None:
    for child, several in around.ambiguous.items():
        name = neighbours.names[child]
        paths = " and ".join(neighbours.described(one) for one in several)
        note(
            f"{name} leads to a person by more than one path, {paths}, so it is not taken: whose "
            f"record it is must be one answer. --linked {name}:{several[0].column} takes one."
        )
    for link in around.elsewhere:
        note(
            f"{link.child.rpartition('.')[2]}.{link.column} leads to {link.field}, which is not "
            "the record key, so it is not taken."
        )


def draft_linked(
    place: Place,
    neighbours: Neighbours,
    drafted: Draft,
    asked: Asked,
    *,
    name: str,
    declared: Source,
) -> LinkedTables | None:
    """Return the drafts of the tables that are asked for, with efforts for all; None without any.

    The warehouse is closed during prompts.
    """
    if not asked.tables:
        return None
    links, key = _chosen_links(neighbours, drafted, asked.tables), neighbours.key
    if key is None:
        raise SpecError("--linked needs a record key, to which tables lead; there is none.")
    subject = (neighbours.subject, declared, key)
    with place.warehouse() as warehouse, spinner("Reading linked tables"):
        tables = read_linked(warehouse, links, neighbours.names, subject=subject)
    tables = _with_decisions(tables, asked)
    with place.warehouse() as warehouse, spinner("Building hierarchies and efforts"):
        tables = with_hierarchies(
            warehouse,
            tables,
            name=name,
            folder=place.relative_name(place.project.seeds),
            taken={plan.seed for plan in drafted.plans.values()},
        )
        tables = _usable(tables)
        tables = without_telling(
            warehouse, warehouse.relation_of(declared), drafted.proposals, tables
        )
        efforts = drafted.efforts or [{c: p.hierarchy.levels for c, p in drafted.plans.items()}]
        levels = linked_levels(
            warehouse,
            warehouse.relation_of(declared),
            key.name,
            drafted.plans,
            tables,
            efforts=efforts,
        )
    return LinkedTables(tables, list(zip(efforts, levels, strict=True)))


def _chosen_links(neighbours: Neighbours, drafted: Draft, asked: Sequence[str]) -> dict[str, Link]:
    """Return the links that ``--linked`` names, parents first; a wrong name is a `SpecError`."""
    drafting_function()
    if drafted.subject:
        facts = drafted.subject.facts
        raise SpecError(
            "--linked needs a table with one row per person; "
            f"{pluralized(facts.records, 'record')} are of {facts.distinct:,} ({facts.name}). Make "
            "one in a model, and link this one."
        )
    by_name = {n: t for t, n in neighbours.dbt_names.items()}
    by_name |= {n: t for t, n in neighbours.names.items()}
    parts = [one.partition(":") for one in split_names(asked, [])]
    all_known = list(neighbours.names.values())
    if wrong := next((n for n, _, _ in parts if n not in {*by_name, _ALL}), None):
        known = f"Such tables are {shown_names(all_known)}." if all_known else _NONE
        raise SpecError(
            f"--linked must name a table that leads to these records, or {_ALL}; {wrong} is none. "
            + did_you_mean(wrong, all_known, known)
        )
    around = neighbours.around({by_name[n]: column for n, _, column in parts if column})
    takes_every = any(n == _ALL for n, _, _ in parts)
    tables = [*around.links] if takes_every else [by_name[n] for n, _, _ in parts]
    if takes_every:
        _note_not_taken(neighbours, around)
    for table in tables:
        _check_taken(neighbours, around, table, tables)
    if not tables:
        raise SpecError(f"--linked must name a table that leads to these records. {_NONE}")
    return {table: link for table, link in around.links.items() if table in tables}


def _check_taken(neighbours: Neighbours, around: Around, table: str, tables: Sequence[str]) -> None:
    """Refuse a table without one path that is named as a whole."""
    name, link = neighbours.names[table], around.links.get(table)
    if link is not None and link.parent not in {neighbours.subject, *tables}:
        over = neighbours.names[link.parent]
        raise SpecError(f"--linked must name {over} too: {name} leads over it.")
    if link is not None:
        return
    paths = around.ambiguous.get(table, [one for one in neighbours.links if one.child == table])
    known = [one for one in paths if one.parent in {neighbours.subject, *neighbours.names}]
    listed = " and ".join(map(neighbours.described, known))
    raise SpecError(
        f"--linked must name tables with one path to a person; {name} leads there as {listed}. Add "
        f"the column to be followed, for example {name}:{known[0].column}."
    )


_NONE = (
    "None does: declare them by a test `relationships` of the column that leads here, with the "
    "record key as its field."
)


def _with_decisions(tables: Sequence[LinkedDraft], asked: Asked) -> list[LinkedDraft]:
    """Return drafts whose roles somebody has decided, as far as they are to be."""
    if asked.is_asked:
        return [
            replace(
                one, proposals=[ask_role(p, table=one.name, roles=ROLES) for p in one.proposals]
            )
            for one in tables
        ]
    if asked.takes_all:
        return [replace(one, proposals=decide_all(one.proposals)) for one in tables]
    return list(tables)


def _usable(tables: Sequence[LinkedDraft]) -> list[LinkedDraft]:
    """Return the tables that can be released; those that lead over others go with these."""
    usable: dict[str, LinkedDraft] = {}
    for one in tables:
        reason = one.problem
        if one.over and one.over not in usable:
            reason = f"leads over {one.over}"
        if reason:
            note(f"{one.name}: not taken, since it {reason}.")
        else:
            usable[one.name] = one
    if not usable:
        raise SpecError(
            "--linked must name tables with something that others could know of records."
        )
    return list(usable.values())


def check_valid(text: str, drafted: Draft, linked: LinkedTables) -> None:
    """Refuse a draft that is decided and breaks a rule, such as by the name of a column."""
    if ": TODO" not in text and "[TODO]" not in text:
        spec_of(text, drafted, linked)


def linked_lines(linked: LinkedTables | None) -> Iterator[str]:
    """Yield lines with the roles of linked columns."""
    for table in linked.tables if linked else ():
        over = f"one of {table.over}" if table.over else "a person"
        records = pluralized(table.records, "record")
        key = f"key {table.key}" if table.key else "no unique column for a key"
        yield f"{table.name}: {records}, each of {over} by {table.link.column}; {key}"
        for one in table.proposals:
            mark = "" if one.is_decided else " (undecided)"
            yield f"{table.name}.{one.name}: {one.role}{mark}, {one.reason}"
        yield from table.left_out
