"""What a spec declares about the relations of its anonymization, as names of leaves."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from dbt_anonymize.spec.efforts import Effort
from dbt_anonymize.spec.models import Hierarchy, Spec
from dbt_anonymize.verify.lineage.compiled import source_name
from dbt_anonymize.verify.lineage.origins import Leaf, Leaves, Named

# Columns of a hierarchy that tell values of single people; `level_<l>` are labels.
_SHARP = ("value", "lower_bound", "upper_bound")


@dataclass(frozen=True)
class Declared:
    """A spec, seen from the leaves.

    Parameters
    ----------
    spec : Spec
        The anonymization.
    """

    spec: Spec

    @cached_property
    def source(self) -> str:
        """Name of the node that holds the people."""
        return source_name(self.spec.source)

    @cached_property
    def population(self) -> str | None:
        """Name of the node that holds the population, if there is one."""
        relation = self.spec.population_relation
        return None if relation is None else source_name(relation)

    @cached_property
    def hierarchies(self) -> frozenset[str]:
        """Names of all hierarchies, those of sensitive columns included."""
        declared = [
            *self.spec.quasi_identifiers.values(),
            *self.spec.sensitive_hierarchies.values(),
        ]
        return frozenset(hierarchy.ref for hierarchy in declared)

    @cached_property
    def vault(self) -> frozenset[str]:
        """Names of the nodes of custodians."""
        return frozenset({f"{self.spec.name}_identifiers", f"{self.spec.name}_tokens"})

    @cached_property
    def ends(self) -> frozenset[str]:
        """Names of the nodes whose columns are leaves."""
        population = {self.population} if self.population else set()
        return self.hierarchies | self.vault | {self.source} | population

    @cached_property
    def identifiers(self) -> frozenset[Named]:
        """Columns of the source that name a person."""
        return frozenset((self.source, name.lower()) for name in self.spec.identifiers)

    @cached_property
    def subject(self) -> Named | None:
        """Column of the source that is equal for all records of a person."""
        return (self.source, self.spec.subject.lower()) if self.spec.subject else None

    @cached_property
    def record_keys(self) -> frozenset[Named]:
        """The record key, in the source and in the vault."""
        key = self.spec.record_key.lower()
        return frozenset({(self.source, key), (f"{self.spec.name}_identifiers", key)})

    @cached_property
    def raw(self) -> dict[Named, str]:
        """Quasi-identifier of each column that holds its raw values."""
        relations = [self.source, *([self.population] if self.population else [])]
        names = self.spec.quasi_identifiers
        return {(relation, name.lower()): name for relation in relations for name in names}

    @cached_property
    def kept(self) -> dict[Named, str]:
        """Kept column of each column of the source that holds it."""
        return {(self.source, name.lower()): name for name in self.spec.kept_columns}

    @cached_property
    def known(self) -> frozenset[Named]:
        """Columns of the source, and quasi-identifiers of the population."""
        return self.identifiers | self.record_keys | frozenset(self.raw) | frozenset(self.kept)

    def sharp(self, leaves: Leaves) -> frozenset[str]:
        """Return the quasi-identifiers whose raw values or finest intervals leaves tell."""
        found = {
            self.raw[leaf.named] for leaf in leaves if _is_raw(leaf) and leaf.named in self.raw
        }
        for name, hierarchy in self.spec.quasi_identifiers.items():
            if any(_is_finest(leaf, hierarchy) for leaf in leaves):
                found.add(name)
        return frozenset(found)

    def is_sharp(self, leaf: Leaf) -> bool:
        """Tell whether a leaf is of a column of raw values or finest intervals, however told."""
        return leaf.named in self.raw or (
            leaf.relation in self.hierarchies and leaf.column in _SHARP
        )

    def families(self) -> Iterable[frozenset[Named]]:
        """Give the columns that may be compared with each other: a column and its hierarchy."""
        for name, hierarchy in self.spec.quasi_identifiers.items():
            raw = {column for column, whose in self.raw.items() if whose == name}
            yield frozenset(raw) | _columns(hierarchy)
        hierarchies = self.spec.sensitive_hierarchies
        for name in self.spec.kept_columns:
            column = frozenset({(self.source, name.lower())})
            yield column | (_columns(hierarchies[name]) if name in hierarchies else frozenset())

    def levels(self, effort: Effort, name: str) -> frozenset[int]:
        """Return the levels at which an effort may show a quasi-identifier in its compiled SQL."""
        if effort.levels is not None:
            return frozenset({effort.levels[name]})
        if effort.rounds is not None:
            return frozenset(levels[name] for levels in effort.rounds)
        # Mondrian compiles to labels of the root, which are no leaves.
        return frozenset()

    def role(self, node: str) -> str | None:
        """Return what a relation of the anonymization is for: `classes`, `effort_3`, ..."""
        prefix = f"{self.spec.name}_"
        part = node.removeprefix(prefix)
        known = r"anonymized|microdata|frequencies|classes|population|(effort|recoding)_\d+"
        return part if node.startswith(prefix) and re.fullmatch(known, part) else None


def _is_raw(leaf: Leaf) -> bool:
    return leaf.how not in {"presence", "count"}


def _columns(hierarchy: Hierarchy) -> frozenset[Named]:
    labels = [f"level_{level}" for level in range(1, hierarchy.levels + 1)]
    return frozenset((hierarchy.ref, column) for column in [*_SHARP, *labels])


def _is_finest(leaf: Leaf, hierarchy: Hierarchy) -> bool:
    """Tell whether a leaf of a hierarchy tells a single value, and not what a label covers."""
    if leaf.relation != hierarchy.ref or leaf.column not in _SHARP or not _is_raw(leaf):
        return False
    labels = {(hierarchy.ref, f"level_{level}") for level in range(1, hierarchy.levels + 1)}
    return not (leaf.how == "summary" and leaf.per <= labels)
