"""Compare the declarations of a spec with the origins of its source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dbt_anonymize.extensions.provenance.build import build_warnings
from dbt_anonymize.extensions.provenance.compiled import Relations, compile_sql, read_relations
from dbt_anonymize.extensions.provenance.origins import NotFollowed, Origin, Provenance
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.project.engines import is_refused
from dbt_anonymize.project.generate import check as drift_of
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.warehouse import Warehouse, open_warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding

_NOTHING: frozenset[Origin] = frozenset()
_NOT_FOLLOWED = (
    "not followed: {reason}. Make it with SQL that sqlglot follows, or load its result as a table "
    "and declare that as a dbt source."
)


def check_provenance(
    project: Project, spec: Spec, *, target: str | None = None, manifest: Any = None
) -> list[Finding]:
    """Compare generated models, stored columns and the origin of columns with what is declared.

    The project must be built; ``manifest`` is its own, where it is parsed already. Findings warn of
    code beside the compiled SQL, too. Models that dbt cannot compile are a `VerificationError`, a
    warehouse that cannot be read is a `WarehouseError`.
    """
    compiled = compile_sql(project, spec, target, manifest)
    with open_warehouse(project, target, manifest=manifest) as warehouse:
        relations = read_relations(warehouse, compiled, spec)
        return [
            _drift_finding(project, spec),
            *_stored_columns(warehouse, relations),
            *provenance_findings(relations, spec),
            *build_warnings(warehouse, spec),
        ]


def _drift_finding(project: Project, spec: Spec) -> Finding:
    drifts = drift_of(project.root, [spec.name])
    message = "the generated models are what the spec gives."
    if drifts:
        message = (
            f"the generated models must be what the spec gives; got "
            f"{pluralized(len(drifts), 'other file')}. "
            "Run `dbt-anonymize generate` and build again."
        )
    return Finding("provenance", f"models of {spec.name}", not drifts, message)


def _stored_columns(warehouse: Warehouse, relations: Relations) -> Iterator[Finding]:
    """Compare the columns of stored relations with those that their SQL gives."""
    right = 0
    for relation in relations.by_name.values():
        if relation.sql is None or relation.columns is None or relation.adds_columns:
            continue
        cursor = warehouse.cursor()
        try:
            cursor.execute(f"select * from (\n{relation.sql}\n) as made where 1 = 0")  # noqa: S608
        except Exception as error:  # Drivers have errors of their own, which may quote values.
            message = f"its SQL must run; it does not ({type(error).__name__}). Build again."
            if is_refused(warehouse, error):
                message = (
                    "its SQL must run for whoever verifies; the server refused it. Run `verify` as "
                    "the role that builds, or as a custodian who may read what it reads."
                )
            yield Finding("provenance", relation.name, False, message)
            continue
        columns_ = {str(column[0]).lower() for column in cursor.description}
        cursor.fetchall()
        differing = columns_ ^ {column.lower() for column in relation.columns}
        right += not differing
        if differing:
            message = (
                "the database must hold the columns that the SQL gives; "
                f"{', '.join(sorted(differing))} differ. Build again."
            )
            yield Finding("provenance", relation.name, False, message)
    message = f"{right} relations have the columns that their SQL gives."
    yield Finding("provenance", "stored columns", True, message)


def provenance_findings(relations: Relations, spec: Spec) -> list[Finding]:
    """Compare the origins of released columns with those of identifiers and the record key.

    Each column that shares an origin or cannot be followed is a finding; without one, all hold.
    """
    problems = list(_Check(relations, spec).problems())
    if problems:
        return [Finding("provenance", subject, False, text) for subject, text in problems]
    source = _source(spec)
    is_made = relations.by_name[source].is_made
    message = (
        f"{len(_released_columns(spec))} released columns share no undeclared origin with "
        "identifiers or the record key."
        if is_made
        else "no model of the project makes it: its columns are what the spec says."
    )
    return [Finding("provenance", source, True, message)]


def _source(spec: Spec) -> str:
    return spec.source.name


def _released_columns(spec: Spec) -> list[str]:
    # Without masked identifiers, which are declared to derive from themselves.
    return [n for n in (*spec.quasi_identifiers, *spec.kept_columns) if n not in spec.identifiers]


class _Check:
    def __init__(self, relations: Relations, spec: Spec) -> None:
        self.relations = relations
        self.spec = spec
        self.source = _source(spec)
        self.provenance = Provenance(relations)
        self.secrets = {name: f"the identifier {name}" for name in spec.identifiers}
        self.secrets |= {n: f"the dropped column {n}" for n in spec.columns_with_role("dropped")}
        self.secrets[spec.record_key] = f"the record key {spec.record_key}"
        self.labels = {name: h.ref for name, h in spec.quasi_identifiers.items()}
        # Columns that joins equate, in both directions.
        self.equal = set[tuple[Origin, Origin]]()

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield subject and message of each problem."""
        if self.source not in self.relations.by_name:
            yield self.source, "must be a model, seed or source of the project."
            return
        released = _released_columns(self.spec)
        origins_of, problems = self._origins(self.source, [*self.secrets, *released])
        yield from problems
        self.equal = set(self.provenance.equal_origins(self.source))
        revealing = self._revealing_columns(origins_of)
        secret = {name: columns for name, columns in revealing.items() if name in self.secrets}
        for column in released:
            # Quasi-identifiers may derive from each other: all are generalized.
            compared = secret if column in self.labels else revealing
            declared = self.spec.columns[column].derived_from
            compared = {name: columns for name, columns in compared.items() if name not in declared}
            origins = origins_of.get(column, _NOTHING)
            if column in self.labels:
                compared = self._without_ingredients(origins, compared, origins_of)
            yield from self._shared_origins(f"{self.source}.{column}", origins, compared)
        yield from self._hierarchy_problems(origins_of, secret)

    def _hierarchy_problems(
        self,
        origins_of: Mapping[str, frozenset[Origin]],
        secret: Mapping[str, frozenset[Origin]],
    ) -> Iterator[tuple[str, str]]:
        """Yield the labels that are made of a secret."""
        hierarchies = {h.ref for h in self.spec.sensitive_hierarchies.values()}
        for reference in sorted(hierarchies | set(self.labels.values())):
            relation = self.relations.by_name.get(reference)
            if relation and relation.is_made:
                labels, problems = self._origins(reference, relation.columns or ())
                yield from problems
                for column, origins in labels.items():
                    compared = secret
                    if reference not in hierarchies:
                        compared = self._without_ingredients(origins, secret, origins_of)
                    yield from self._shared_origins(f"{reference}.{column}", origins, compared)

    def _without_ingredients(
        self,
        origins: frozenset[Origin],
        compared: Mapping[str, frozenset[Origin]],
        origins_of: Mapping[str, frozenset[Origin]],
    ) -> dict[str, frozenset[Origin]]:
        """Return what is compared with a quasi-identifier that is only part of the record key.

        It is generalized and counted in every effort, and does not tell the key, which is made of
        other columns too and never released.
        """
        key = self.spec.record_key
        alike = [
            {own} | {b for a, b in self.equal if a == own} for own in origins_of.get(key, _NOTHING)
        ]
        if key not in compared or all(origins & one for one in alike):
            return dict(compared)
        return {**compared, key: compared[key].difference(*alike)}

    def _origins(
        self, relation: str, columns: Iterable[str]
    ) -> tuple[dict[str, frozenset[Origin]], list[tuple[str, str]]]:
        """Return the origins of columns, and problems of those that cannot be followed."""
        origins, reasons = {}, []
        for column in columns:
            try:
                origins[column] = self.provenance.derivation(relation, column.lower()).origins
            except NotFollowed as reason:
                reasons.append((f"{relation}.{column}", _NOT_FOLLOWED.format(reason=reason)))
        return origins, reasons

    def _revealing_columns(
        self, origins: Mapping[str, frozenset[Origin]]
    ) -> dict[str, frozenset[Origin]]:
        """Return the stored columns that reveal each secret or quasi-identifier.

        These are its origins, columns that joins equate with them, labels of its hierarchy, and
        columns named like an identifier in relations that hold or join identifiers.
        """
        revealing = {
            name: own | {b for a, b in self.equal if a in own}
            for name, own in origins.items()
            if name in self.secrets or name in self.labels
        }
        of_people = {relation for name in self.secrets for relation, _ in revealing.get(name, ())}
        for name in revealing.keys() & self.secrets.keys():
            revealing[name] |= {(relation, name.lower()) for relation in of_people}
        for name in revealing.keys() & self.labels.keys():
            if hierarchy := self.relations.by_name.get(self.labels[name]):
                revealing[name] |= {(hierarchy.name, c.lower()) for c in hierarchy.columns or ()}
        return revealing

    def _shared_origins(
        self,
        subject: str,
        origins: frozenset[Origin],
        compared: Mapping[str, frozenset[Origin]],
    ) -> Iterator[tuple[str, str]]:
        for name, revealing in compared.items():
            shared = sorted(f"{column} of {relation}" for relation, column in origins & revealing)
            if shared:
                title = self.secrets.get(name, f"the quasi-identifier {name}")
                is_key = name == self.spec.record_key
                of_others = "make the key of columns that are not released as they are, " * is_key
                yield (
                    subject,
                    f"must not be made of what tells {title}: {', '.join(shared)}. Leave it out, "
                    f"give it a role that protects it, {of_others}or declare `derived_from: {name}`"
                    " if it may tell that much.",
                )
