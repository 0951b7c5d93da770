"""The proof: every released column, every clause on the way, and what is upstream of the source."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dbt_anonymize.project.generate import check as drift_of
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.warehouse import open_warehouse
from dbt_anonymize.spec.efforts import Effort
from dbt_anonymize.spec.models import Spec
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.lineage.clauses import clause_problems, stored_problems, zero_levels
from dbt_anonymize.verify.lineage.compiled import Models, compile_sql, read_models
from dbt_anonymize.verify.lineage.declared import Declared
from dbt_anonymize.verify.lineage.expressions import is_known_function
from dbt_anonymize.verify.lineage.graph import Graph, Unreadable, parsed
from dbt_anonymize.verify.lineage.ordering import order_problem
from dbt_anonymize.verify.lineage.origins import Table, column_of
from dbt_anonymize.verify.lineage.released import column_problem
from dbt_anonymize.verify.lineage.trusted import build_findings
from dbt_anonymize.verify.lineage.upstream import upstream_findings

_REMEDY = "Do not edit generated models; run `dbt-anonymize generate` and build again."


def check_lineage(project: Project, spec: Spec, *, target: str | None = None) -> list[Finding]:
    """Prove where every released value comes from, over the SQL that dbt compiles now.

    Parameters
    ----------
    project : Project
        The dbt project; it must be built.
    spec : Spec
        The anonymization.
    target : str, optional
        Target of the profile; by default that of dbt.

    Returns
    -------
    list of Finding
        What holds and what does not. A finding that does not hold is a leak, or something that
        cannot be proved.

    Raises
    ------
    VerificationError
        If dbt cannot compile the models.
    WarehouseError
        If the warehouse cannot be read.
    """
    compiled = compile_sql(project, spec, target)
    with open_warehouse(project, target) as warehouse:
        models = read_models(warehouse, compiled, spec)
        built = list(build_findings(warehouse, spec, compiled))
    return [*_drift(project, spec), *built, *lineage_findings(models, spec)]


def _drift(project: Project, spec: Spec) -> Iterator[Finding]:
    """Compiled SQL does not show what a model does only while it is built; its text does."""
    drifts = drift_of(project.root, [spec.name])
    message = "the generated models are what the spec gives."
    if drifts:
        message = (
            f"the generated models must be what the spec gives; {len(drifts)} files differ. "
            "Run `dbt-anonymize generate` and build again."
        )
    yield Finding("provenance", f"models of {spec.name}", not drifts, message)


def lineage_findings(models: Models, spec: Spec) -> list[Finding]:
    """Prove where every released value comes from.

    Parameters
    ----------
    models : Models
        Compiled SQL and columns of the nodes of the project.
    spec : Spec
        The anonymization.

    Returns
    -------
    list of Finding
        One of each released column over all efforts that may be released, one of each relation that
        they read, and those about what is upstream of the source.
    """
    return list(_Proof(models, Declared(spec)).findings())


class _Proof:
    def __init__(self, models: Models, declared: Declared) -> None:
        self.models = models
        self.declared = declared
        self.spec = declared.spec
        self.release = f"{self.spec.name}_anonymized"
        self.expected = declared.spec.released_columns
        self.columns: dict[str, list[str]] = {column: [] for column in self.expected}
        self.relations: dict[str, set[str]] = {}

    def findings(self) -> Iterator[Finding]:
        missing = [n for n in (self.release, self.declared.source) if n not in self.models.nodes]
        if missing:
            yield self._broken(missing[0], "must be a model or seed of the project")
            return
        graph = Graph(self.models, self.declared.ends)
        try:
            graph.table(self.release)
        except Unreadable as reason:
            yield self._broken(reason.node, reason.reason)
            return
        yield from self._order_findings()
        shown, problem = self._effort_shown(graph)
        if problem:
            yield self._broken(self.release, problem)
            return
        for number, effort in self.spec.numbered_efforts.items():
            if number > 0:
                yield from self._effort_findings(graph, shown, number, effort)
        yield from self._column_findings()
        yield from self._relation_findings()
        yield from self._function_findings()
        yield from self._token_findings()
        yield from upstream_findings(self.models, self.declared)

    def _effort_shown(self, graph: Graph) -> tuple[str, str]:
        """Return the one effort that the compiled release reads, and what is wrong.

        While nothing is built, that is the last; a build reads the one that is chosen.
        """
        read = graph.reads.get(self.release, frozenset())
        vault = {f"{self.spec.name}_identifiers"} if self.spec.mapping == "token" else set()
        efforts = sorted(n for n in read if re.fullmatch(rf"{self.spec.name}_effort_[1-9]\d*", n))
        others = sorted(read - set(efforts) - vault)
        if others:
            return "", f"must read one effort and nothing else; it reads {', '.join(others)}"
        if len(efforts) != 1:
            return "", f"must read one effort; it reads {', '.join(efforts) or 'none'}"
        return efforts[0], ""

    def _order_findings(self) -> Iterator[Finding]:
        query = parsed(self.models.nodes[self.release], self.models.dialect)
        problem = order_problem(query, [column.lower() for column in self.expected])
        if problem:
            yield self._broken(self.release, problem)

    def _effort_findings(
        self, shared: Graph, shown: str, number: int, effort: Effort
    ) -> Iterator[Finding]:
        name = f"{self.spec.name}_effort_{number}"
        if name not in self.models.nodes:
            yield self._broken(name, "must be a model of the project")
            return
        graph = shared.reading(self.release, {shown: name})
        try:
            table = graph.table(self.release)
        except Unreadable as reason:
            yield self._broken(reason.node, reason.reason)
            return
        found = list(table[0].columns) if table else []
        if found != [column.lower() for column in self.expected]:
            yield self._broken(self.release, self._other_columns(found))
            return
        for column in self.expected:
            leaves = column_of(table, column.lower())
            problem = column_problem(self.declared, effort, column, leaves)
            if problem and problem not in self.columns[column]:
                self.columns[column].append(problem)
        self._look_at_relations(graph, effort)
        if effort.recoding == "multidimensional":
            yield Finding(
                "provenance",
                name,
                True,
                "a multidimensional recoding finds its labels while it is built, so its SQL is "
                "followed with all labels at the root; that the labels are those of the records "
                "rests on the check at each release (every label covers the value of its record).",
            )

    def _other_columns(self, found: list[str]) -> str:
        lowered = [column.lower() for column in self.expected]
        return (
            "must have exactly the declared columns in their order; "
            f"too many: {', '.join(c for c in found if c not in lowered) or 'none'}; "
            f"missing: {', '.join(c for c in lowered if c not in found) or 'none'}"
        )

    def _look_at_relations(self, graph: Graph, effort: Effort) -> None:
        """Note what is wrong with the relations that a release of an effort reads."""
        efforts = self.spec.numbered_efforts
        waiting = [self.release]
        seen = set(self.relations) - {self.release}
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            waiting += graph.reads.get(node, ())
            if node in self.declared.ends:
                self._look_at_end(node)
                continue
            problems = self.relations.setdefault(node, set())
            role = self.declared.role(node)
            if role is None:
                problems.add("it is not a relation of the anonymization, and it is read for it")
                continue
            role, _, number = role.partition("_")
            own = efforts.get(int(number)) if number else effort
            zero_level = zero_levels(self.declared, own) if own else frozenset[str]()
            for use in graph.uses.get(node, ()):
                problems.update(clause_problems(self.declared, role, use, zero_level))
            problems.update(stored_problems(self.declared, role, graph.table(node)))
            problems.update(self._other_relation(node, graph.table(node)))

    def _look_at_end(self, node: str) -> None:
        is_token = self.spec.mapping == "token" and node == f"{self.spec.name}_identifiers"
        if node in self.declared.vault and not is_token:
            self.relations.setdefault(node, set()).add(
                "it is in the vault, which no released relation may read"
            )

    def _other_relation(self, name: str, table: Table) -> Iterator[str]:
        """Give how what the database holds differs from what the SQL would make."""
        node = self.models.nodes[name]
        stored = {column.lower() for column in node.columns or ()}
        made = set(table[0].columns) if table else set[str]()
        if node.columns is not None and stored != made:
            different = sorted(stored ^ made)
            yield f"the database holds other columns than its SQL gives ({', '.join(different)})"
        if node.is_view is not None and node.is_view != (node.materialized == "view"):
            kind = "view" if node.is_view else "table"
            yield f"the database holds a {kind}, which is not what the model makes"

    def _column_findings(self) -> Iterator[Finding]:
        for column, problems in self.columns.items():
            message = f"{'; '.join(problems)}. {_REMEDY}" if problems else self._origin(column)
            yield Finding("provenance", f"{self.release}.{column}", not problems, message)

    def _origin(self, column: str) -> str:
        if column in self.spec.kept_columns:
            return f"comes from the column {column} of {self.declared.source} and nothing else."
        if column == "token":
            return "is the stored token and nothing else."
        return "is made of labels of the declared levels and nothing else, in every effort."

    def _relation_findings(self) -> Iterator[Finding]:
        for node, problems in sorted(self.relations.items()):
            message = "no clause looks at what it must not."
            if problems:
                message = f"{'; '.join(sorted(problems))}. {_REMEDY}"
            yield Finding("provenance", node, not problems, message)

    def _function_findings(self) -> Iterator[Finding]:
        """Look for functions that hide one of the database and may read whatever they like."""
        functions = self.models.functions
        hidden = [name for name in functions if is_known_function(name, self.models.dialect)]
        if hidden:
            yield Finding(
                "provenance",
                "functions of the database",
                False,
                "no function may have the name of one that SQL knows; these are defined in the "
                f"database: {', '.join(hidden)}. Drop them and build again.",
            )

    def _token_findings(self) -> Iterator[Finding]:
        """In the vault, a token is what is stored for a person, not made of anything."""
        if self.spec.mapping != "token":
            return
        identifiers, tokens = (f"{self.spec.name}_{part}" for part in ("identifiers", "tokens"))
        graph = Graph(self.models, (self.declared.source, tokens))
        try:
            leaves = column_of(graph.table(identifiers), "token")
        except (Unreadable, KeyError) as reason:
            yield self._broken(identifiers, str(reason))
            return
        holds = {leaf.named for leaf in leaves} == {(tokens, "token")}
        message = f"a token must come from {tokens} and nothing else"
        yield Finding(
            "provenance",
            f"{identifiers}.token",
            holds,
            f"{message}{'.' if holds else f'. {_REMEDY}'}",
        )

    def _broken(self, subject: str, reason: str) -> Finding:
        is_generated = subject.startswith(f"{self.spec.name}_")
        return Finding(
            "provenance", subject, False, f"{reason}.{f' {_REMEDY}' if is_generated else ''}"
        )
