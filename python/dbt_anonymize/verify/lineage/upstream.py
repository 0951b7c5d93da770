"""What is upstream of the declared source: columns that are the same thing under two names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.lineage.compiled import Models, Node
from dbt_anonymize.verify.lineage.declared import Declared
from dbt_anonymize.verify.lineage.graph import Graph, Unreadable
from dbt_anonymize.verify.lineage.membership import Origins, membership_findings
from dbt_anonymize.verify.lineage.origins import STORED_ORDER, Leaf, Leaves, column_of, named

_WRITTEN_DOWN = (
    "the record key must come from a relation; where records are written down in SQL, nothing "
    "tells which of their values are identifiers."
)
_REMEDY = (
    "Load what it makes as a table, check its columns, and declare that as a dbt source; or make "
    "the column with SQL that can be followed."
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
        yield Finding("provenance", declared.source, False, f"{_sentence(reason)}. {_REMEDY}")
        return
    origins = Origins(declared, people, graph.uses)
    yield from _column_findings(models, origins)
    for hierarchy in sorted(declared.hierarchies):
        yield from _hierarchy_findings(models, hierarchy, origins)


def _column_findings(models: Models, origins: Origins) -> Iterator[Finding]:
    declared, people = origins.declared, origins.people
    source = declared.source
    found = set(people[0].columns) if people else set()
    secrets = origins.roles
    missing = [n for n in [*secrets, *declared.spec.kept_columns] if n.lower() not in found]
    if missing:
        yield Finding(
            "provenance",
            source,
            False,
            f"declared columns are not in the source: {', '.join(missing)}. Correct the spec.",
        )
        return
    made_of = {name: origins.leaves(name) for name in secrets}
    if not made_of[declared.spec.record_key]:
        yield Finding("provenance", source, False, f"{_WRITTEN_DOWN} {_REMEDY}")
    for name, declaration in declared.spec.quasi_identifiers.items():
        # Labels of a hierarchy are a quasi-identifier, at a level that nobody has declared.
        node = models.nodes.get(declaration.ref)
        names = [column.lower() for column in node.columns or ()] if node else []
        made_of[name] |= {Leaf(declaration.ref, column) for column in names}
    problems = 0
    for column in declared.spec.kept_columns:
        leaves = column_of(people, column.lower())
        problem = (
            _opaque(leaves)
            or _shared(leaves, made_of, origins)
            or _ordered(leaves, origins)
            or _namesake(column, leaves, origins)
        )
        if problem:
            problems += 1
            yield Finding("provenance", f"{source}.{column}", False, problem)
    choices = list(membership_findings(origins))
    yield from choices
    if not problems and not choices:
        kept = len(declared.spec.kept_columns)
        by = "a model" if _is_made_by_sql(models.nodes[source]) else "no model"
        yield Finding(
            "provenance",
            source,
            True,
            f"{kept} kept columns have no origin in common with identifiers, record key or "
            f"quasi-identifiers (the source is made by {by} of the project), and no clause chooses "
            "records by identifiers or the record key. Filters on other columns are not judged.",
        )


def _opaque(leaves: Leaves) -> str | None:
    nodes = sorted({leaf.relation for leaf in leaves if leaf.how == "opaque"})
    if not nodes:
        return None
    return (
        f"a kept column must have an origin that can be followed; {', '.join(nodes)} cannot be "
        f"followed (a Python model, or SQL of a form that is not known). {_REMEDY}"
    )


def _ordered(leaves: Leaves, origins: Origins) -> str | None:
    stored = [leaf for leaf in leaves if leaf.named == STORED_ORDER.named]
    if all(origins.is_of_one_person(leaf) for leaf in stored):
        return None
    return (
        "a kept column must not number or compare neighbouring rows in the order in which they are "
        "stored: that may be the order of the record key or of an identifier. Number the records "
        "of each person (`partition by` the declared `subject`), compute it where the source is "
        "loaded, or give it a role that protects it."
    )


def _namesake(column: str, leaves: Leaves, origins: Origins) -> str | None:
    """Give a column of the people that is called like a secret, or that a join equates with one."""
    roles = {name.lower(): f"the {role} {name}" for name, role in origins.roles.items()}
    telling = {x for x in leaves if x.how != "presence" and not _is_number_of_person(x, origins)}
    called = sorted(
        (leaf.column, leaf.relation, roles.get(leaf.column) or origins.secrets[leaf.named])
        for leaf in telling
        if leaf.named in origins.secrets
        or (leaf.relation in origins.relations and leaf.column in roles)
    )
    if not called:
        return None
    name, relation, what = called[0]
    how = "that is called like" if name in roles else "that a join equates with one called like"
    return (
        f"a kept column must not come from a column {how} {what}, in a relation that holds the "
        f"people or is joined with them by what identifies them; {column} comes from {name} of "
        f"{relation}. Correct its name or its role."
    )


def _shared(leaves: Leaves, made_of: dict[str, Leaves], origins: Origins) -> str | None:
    secrets = origins.roles
    for name, others in made_of.items():
        # What decided which rows an identifier comes from does not make the identifier.
        own = named(leaf for leaf in others if leaf.relation and not leaf.how.startswith("decided"))
        telling = frozenset(
            leaf
            for leaf in leaves
            if secrets[name] == "quasi-identifier" or not _is_number_of_person(leaf, origins)
        )
        # That there is a match in another relation is no more than a join tells.
        matched = named(leaf for leaf in telling if leaf.how != "presence")
        shared = (own & named(telling)) | (origins.equal_to(own) & matched)
        if shared:
            makers = ", ".join(sorted(f"{column} of {relation}" for relation, column in shared))
            return (
                f"a kept column must not be made of what makes the {secrets[name]} {name} or "
                "equals it in a join, nor be decided by it in a filter, a join or a window; "
                f"it has {makers}. Give it a role that protects it (identifier or "
                "quasi_identifier), or remove it from the source. A number among the records of a "
                "person, like that of a visit, may be in the order of the record key where the "
                "window is partitioned by the declared `subject`, never in that of a "
                "quasi-identifier."
            )
    return None


def _is_number_of_person(leaf: Leaf, origins: Origins) -> bool:
    """Tell whether a value only counts who has an identifier, or numbers records of one person."""
    if leaf.how in {"count", "decided by count"}:
        return True
    return leaf.how in {"place", "tally", "decided by place"} and origins.is_of_one_person(leaf)


def _hierarchy_findings(models: Models, hierarchy: str, origins: Origins) -> Iterator[Finding]:
    node = models.nodes.get(hierarchy)
    if node is None or not (_is_made_by_sql(node) or node.is_opaque):
        return
    graph = Graph(models, (), is_lenient=True)
    try:
        table = graph.table(hierarchy)
    except Unreadable as reason:
        yield Finding("provenance", hierarchy, False, f"{_sentence(reason)}. Make it a seed.")
        return
    leaves = frozenset().union(*(column_of(table, name) for name in table[0].columns))
    origins = replace(origins, uses={**origins.uses, **graph.uses})
    declared = origins.declared
    names = [*declared.spec.identifiers, declared.spec.record_key]
    made_of = {name: origins.leaves(name) for name in names}
    if any(leaf.how == "opaque" for leaf in leaves):
        problem = "the labels of a hierarchy must have an origin that can be followed"
    else:
        shared = _shared(leaves, made_of, origins)
        problem = shared.replace("a kept column", "a hierarchy", 1) if shared else ""
    if problem:
        yield Finding("provenance", hierarchy, False, f"{problem.rstrip('.')}. Make it a seed.")


def _is_made_by_sql(node: Node) -> bool:
    return node.sql is not None


def _sentence(reason: Unreadable) -> str:
    return f"{reason.node} {reason.reason}"
