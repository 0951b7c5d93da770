"""What each released column may be made of."""

from __future__ import annotations

from dbt_anonymize.spec.efforts import Effort
from dbt_anonymize.verify.lineage.declared import Declared
from dbt_anonymize.verify.lineage.origins import Leaf, Leaves, Named


def column_problem(declared: Declared, effort: Effort, column: str, leaves: Leaves) -> str | None:
    """Return why a released column is not what the spec declares; None if it is.

    Parameters
    ----------
    declared : Declared
        The anonymization.
    effort : Effort
        The effort that is released.
    column : str
        One of ``Spec.released_columns``.
    leaves : frozenset of Leaf
        What the column is made of.
    """
    spec = declared.spec
    if column in spec.kept_columns:
        return _kept_problem(declared, column, leaves)
    if column == "token" and spec.mapping == "token":
        token = Leaf(f"{spec.name}_identifiers", "token")
        if leaves == {token}:
            return None
        return f"must be the stored token and nothing else; it is made of {_listed(leaves)}"
    if column == "cqi":
        allowed = dict.fromkeys(spec.quasi_identifiers, _is_label)
    else:
        name, part = _of_column(declared, column)
        allowed = {name: _is_label if part == "label" else _is_bound}
    foreign = frozenset(
        leaf
        for leaf in leaves
        if not any(is_part(declared, effort, name, leaf) for name, is_part in allowed.items())
    )
    if not foreign:
        return None
    return f"must be a generalized label; it is made of {described(declared, foreign)}"


def _kept_problem(declared: Declared, column: str, leaves: Leaves) -> str | None:
    expected = Leaf(declared.source, column.lower())
    if leaves == {expected}:
        return None
    others = leaves - {expected}
    if not others:
        return f"must come from the column {column} of {declared.source}; it does not"
    return (
        f"must come from the column {column} of {declared.source} and nothing else; it is made of "
        f"{described(declared, others)}"
    )


def _of_column(declared: Declared, column: str) -> tuple[str, str]:
    for name, hierarchy in declared.spec.quasi_identifiers.items():
        if column == name:
            return name, "label"
        if hierarchy.kind == "interval" and column in {f"{name}_lower", f"{name}_upper"}:
            return name, "bound"
    raise KeyError(column)


def _is_label(declared: Declared, effort: Effort, name: str, leaf: Leaf) -> bool:
    levels = declared.levels(effort, name)
    if leaf.named == (declared.source, name.lower()):
        return leaf.how == "presence" or 0 in levels
    ref = declared.spec.quasi_identifiers[name].ref
    return leaf.named in {(ref, f"level_{level}") for level in levels if level > 0}


def _is_bound(declared: Declared, effort: Effort, name: str, leaf: Leaf) -> bool:
    levels = declared.levels(effort, name)
    if leaf.named == (declared.source, name.lower()):
        return leaf.how == "presence" or 0 in levels
    ref = declared.spec.quasi_identifiers[name].ref
    if leaf.relation != ref or leaf.column not in {"lower_bound", "upper_bound"}:
        return False
    # The ends of what a label covers, or of the whole range.
    groups: list[frozenset[Named]] = [frozenset({(ref, f"level_{level}")}) for level in levels]
    return leaf.how == "summary" and leaf.per in [frozenset(), *groups]


def described(declared: Declared, leaves: Leaves) -> str:
    """Return what leaves are, by role and name.

    Parameters
    ----------
    declared : Declared
        The anonymization.
    leaves : frozenset of Leaf
        At least one.
    """
    return ", ".join(sorted({_description(declared, leaf) for leaf in leaves}))


def _description(declared: Declared, leaf: Leaf) -> str:  # noqa: PLR0911 (one per role)
    named = leaf.named
    if named in declared.identifiers:
        return f"the identifier {leaf.column}"
    if leaf.relation in declared.vault:
        return f"{leaf.column} of the vault ({leaf.relation})"
    if named in declared.record_keys:
        return f"the record key {leaf.column}"
    if named in declared.raw:
        return f"the raw quasi-identifier {leaf.column}"
    if leaf.how == "count" and not leaf.relation:
        return "a count of rows"
    if leaf.relation == declared.source and named not in declared.known:
        return f"the undeclared column {leaf.column}"
    return f"{leaf.column} of {leaf.relation}"


def _listed(leaves: Leaves) -> str:
    return ", ".join(sorted(f"{x.relation}.{x.column}" for x in leaves)) or "nothing"
