"""Evidence of a dossier: relations of the warehouse and the spec, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.extension import dossier_figures
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.project.register import RegisteredRelease, last_published
from dbt_anonymize.project.results import release_location, results_are_current
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.relations import ALL, DETAILS, EXACT_VALUES, HISTORY
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.details import chosen_details

Row = Mapping[str, Any]

# The relations by their part of the name, and the command that writes them.
_FIGURE_RELATIONS = dict.fromkeys(name for _, kind in dossier_figures() for name in kind.relations)
PARTS = {
    name: ALL[name].writer
    for name in ("results", "privacy", *_FIGURE_RELATIONS, "verification", "releases")
}

# Written by `verify`: each row carries the digest of the published rows that it is about.
_VERIFIED = ("attacks", "verification")
_ABOUT = {
    "another": "of another release than the published one",
    "unknown": "of an unknown release",
}


@dataclass(frozen=True)
class Evidence:
    """The rows of each relation, or None where it is missing; ``release`` is where it lies.

    ``is_current``: the results belong to the current spec. ``published`` is the last release of the
    register, and ``is_published`` whether these results chose it.
    """

    spec: Spec
    relations: Mapping[str, Sequence[Row] | None]
    release: str | None
    is_current: bool
    published: RegisteredRelease | None
    is_published: bool

    def rows(self, part: str, **values: object) -> list[Row]:
        """Return the rows of a relation that have these values; none where it is missing.

        Of findings and attacks none, where they are not about the published rows.
        """
        if part in _VERIFIED and self.about(part) != "published":
            return []
        return [
            row
            for row in self.relations[part] or ()
            if all(row[column] == value for column, value in values.items())
        ]

    def about(self, part: str) -> Literal["published", "another", "unknown"]:
        """Return which release all findings or attacks are about."""
        published = self.published
        digests = {(row.get("content"), row.get("spec")) for row in self.relations[part] or ()}
        if (
            published
            and digests <= {(published.content, published.spec)}
            and (published.content or not digests)
        ):
            return "published"
        has_digests = published and published.content and all(content for content, _ in digests)
        return "another" if has_digests else "unknown"

    @property
    def effort(self) -> int | None:
        """The released effort."""
        chosen = self.rows("results", is_chosen=True)
        return int(chosen[0]["effort"]) if len(chosen) == 1 else None

    def remedy(self, part: str) -> str:
        """Return the command that fills a missing relation, or the reason why none can."""
        if part == "releases" and self.spec.mapping == "none":
            return "With mapping: none nothing remembers them."
        is_of_effort = "effort" in ALL[part].column_names
        if is_of_effort and self.spec.is_frozen and self.relations["results"] and not self.effort:
            return (
                "The frozen effort breaks a guarantee on the data as they are: see `dbt-anonymize "
                f"results {self.spec.name}`."
            )
        if part in _VERIFIED and self.relations[part] and (about := _ABOUT.get(self.about(part))):
            return f"Its rows are {about}. Run {PARTS[part]}."
        if part in DETAILS and part not in chosen_details(self.spec.details):
            return f"Declare `details: [{part}]`, run dbt-anonymize generate and {PARTS[part]}."
        return f"Run {PARTS[part]}."

    @property
    def verified_at(self) -> str | None:
        """Time of its oldest finding of a verification, as text."""
        findings = self.relations["verification"] or ()
        return min((str(row["verified_at"]) for row in findings), default=None)

    @property
    def is_verified(self) -> bool:
        """Tell whether there are findings, all about the published rows."""
        return bool(self.rows("verification"))

    @property
    def verification(self) -> str:
        """Sentence about the result of `verify` for the published rows."""
        findings = self.relations["verification"] or ()
        command = f"`dbt-anonymize verify {self.spec.name}`"
        failed = sum(row["status"] == "FAILED" for row in findings)
        about = _ABOUT.get(self.about("verification"))
        if not findings:
            return f"Not verified: run {command}."
        if about:
            failures = f"; {pluralized(failed, 'finding')} of it failed" if failed else ""
            return f"Not verified: the last verification is {about}{failures}. Run {command}."
        if failed:
            return f"VERIFICATION FAILED: {pluralized(failed, 'finding')}. See {command}."
        warnings = sum(row["status"] == "warning" for row in findings)
        about_them = f", {pluralized(warnings, 'warning')}: see {command}" if warnings else ""
        return f"Verified independently of the build: nothing failed{about_them}."

    @property
    def exact_values(self) -> str:
        """Sentence of `verify` about columns released as they are; "" without a verification."""
        for row in self.rows("verification"):
            if row.get("subject") == EXACT_VALUES:
                return f"{EXACT_VALUES.capitalize()}: {row['message']}"
        return ""


def collect(warehouse: Warehouse, spec: Spec) -> Evidence:
    """Read the relations of an anonymization; missing ones are None."""
    if find_relation(warehouse, f"{spec.name}_results") is None:
        raise WarehouseError(
            f"{spec.name}: must be built before there is anything to document; it has no results. "
            "Run `dbt build`."
        )
    return _evidence(warehouse, spec, [*PARTS, "history"])


def read_verification(warehouse: Warehouse, spec: Spec) -> Evidence:
    """Read only the findings of `verify`."""
    return _evidence(warehouse, spec, ["verification"])


def _evidence(warehouse: Warehouse, spec: Spec, parts: Iterable[str]) -> Evidence:
    published, is_published = last_published(warehouse, spec.name)
    return Evidence(
        spec,
        {part: read_relation(warehouse, _relation(warehouse, spec, part)) for part in parts},
        release_location(warehouse, spec.name),
        results_are_current(warehouse, spec),
        published,
        is_published,
    )


def _relation(warehouse: Warehouse, spec: Spec, part: str) -> Any:
    """Return a relation, or None; one that is no model lies beside a model."""
    beside = {"attacks": "results", "verification": "results", "releases": "identifiers"}
    if part == "history":
        return find_relation(warehouse, HISTORY)
    if part not in beside:
        return find_relation(warehouse, f"{spec.name}_{part}")
    relation = find_relation(warehouse, f"{spec.name}_{beside[part]}")
    if relation is None:
        return None
    return warehouse.find(relation.incorporate(path={"identifier": f"{spec.name}_{part}"}))


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
