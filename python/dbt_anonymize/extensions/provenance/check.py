"""Compare the declarations of a spec with the origins of its source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dbt_anonymize.extensions.provenance.build import build_warnings
from dbt_anonymize.extensions.provenance.compiled import Relations, compile_sql, read_relations
from dbt_anonymize.extensions.provenance.origins import NotFollowed, Origin, Provenance
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
            _drift(project, spec),
            *_stored_columns(warehouse, relations),
            *provenance_findings(relations, spec),
            *build_warnings(warehouse, spec),
        ]


def _drift(project: Project, spec: Spec) -> Finding:
    drifts = drift_of(project.root, [spec.name])
    message = "the generated models are what the spec gives."
    if drifts:
        message = (
            f"the generated models must be what the spec gives; {len(drifts)} files differ. "
            "Run `dbt-anonymize generate` and build again."
        )
    return Finding("provenance", f"models of {spec.name}", not drifts, message)


def _stored_columns(warehouse: Warehouse, relations: Relations) -> Iterator[Finding]:
    """Compare the columns of stored relations with those of their SQL, as the database sees it."""
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
        made = {str(column[0]).lower() for column in cursor.description}
        cursor.fetchall()
        differing = made ^ {column.lower() for column in relation.columns}
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
        f"{len(_released(spec))} released columns share no undeclared origin with identifiers or "
        "the record key."
        if is_made
        else "no model of the project makes it: its columns are what the spec says."
    )
    return [Finding("provenance", source, True, message)]


def _source(spec: Spec) -> str:
    return spec.source.name


def _released(spec: Spec) -> list[str]:
    # A masked identifier is one of the secrets: that it is made of itself is declared.
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

    def problems(self) -> Iterator[tuple[str, str]]:
        """Give subject and message of what does not hold."""
        if self.source not in self.relations.by_name:
            yield self.source, "must be a model, seed or source of the project."
            return
        made, broken = self._origins(self.source, [*self.secrets, *_released(self.spec)])
        yield from broken
        telling = self._telling(made)
        secret = {name: found for name, found in telling.items() if name in self.secrets}
        for column in _released(self.spec):
            # Quasi-identifiers may be made of each other: all are generalized.
            others = secret if column in self.labels else telling
            declared = self.spec.columns[column].derived_from
            others = {name: found for name, found in others.items() if name not in declared}
            yield from self._shared(f"{self.source}.{column}", made.get(column, _NOTHING), others)
        hierarchies = {h.ref for h in self.spec.sensitive_hierarchies.values()}
        for reference in sorted(hierarchies | set(self.labels.values())):
            relation = self.relations.by_name.get(reference)
            if relation and relation.is_made:
                labels, broken = self._origins(reference, relation.columns or ())
                yield from broken
                for column, origins in labels.items():
                    yield from self._shared(f"{reference}.{column}", origins, secret)

    def _origins(
        self, relation: str, columns: Iterable[str]
    ) -> tuple[dict[str, frozenset[Origin]], list[tuple[str, str]]]:
        """Return the origins of columns, and why those of others are not known."""
        made, reasons = {}, []
        for column in columns:
            try:
                made[column] = self.provenance.made(relation, column.lower()).origins
            except NotFollowed as reason:
                reasons.append((f"{relation}.{column}", _NOT_FOLLOWED.format(reason=reason)))
        return made, reasons

    def _telling(self, made: Mapping[str, frozenset[Origin]]) -> dict[str, frozenset[Origin]]:
        """Return the stored columns that tell each column that is not kept.

        Those are its origins, what joins equate with them, labels of its hierarchy, and, in
        relations of identifiers and in those joined by one, a column that is called like one.
        """
        pairs = set(self.provenance.equal_origins(self.source))
        telling = {
            name: own | {b for a, b in pairs if a in own}
            for name, own in made.items()
            if name in self.secrets or name in self.labels
        }
        of_people = {relation for name in self.secrets for relation, _ in telling.get(name, ())}
        for name in telling.keys() & self.secrets.keys():
            telling[name] |= {(relation, name.lower()) for relation in of_people}
        for name in telling.keys() & self.labels.keys():
            if hierarchy := self.relations.by_name.get(self.labels[name]):
                telling[name] |= {(hierarchy.name, c.lower()) for c in hierarchy.columns or ()}
        return telling

    def _shared(
        self,
        subject: str,
        origins: frozenset[Origin],
        others: Mapping[str, frozenset[Origin]],
    ) -> Iterator[tuple[str, str]]:
        for name, telling in others.items():
            shared = sorted(f"{column} of {relation}" for relation, column in origins & telling)
            if shared:
                what = self.secrets.get(name, f"the quasi-identifier {name}")
                yield (
                    subject,
                    f"must not be made of what tells {what}: {', '.join(shared)}. Leave it out, "
                    f"give it a role that protects it, or declare `derived_from: {name}` if it may "
                    "tell that much.",
                )
