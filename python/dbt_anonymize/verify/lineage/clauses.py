"""Which clauses of the models that a release reads may look at what.

The honest models need few exceptions; they are named here, each for the relation that needs it.
"""

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.spec.efforts import Effort
from dbt_anonymize.verify.lineage.declared import Declared
from dbt_anonymize.verify.lineage.origins import STORED_ORDER, Leaf, Leaves, Table, Use, column_of
from dbt_anonymize.verify.lineage.released import described

_FILTERS = frozenset(
    {"where", "having", "qualify", "filter", "limit", "distinct on", "except", "intersect"}
    | {"semi join", "anti join"}
)
_GROUPS = frozenset({"group by", "distinct", "aggregate", "partition by", "union distinct"})
# Where records are grouped by raw values, because they are counted there once for all efforts, or
# because effort 0, which is never released, is measured there too.
_COUNT_RAW_VALUES = frozenset({"microdata", "frequencies", "population", "classes"})
# Where raw values find their place in the hierarchy, by their bounds.
_FIND_LEAVES = frozenset({"microdata", "population"})
# Where the record key joins what belongs to one record.
_JOIN_RECORDS = frozenset({"effort", "classes", "recoding"})
# Which relations hold the number that stands for a subject.
_NUMBERED = frozenset({"microdata", "frequencies", "classes", "recoding"})


def clause_problems(
    declared: Declared, role: str, use: Use, zero_level: frozenset[str]
) -> Iterator[str]:
    """Give what a clause must not look at.

    Parameters
    ----------
    declared : Declared
        The anonymization.
    role : str
        What the relation is for, without the number of an effort: ``effort``, ``classes``, ...
    use : Use
        The clause.
    zero_level : frozenset of str
        Quasi-identifiers that the effort releases as they are.
    """
    undeclared = frozenset(x for x in use.leaves if _is_undeclared(declared, x))
    if undeclared:
        yield f"{use.clause} looks at {described(declared, undeclared)}"
    secret = frozenset(x for x in use.leaves if x.named in declared.identifiers)
    if secret and not _is_about_subjects(declared, role, use):
        yield f"{use.clause} looks at {described(declared, secret)}"
    keys = frozenset(x for x in use.leaves if x.named in declared.record_keys)
    if keys and not _joins_records(declared, role, use, keys):
        yield f"{use.clause} looks at {described(declared, keys)}"
    vault = frozenset(x for x in use.leaves if x.relation in declared.vault) - keys
    is_token = role == "anonymized" and declared.spec.mapping == "token"
    if is_token and use.clause == "order by":
        # It is released, so the order by it tells nothing more.
        vault -= {Leaf(f"{declared.spec.name}_identifiers", "token")}
    if vault:
        yield f"{use.clause} looks at {described(declared, vault)}"
    if use.clause == "limit" or (use.clause in _FILTERS and STORED_ORDER in use.leaves):
        yield f"{use.clause} leaves out rows by the order in which they are stored"
    yield from _hierarchy_problems(declared, use)
    yield from _raw_problems(declared, role, use, zero_level)


def _hierarchy_problems(declared: Declared, use: Use) -> Iterator[str]:
    """Give filters of a hierarchy: joined, half a hierarchy tells who is in the other half."""
    if use.clause not in _FILTERS:
        return
    told = {"value", "computed", "summary", "presence"}
    if all(leaf.relation in declared.hierarchies for leaf in use.leaves if leaf.relation):
        told |= {"place", "tally"}
    labels = frozenset(
        x for x in use.leaves if x.relation in declared.hierarchies and x.how in told
    )
    is_presence = all(leaf.how == "presence" for leaf in labels) and use.clause == "where"
    if labels and not is_presence:
        yield f"{use.clause} looks at {described(declared, labels)}"


def _is_undeclared(declared: Declared, leaf: Leaf) -> bool:
    people = {declared.source, declared.population} - {None}
    return leaf.relation in people and leaf.named not in declared.known


def _is_about_subjects(declared: Declared, role: str, use: Use) -> bool:
    """Tell whether a clause numbers the subjects, or counts these numbers."""
    secret = frozenset(x for x in use.leaves if x.named in declared.identifiers)
    if any(leaf.named != declared.subject for leaf in secret):
        return False
    if all(leaf.how == "count" for leaf in secret):
        return True
    if role == "microdata":
        if use.clause == "where":
            return all(leaf.how == "presence" for leaf in secret)
        if use.clause == "join":
            is_whole = all(leaf.how in {"value", "place"} for leaf in secret)
            return use.is_equality and use.leaves == secret and is_whole
        return use.clause in {"distinct", "window order"} and use.leaves == secret
    numbers = all(leaf.how in {"place", "count"} for leaf in secret)
    return numbers and role in _NUMBERED and use.clause in _GROUPS


def _joins_records(declared: Declared, role: str, use: Use, keys: Leaves) -> bool:
    if keys != use.leaves:
        return False
    if use.clause == "where":
        # A local recoding goes on with the records that no round has taken yet.
        return role == "recoding" and all(leaf.how == "presence" for leaf in keys)
    joins = role in _JOIN_RECORDS or (role == "anonymized" and declared.spec.mapping == "token")
    is_whole = all(leaf.how == "value" for leaf in keys)
    return use.clause == "join" and use.is_equality and joins and is_whole


def _raw_problems(
    declared: Declared, role: str, use: Use, zero_level: frozenset[str]
) -> Iterator[str]:
    if use.clause == "join":
        if not _joins_one_family(declared, role, use):
            yield f"{use.clause} compares {described(declared, use.leaves)} with each other"
        return
    sharp = declared.sharp(use.leaves)
    if use.clause in _FILTERS and role == "microdata":
        # No record is left out there for its values, not even for how many share them.
        sharp |= {declared.raw[x.named] for x in use.leaves if _is_counted(declared, x)}
    if use.clause in _GROUPS or use.clause == "window order":
        people = {declared.source, declared.population} - {None}
        # The rows of a hierarchy alone are nobody's.
        is_about_people = any(leaf.relation in people for leaf in use.leaves)
        if role in _COUNT_RAW_VALUES or not is_about_people:
            return
        sharp -= zero_level
    elif role in {"effort", "anonymized"}:
        sharp -= zero_level
    for name in sorted(sharp):
        yield f"{use.clause} looks at the raw quasi-identifier {name}"


def _is_counted(declared: Declared, leaf: Leaf) -> bool:
    return leaf.named in declared.raw and leaf.how == "count"


def _joins_one_family(declared: Declared, role: str, use: Use) -> bool:
    """Tell whether a join compares a column with itself or with its own hierarchy."""
    compared = {leaf for leaf in use.leaves if leaf.relation}
    secret = declared.identifiers | declared.record_keys
    # Numbers and places in a class are compared where classes are measured; NULL is a label.
    measured = {"count", "place", "tally"} if role in {"classes", "recoding"} else set[str]()
    harmless = {"presence"} | measured
    has_count = any(not leaf.relation for leaf in use.leaves)
    compared = {leaf for leaf in compared if leaf.named not in secret and leaf.how not in harmless}
    if not compared or (has_count and not measured):
        return not has_count or bool(measured)
    if role == "classes" and all(leaf.relation in declared.hierarchies for leaf in compared):
        # Shares of labels are looked up there; without a person, nobody is told apart.
        return True
    families = [f for f in declared.families() if {leaf.named for leaf in compared} <= f]
    if not families:
        return False
    # What is computed from raw values, or left of them, may part them in a way that no label does.
    if any(leaf.how != "value" and declared.is_sharp(leaf) for leaf in compared):
        return False
    is_kept = any(leaf.named in declared.kept for leaf in compared)
    if is_kept:
        return role not in {"effort", "anonymized"}
    return use.is_equality or role in _FIND_LEAVES


def stored_problems(declared: Declared, role: str, table: Table) -> Iterator[str]:
    """Give what a relation of the warehouse must not hold, whether it is released or not.

    Parameters
    ----------
    declared : Declared
        The anonymization.
    role : str
        What the relation is for.
    table : Table
        Its columns.
    """
    for column in table[0].columns if table else ():
        leaves = column_of(table, column)
        secret = frozenset(x for x in leaves if x.named in declared.identifiers)
        if secret and not _numbers_subjects(declared, role, secret):
            yield f"its column {column} holds {described(declared, secret)}"
        keys = frozenset(x for x in leaves if x.named in declared.record_keys)
        has_key = role in {"microdata", "effort", "recoding"}
        if keys and not (has_key and column == declared.spec.record_key.lower() and keys == leaves):
            yield f"its column {column} holds {described(declared, keys)}"


def _numbers_subjects(declared: Declared, role: str, secret: Leaves) -> bool:
    if any(leaf.named != declared.subject for leaf in secret):
        return False
    if all(leaf.how == "count" for leaf in secret):
        return True
    return role in _NUMBERED and all(leaf.how in {"place", "count"} for leaf in secret)


def zero_levels(declared: Declared, effort: Effort) -> frozenset[str]:
    """Return the quasi-identifiers that an effort releases as they are, at least for some records.

    Parameters
    ----------
    declared : Declared
        The anonymization.
    effort : Effort
        The effort.
    """
    names = declared.spec.quasi_identifiers
    return frozenset(name for name in names if 0 in declared.levels(effort, name))
