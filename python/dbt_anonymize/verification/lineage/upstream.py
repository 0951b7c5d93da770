"""What is upstream of the declared source: columns that are the same thing under two names."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.verification.finding import Finding
from dbt_anonymize.verification.lineage.compiled import Models, Node
from dbt_anonymize.verification.lineage.declared import Declared
from dbt_anonymize.verification.lineage.graph import Graph, Unreadable
from dbt_anonymize.verification.lineage.origins import (
    ROWS,
    STORED_ORDER,
    TIES,
    Leaf,
    Leaves,
    Table,
    column_of,
    named,
)


def upstream_findings(models: Models, declared: Declared) -> Iterator[Finding]:
    """Give what the SQL upstream of the source and of the hierarchies tells.

    A kept column is released as it is, so it must not be made of what makes an identifier, the
    record key or a quasi-identifier. What no model makes (a seed, a dbt source) is what its columns
    are called: nobody can look behind it.

    Parameters
    ----------
    models : Models
        What dbt compiled.
    declared : Declared
        The anonymization.
    """
    graph = Graph(models, (), is_lenient=True)
    try:
        people = graph.table(declared.source)
    except Unreadable as reason:
        yield Finding("lineage", declared.source, False, f"{_sentence(reason)}. {_REMEDY}")
        return
    yield from _column_findings(models, declared, people)
    for hierarchy in sorted(declared.hierarchies):
        yield from _hierarchy_findings(models, declared, hierarchy, people)


_REMEDY = (
    "Load what it makes as a table, check its columns, and declare that as a dbt source; or make "
    "the column with SQL that can be followed."
)


def _column_findings(models: Models, declared: Declared, people: Table) -> Iterator[Finding]:
    source = declared.source
    found = set(people[0].columns) if people else set()
    secrets = dict.fromkeys(declared.spec.identifiers, "identifier")
    secrets[declared.spec.record_key] = "record key"
    secrets |= dict.fromkeys(declared.spec.quasi_identifiers, "quasi-identifier")
    missing = [n for n in [*secrets, *declared.spec.kept_columns] if n.lower() not in found]
    if missing:
        yield Finding(
            "lineage",
            source,
            False,
            f"declared columns are not in the source: {', '.join(missing)}. Correct the spec.",
        )
        return
    made_of = {name: column_of(people, name.lower()) for name in secrets}
    for name, declaration in declared.spec.quasi_identifiers.items():
        # Labels of a hierarchy are a quasi-identifier, at a level that nobody has declared.
        node = models.nodes.get(declaration.ref)
        names = [column.lower() for column in node.columns or ()] if node else []
        made_of[name] |= {Leaf(declaration.ref, column) for column in names}
    problems = 0
    for column in declared.spec.kept_columns:
        leaves = column_of(people, column.lower())
        problem = _opaque(leaves) or _shared(leaves, made_of, secrets) or _ordered(leaves)
        if problem:
            problems += 1
            yield Finding("lineage", f"{source}.{column}", False, problem)
    if not problems:
        kept = len(declared.spec.kept_columns)
        by = "a model" if _is_made_by_sql(models.nodes[source]) else "no model"
        yield Finding(
            "lineage",
            source,
            True,
            f"{kept} kept columns have no origin in common with identifiers, record key or "
            f"quasi-identifiers (the source is made by {by} of the project). Which records the "
            "source has is not judged.",
        )


def _opaque(leaves: Leaves) -> str | None:
    nodes = sorted({leaf.relation for leaf in leaves if leaf.how == "opaque"})
    if not nodes:
        return None
    return (
        f"a kept column must have an origin that can be followed; {', '.join(nodes)} cannot be "
        f"followed (a Python model, or SQL of a form that is not known). {_REMEDY}"
    )


def _ordered(leaves: Leaves) -> str | None:
    if not leaves & {STORED_ORDER, TIES}:
        return None
    return (
        "a kept column must not number or compare neighbouring rows in the order in which they are "
        "stored: that may be the order of the record key or of an identifier. Compute it where the "
        "source is loaded, from columns that may be released, or give it a role that protects it."
    )


def _shared(leaves: Leaves, made_of: dict[str, Leaves], secrets: dict[str, str]) -> str | None:
    rows = {ROWS, STORED_ORDER, TIES}
    for name, others in made_of.items():
        # What decided which rows an identifier comes from does not make the identifier.
        own = frozenset(leaf for leaf in others if leaf.how != "decided")
        shared = named(leaves - rows) & named(own - rows)
        if shared:
            origins = ", ".join(sorted(f"{column} of {relation}" for relation, column in shared))
            return (
                f"a kept column must not be made of what makes the {secrets[name]} {name}, nor be "
                "decided by it in a filter, a join or a window; "
                f"both are made of {origins}. Give it a role that protects it (identifier or "
                "quasi_identifier), or remove it from the source. A number per person, like that "
                "of a visit, is best computed where the source is loaded: there it is a column of "
                "its own, which you declare."
            )
    return None


def _hierarchy_findings(
    models: Models, declared: Declared, hierarchy: str, people: Table
) -> Iterator[Finding]:
    node = models.nodes.get(hierarchy)
    if node is None or not (_is_made_by_sql(node) or node.is_opaque):
        return
    graph = Graph(models, (), is_lenient=True)
    try:
        table = graph.table(hierarchy)
    except Unreadable as reason:
        yield Finding("lineage", hierarchy, False, f"{_sentence(reason)}. Make it a seed.")
        return
    leaves = frozenset().union(*(column_of(table, name) for name in table[0].columns))
    secrets = dict.fromkeys(declared.spec.identifiers, "identifier")
    secrets[declared.spec.record_key] = "record key"
    made_of = {name: column_of(people, name.lower()) for name in secrets}
    if any(leaf.how == "opaque" for leaf in leaves):
        problem = "the labels of a hierarchy must have an origin that can be followed"
    else:
        shared = _shared(leaves, made_of, secrets)
        problem = shared.replace("a kept column", "a hierarchy", 1) if shared else ""
    if problem:
        yield Finding("lineage", hierarchy, False, f"{problem.rstrip('.')}. Make it a seed.")


def _is_made_by_sql(node: Node) -> bool:
    return node.sql is not None


def _sentence(reason: Unreadable) -> str:
    return f"{reason.node} {reason.reason}"
