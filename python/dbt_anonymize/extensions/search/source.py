"""The relations of the warehouse for a search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dbt_anonymize.arrays import Ints
from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.search.declared import has_outdated_efforts
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec


@dataclass(frozen=True)
class Source:
    """The relations to read."""

    warehouse: Warehouse
    spec: Spec
    frequencies: Any
    population: Any | None

    @classmethod
    def find(cls, warehouse: Warehouse, spec: Spec) -> Source:
        """Find the relations, and check that they are of this spec."""
        remedy = rebuild(spec)
        frequencies = warehouse.relation_of_ref(f"{spec.name}_frequencies", remedy=remedy)
        leaves = [f"{name}_leaf" for name in spec.quasi_identifiers]
        keys = [*spec.quasi_identifiers, *leaves, "records"]
        subject = ["subject"] if spec.subject else []
        sampled = ["sample_share"] if spec.declared_shares else []
        expected = {*keys, *spec.counted_columns, *subject, *sampled}
        _check_columns(warehouse, spec, frequencies, expected)
        population = None
        if spec.population_relation is not None:
            population = warehouse.relation_of_ref(f"{spec.name}_population", remedy=remedy)
            _check_columns(warehouse, spec, population, set(keys))
        return cls(warehouse, spec, frequencies, population)

    @property
    def relations(self) -> list[Any]:
        """Relations with quasi-identifiers."""
        return (
            [self.frequencies] if self.population is None else [self.frequencies, self.population]
        )

    def numbers(self, macro: str, **arguments: Any) -> dict[str, Ints]:
        """Return the columns of the statement of a macro."""
        columns = self.warehouse.numbers(self.warehouse.macro(macro, **arguments))
        return {name: column.astype(np.int64, copy=False) for name, column in columns.items()}

    def quasi_identifier(self, name: str) -> dict[str, Any]:
        """Return a quasi-identifier as an argument of macros."""
        hierarchy = self.spec.quasi_identifiers[name]
        relation = self.warehouse.relation_of_ref(hierarchy.ref)
        return {
            "name": name,
            "kind": hierarchy.kind,
            "hierarchy": relation,
            "levels": hierarchy.levels,
            "nested": hierarchy.nested,
        }


def _check_columns(warehouse: Warehouse, spec: Spec, relation: Any, expected: set[str]) -> None:
    # Some warehouses fold the names of columns.
    existing = {name.casefold(): name for name, _ in warehouse.columns(relation)}
    wanted = {name.casefold(): name for name in expected}
    differing = sorted((existing | wanted)[name] for name in existing.keys() ^ wanted.keys())
    if differing:
        raise SearchError(
            f"{relation.identifier}: must be built from anonymizations/{spec.name}.yml as it is "
            f"now; its columns differ from the spec in {', '.join(differing)}. "
            f"{rebuild(spec)}"
        )


def rebuild(spec: Spec) -> str:
    """Return the sentence that says how to build the relations."""
    models = f"+{spec.name}_frequencies"
    if spec.population_relation is not None:
        models += f" +{spec.name}_population"
    first = "Run"
    if has_outdated_efforts(spec):
        first = (
            f"Remove the efforts that do not fit from anonymizations/{spec.name}.yml, since a "
            "search finds others, and run"
        )
    return f"{first} `dbt-anonymize generate {spec.name}` and `dbt build --select {models}`."
