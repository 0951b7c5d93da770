"""Who is in the source: clauses upstream that choose records by who they are.

A filter on a name makes it known that all who are released have such a name. What stays the same
where every identifier is replaced by another is no such choice: whether there is one, how many
records have it, which records of two relations share it, and which one of several records of a
person stands for them all. A column that a join equates with an identifier is that identifier
under another name: what its relation chooses by it, is chosen of the people. Filters on other
columns say whom a release is about; they are the choice of whoever declares it, and are not judged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.lineage.declared import Declared
from dbt_anonymize.verify.lineage.origins import (
    STORED_ORDER,
    Key,
    Leaf,
    Leaves,
    Named,
    Table,
    Use,
    column_of,
    key_of,
    named,
    refines,
)

_CHOICES = frozenset(
    {"where", "having", "qualify", "limit", "distinct on", "except", "intersect"}
    | {"join", "semi join", "anti join", "grouping"}
)
_REMEDY = (
    "Who is released would tell about it. Ask only whether it is there (`is not null`), join by "
    "equality of whole columns, keep one record of each (`row_number() over (partition by "
    "<record key> order by <a date>) = 1`), or filter by a column that is neither identifier nor "
    "record key (`where consented`)."
)


@dataclass(frozen=True)
class Origins:
    """What makes the declared columns of the source.

    Parameters
    ----------
    declared : Declared
        The anonymization.
    people : Table
        The source, of which nothing upstream is an end.
    uses : mapping
        Clauses on the way to it, by node.
    """

    declared: Declared
    people: Table
    uses: Mapping[str, frozenset[Use]]

    @cached_property
    def roles(self) -> dict[str, str]:
        """Role of each column that must not be told, by its name."""
        spec = self.declared.spec
        return {
            **dict.fromkeys(spec.identifiers, "identifier"),
            spec.record_key: "record key",
            **dict.fromkeys(spec.quasi_identifiers, "quasi-identifier"),
        }

    def leaves(self, name: str) -> Leaves:
        """Return the leaves of a column of the source."""
        return column_of(self.people, name.lower())

    def makers(self, name: str) -> frozenset[Named]:
        """Return the columns that make one, without those that decide which row it comes from."""
        own = (leaf for leaf in self.leaves(name) if not leaf.how.startswith("decided"))
        return named(leaf for leaf in own if leaf.relation)

    @cached_property
    def secrets(self) -> Mapping[Named, str]:
        """Columns that identify, with what they are; what makes a quasi-identifier too is none.

        They make an identifier or the record key, or a join equates them with one that does, or
        they are called like one in a relation that has such a column: what is keyed by a person
        is about that person.
        """
        found = dict(self.made_secrets)
        while more := self._beside(found):
            found |= more
        return found

    def _beside(self, found: Mapping[Named, str]) -> Mapping[Named, str]:
        """Return what else identifies, given some columns that do."""
        roles = {
            name.lower(): f"the {role} {name}"
            for name, role in self.roles.items()
            if role != "quasi-identifier"
        }
        relations = {relation for relation, _ in found}
        more = {(r, c): roles[c] for r, c in self._columns if r in relations and c in roles}
        for column, what in sorted(found.items()):
            more |= dict.fromkeys(self._links.get(column, ()), what)
        return {x: what for x, what in more.items() if x not in found and x not in self.generalized}

    @cached_property
    def made_secrets(self) -> Mapping[Named, str]:
        """Origins of the identifiers and of the record key."""
        found: dict[Named, str] = {}
        for role in ("record key", "identifier"):
            for name in (n for n, own in self.roles.items() if own == role):
                makers = self.makers(name)
                if role == "record key" and len(makers) > 1:
                    continue  # A part of a key, like a date, is no key.
                found |= dict.fromkeys(makers, f"the {role} {name}")
        return {x: what for x, what in found.items() if x not in self.generalized}

    @cached_property
    def generalized(self) -> frozenset[Named]:
        """Columns that make a quasi-identifier."""
        makers = (self.makers(name) for name in self.declared.spec.quasi_identifiers)
        return frozenset[Named]().union(*makers)

    @cached_property
    def _columns(self) -> frozenset[Named]:
        """Columns at which any clause looks."""
        return frozenset(x.named for uses in self.uses.values() for use in uses for x in use.leaves)

    @cached_property
    def _links(self) -> Mapping[Named, frozenset[Named]]:
        """Columns that joins equate with another, by that."""
        found: dict[Named, frozenset[Named]] = defaultdict(frozenset)
        for same in (same for uses in self.uses.values() for use in uses for same in use.same):
            for column in same:
                found[column] |= same - {column}
        return found

    def equal_to(self, columns: Iterable[Named]) -> frozenset[Named]:
        """Return the columns that joins equate with some, also in several steps, and these."""
        found = frozenset(columns)
        while more := frozenset[Named]().union(*(self._links.get(x, ()) for x in found)) - found:
            found |= more
        return found

    @cached_property
    def released(self) -> frozenset[Named]:
        """Columns that make what is released in some form; others are technical, like a key."""
        spec = self.declared.spec
        shown = [*spec.quasi_identifiers, *spec.kept_columns]
        return frozenset[Named]().union(*(self.makers(name) for name in shown))

    @cached_property
    def relations(self) -> frozenset[str]:
        """Relations that hold those who are released, or are keyed by what identifies them."""
        return frozenset(relation for relation, _ in self.secrets)

    @cached_property
    def subject_keys(self) -> tuple[Key, ...]:
        """How the columns are written that are equal in records of one person only."""
        spec = self.declared.spec
        columns = [spec.record_key, *([spec.subject] if spec.subject else [])]
        return tuple(k for name in columns if (k := key_of(self.people, name.lower())))

    @cached_property
    def identifying_keys(self) -> tuple[Key, ...]:
        """How all columns are written that identify."""
        names = [n for n, role in self.roles.items() if role == "identifier"]
        keys = (key_of(self.people, name.lower()) for name in names)
        return (*self.subject_keys, *(key for key in keys if key))

    def is_of_one_person(self, leaf: Leaf) -> bool:
        """Tell whether a place is one among the records of a person."""
        return _is_within(leaf, self.subject_keys)


def membership_findings(origins: Origins) -> Iterator[Finding]:
    """Give the clauses upstream of the source that choose records by who they are.

    Parameters
    ----------
    origins : Origins
        What makes the source.
    """
    for node, found in sorted(origins.uses.items()):
        problems = sorted({p for use in found if (p := _problem(origins, use))})
        if problems:
            yield Finding("provenance", node, False, f"{'; '.join(problems)}. {_REMEDY}")


def _problem(origins: Origins, use: Use) -> str | None:
    if use.clause not in _CHOICES or use.is_link:
        return None
    if any(leaf.how == "opaque" for leaf in use.leaves):
        return f"{use.clause} cannot be followed, so it may choose records by who they are"
    looked_at = {
        _called(origins, leaf.named)
        for leaf in use.leaves
        if leaf.named in origins.secrets and not _is_harmless(origins, leaf)
    }
    if looked_at:
        return f"{use.clause} must not choose records by {' and '.join(sorted(looked_at))}"
    if _is_by_storage(origins, use):
        return f"{use.clause} must not choose records by the order in which they are stored"
    return None


def _called(origins: Origins, column: Named) -> str:
    what = origins.secrets[column]
    if column in origins.made_secrets:
        return what
    return (
        f"{what} ({column[1]} of {column[0]}, which a join equates with it or which has its name)"
    )


def _is_harmless(origins: Origins, leaf: Leaf) -> bool:
    if leaf.how in {"presence", "count"}:
        return True
    if leaf.how not in {"place", "tally", "decided by place"}:
        return False
    # The order of record keys chooses among those who share an identifier, which are one person's.
    is_key = origins.secrets[leaf.named].startswith("the record key")
    keys = origins.identifying_keys if is_key else origins.subject_keys
    return _is_within(leaf, keys)


def _is_within(leaf: Leaf, keys: Iterable[Key]) -> bool:
    return any(refines(key, whose) for key in leaf.within for whose in keys)


def _is_by_storage(origins: Origins, use: Use) -> bool:
    stored = [leaf for leaf in use.leaves if leaf.named == STORED_ORDER.named]
    relations = {leaf.relation for leaf in use.leaves} - {""}
    is_about_people = not relations or relations & origins.relations
    return bool(is_about_people) and not all(_is_of_one_thing(origins, leaf) for leaf in stored)


def _is_of_one_thing(origins: Origins, leaf: Leaf) -> bool:
    """Tell whether an order is one of rows that share an identifier or a technical key."""
    columns = {column for key in leaf.within for _, own in key for column in own}
    return _is_within(leaf, origins.identifying_keys) or bool(columns - origins.released)
