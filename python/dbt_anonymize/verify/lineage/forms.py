"""Forms of SQL that are known: what else a part of a query has is refused."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from dbt_anonymize.verify.lineage.origins import Unresolvable


def argument(expression: exp.Expression, name: str) -> Any:
    """Return an argument whose name newer versions of sqlglot write with an underscore."""
    return expression.args.get(f"{name}_") or expression.args.get(name)


def only(expression: exp.Expression, known: frozenset[str], what: str) -> None:
    """Refuse a part of a query that has more than is known of its form."""
    unknown = {k.rstrip("_") for k, v in expression.args.items() if v not in (None, False, [], "")}
    if unknown - known:
        raise Unresolvable(
            f"has a {what} with something that is not known ({', '.join(sorted(unknown - known))})"
        )
