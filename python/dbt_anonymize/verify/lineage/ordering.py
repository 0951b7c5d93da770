"""In which order the release is written: by what it shows and by nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp


def order_problem(query: Any, columns: Sequence[str]) -> str | None:
    """Return what is wrong with the order of the rows of a release; None if nothing is.

    Rows come in the order in which they are stored where nothing orders them, and that may be the
    order of the record key. So the outermost query must order by all released columns.

    Parameters
    ----------
    query : Expression
        The SQL of the release.
    columns : sequence of str
        The released columns in order, in lower case.

    Examples
    --------
    >>> from sqlglot import parse_one
    >>> order_problem(parse_one("select a, t.b from t order by a, t.b"), ["a", "b"])
    >>> order_problem(parse_one("select a, b from t order by a"), ["a", "b"])
    'must be ordered by all released columns, else rows come as they are stored; missing: b'
    """
    order = query.args.get("order")
    given = list(query.expressions) if isinstance(query, exp.Select) else []
    shown = dict(zip((e.alias_or_name.lower() for e in given), given, strict=False))
    found = set()
    for key in order.expressions if order is not None else []:
        name = _released(key.this if isinstance(key, exp.Ordered) else key, given, shown)
        if name is None:
            return "must be ordered by released columns and nothing else"
        found.add(name)
    missing = [column for column in columns if column not in found]
    if not missing:
        return None
    return (
        "must be ordered by all released columns, else rows come as they are stored; missing: "
        f"{', '.join(missing)}"
    )


def _released(key: Any, given: list[Any], shown: dict[str, Any]) -> str | None:
    """Return the released column that a key of the order is."""
    if isinstance(key, exp.Literal) and not key.is_string:
        place = int(key.name)
        return given[place - 1].alias_or_name.lower() if 0 < place <= len(given) else None
    if not isinstance(key, exp.Column):
        return None
    name: str = key.name.lower()
    # A name alone is first that of what is shown; with a relation, it must be what is shown.
    if name in shown and (not key.table or shown[name].unalias() == key):
        return name
    return None
