"""What a dossier is made of: relations of the warehouse and the spec, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.project.results import release_location, results_are_current
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec

Row = Mapping[str, Any]

# The relations by their part of the name, and what writes them.
PARTS = {
    "results": "dbt build",
    "privacy": "dbt build",
    "risk_profile": "dbt build",
    "quasi_identifier_risk": "dbt build",
    "attacks": "dbt-anonymize verify",
    "verification": "dbt-anonymize verify",
    "releases": "dbt build",
}
HISTORY = "anonymization_results"


@dataclass(frozen=True)
class Evidence:
    """The rows of each relation, or None where it is missing; ``release`` is where it lies.

    ``is_current``: the results belong to the current spec.
    """

    spec: Spec
    relations: Mapping[str, Sequence[Row] | None]
    release: str | None
    is_current: bool

    def rows(self, part: str, **values: object) -> list[Row]:
        """Return the rows of a relation that have these values; none where it is missing."""
        return [
            row
            for row in self.relations[part] or ()
            if all(row[column] == value for column, value in values.items())
        ]

    @property
    def effort(self) -> int | None:
        """The released effort."""
        chosen = self.rows("results", is_chosen=True)
        return int(chosen[0]["effort"]) if len(chosen) == 1 else None

    def remedy(self, part: str) -> str:
        """Say what makes what is missing of a relation, or why nothing can."""
        if part == "releases" and self.spec.mapping == "none":
            return "With mapping: none nothing remembers them."
        of_effort = {"results", "privacy", "risk_profile"}
        if part in of_effort and self.spec.freeze and self.relations["results"] and not self.effort:
            return (
                "The frozen effort breaks a guarantee on the data as they are: see `dbt-anonymize "
                f"results {self.spec.name}`."
            )
        return f"Run {PARTS[part]}."

    @property
    def built_at(self) -> str | None:
        """When it was built last, as text."""
        times = [str(row["run_at"])[:19] for row in self.rows("history", name=self.spec.name)]
        return max(times, default=None)

    @property
    def verified_at(self) -> str | None:
        """When its oldest finding of a verification was made, as text."""
        return min((str(row["verified_at"]) for row in self.rows("verification")), default=None)

    @property
    def is_verified_since(self) -> bool:
        """Whether all findings are newer than the last build."""
        return bool(self.built_at and self.verified_at and self.verified_at[:19] >= self.built_at)


def collect(warehouse: Warehouse, spec: Spec) -> Evidence:
    """Read the relations of an anonymization; what is not there is missing."""
    relations = {part: read_relation(warehouse, _relation(warehouse, spec, part)) for part in PARTS}
    relations["history"] = read_relation(warehouse, find_relation(warehouse, HISTORY))
    if relations["results"] is None:
        raise WarehouseError(
            f"{spec.name}: must be built before there is anything to document; it has no results. "
            "Run `dbt build`."
        )
    return Evidence(
        spec,
        relations,
        release_location(warehouse, spec.name),
        results_are_current(warehouse, spec),
    )


def is_verified(warehouse: Warehouse, spec: Spec) -> bool:
    """Whether the last build has been verified."""
    found = {
        "verification": read_relation(warehouse, _relation(warehouse, spec, "verification")),
        "history": read_relation(warehouse, find_relation(warehouse, HISTORY)),
    }
    return Evidence(spec, found, None, is_current=True).is_verified_since


def _relation(warehouse: Warehouse, spec: Spec, part: str) -> Any:
    """Return a relation, or None; those that are no models lie beside one that is."""
    beside = {"attacks": "results", "verification": "results", "releases": "identifiers"}
    if part not in beside:
        return find_relation(warehouse, f"{spec.name}_{part}")
    found = find_relation(warehouse, f"{spec.name}_{beside[part]}")
    if found is None:
        return None
    return warehouse.find(found.incorporate(path={"identifier": f"{spec.name}_{part}"}))


def find_relation(warehouse: Warehouse, name: str) -> Any:
    """Return the relation of a model or seed, or None where it is not built."""
    try:
        return warehouse.relation_of_ref(name)
    except WarehouseError:
        return None


def read_relation(
    warehouse: Warehouse, relation: Any, query: str = "select * from {relation}"
) -> list[Row] | None:
    """Return the rows of a query of a relation, by name; None where there is no relation."""
    if relation is None:
        return None
    cursor = warehouse.cursor()
    # Not `format`: names within the query may hold braces.
    cursor.execute(query.replace("{relation}", str(relation)))
    names = [str(column[0]) for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
