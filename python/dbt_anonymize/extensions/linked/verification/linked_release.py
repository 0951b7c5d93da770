"""A linked release and all that it was built from, on one DuckDB connection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, cast

from dbt_anonymize.extensions.linked.declared import (
    SUBJECTS,
    TOKEN,
    EffortKeys,
    Keys,
    Linked,
    LinkedTable,
    keys_of,
    released_key,
)
from dbt_anonymize.extensions.linked.graph import Rows
from dbt_anonymize.extensions.linked.scratch import Scratch
from dbt_anonymize.literals import quote_name
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.recomputation.expected import Expected
from dbt_anonymize.verify.recomputation.labels import Generalization
from dbt_anonymize.verify.recomputation.tables import Tables


@dataclass(frozen=True)
class LinkedRelease:
    """Relations of a linked release, as SQL; those of linked tables by their names.

    ``tables`` are those of the subjects, with sources and hierarchies as they are now;
    ``database`` and ``schema`` name the released file, or a copy of the schema where a server
    publishes, as ``place`` says. ``built`` has the tables that it was made from.
    """

    spec: Spec
    effort: int
    tables: Tables
    scratch: Scratch
    database: str
    schema: str
    place: Literal["file", "schema"]
    sources: Mapping[str, str]
    built: Mapping[str, str]
    decisions: str
    hierarchies: Mapping[str, Mapping[str, str]]

    @property
    def declared(self) -> Keys:
        """The keys of the spec that linked tables add."""
        return keys_of(self.spec)

    @property
    def linked(self) -> Mapping[str, LinkedTable]:
        """The linked tables, each behind that which it leads over."""
        return self.declared.linked_tables

    @property
    def rule(self) -> Linked:
        """The declared tables, and the knowledge of an attacker."""
        if self.declared.linked is None:
            raise TypeError("a linked release must have a spec with linked tables")
        return self.declared.linked

    def levels(self, table: str) -> Mapping[str, int]:
        """Return the level of each quasi-identifier of a linked table."""
        effort = cast(EffortKeys, self.spec.numbered_efforts[self.effort])
        return (effort.linked or {})[table]

    @property
    def k(self) -> int:
        """The fewest subjects who must match."""
        return max(self.spec.largest_k, self.spec.numbered_efforts[self.effort].k or 0)

    @property
    def subjects(self) -> str:
        """The subjects who are released."""
        return self._published(f"{self.spec.name}_anonymized")

    @cached_property
    def expected_subjects(self) -> Expected:
        """The subjects by source and hierarchies."""
        return Expected(self.tables, self.spec, self.effort)

    def released(self, table: str) -> str:
        """Return a released linked table."""
        return self._published(self.name_of(table))

    def _published(self, table: str) -> str:
        return ".".join(map(quote_name, (self.database, self.schema, table)))

    def name_of(self, table: str) -> str:
        """Return the name of a released linked table."""
        return f"{self.spec.name}_released_{table}"

    def generalizations(self, table: str) -> dict[str, Generalization]:
        """Return the hierarchy of each quasi-identifier of a linked table."""
        trees = self.hierarchies[table]
        return {
            name: Generalization(name, hierarchy, trees[name], self.tables.text)
            for name, hierarchy in self.linked[table].quasi_identifiers.items()
        }

    def released_subjects(self) -> Rows:
        """Return the subjects of the file with the columns that tell of them."""
        return Rows(self.subjects, TOKEN, self.spec.released_labels)

    def released_records(self) -> dict[str, Rows]:
        """Return the linked tables of the file with the columns that tell of subjects."""
        return {
            name: Rows(
                self.released(name),
                quote_name(released_key(name)),
                table.generalized_columns,
                quote_name(table.released_parent),
                None if table.over == SUBJECTS else table.over,
            )
            for name, table in self.linked.items()
        }
