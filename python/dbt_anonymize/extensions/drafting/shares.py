"""Share of the variance of a column explained by groups of the values of another column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse

# Most values of a column that are groups; number of groups of numbers and dates with more values.
MOST_VALUES, _GROUPS = 100, 20


def explained_share(groups: Iterable[tuple[float, float]], total: float) -> float:
    """Return the share of a variance that groups explain, corrected for chance.

    Each group has its number of records and its sum of squares around its own mean; ``total`` is
    the variance of all records. A group of one record explains nothing.

    Examples
    --------
    >>> explained_share([(10, 0.0), (10, 0.0)], 0.25), explained_share([(1, 0.0), (1, 0.0)], 0.25)
    (1.0, 0.0)
    """
    group_list = list(groups)
    records = sum(count for count, _ in group_list)
    within = sum(
        count * (squares / (count - 1) if count > 1 else total) for count, squares in group_list
    )
    share = 1.0 - within / (records * total) if records and total > 0 else 0.0
    return share if np.isfinite(share) else 0.0


def group_sql(facts: ColumnFacts) -> str | None:
    """Return the SQL of the group of a value; None for too many texts."""
    quoted = quote_name(facts.name)
    if facts.kind != "other" and facts.distinct <= MOST_VALUES:
        return quoted
    if facts.kind in {"number", "date", "timestamp"}:
        return f"ntile({_GROUPS}) over (order by {quoted})"
    return None


def explained_share_of_number(
    warehouse: Warehouse, relation: Any, group: str, target: str
) -> float:
    """Return the share of the variance of a number that groups explain."""
    source = f"from (select {group} as g, {target} as y from {relation} where {target} is not null)"  # noqa: S608 (quoted)
    groups = warehouse.rows(f"select count(*), var_samp(y) {source} as grouped group by g")
    ((total,),) = warehouse.rows(f"select var_samp(y) {source} as known")
    squares = ((count, (count - 1) * float(spread or 0)) for count, spread in groups)
    return explained_share(squares, float(total or 0))


def explained_share_of_classes(
    warehouse: Warehouse, relation: Any, group: str, target: str
) -> float:
    """Return the share of the variance of classes, 0 or 1 each, that groups explain."""
    rows = warehouse.rows(
        f"select g, y, count(*) from (select {group} as g, {target} as y from {relation} "  # noqa: S608 (quoted)
        f"where {target} is not null) as grouped group by g, y"
    )
    counts_by_group: dict[Any, list[int]] = {}
    counts_by_class: dict[Any, int] = {}
    for value, label, count in rows:
        counts_by_group.setdefault(value, []).append(int(count))
        counts_by_class[label] = counts_by_class.get(label, 0) + int(count)
    records = sum(counts_by_class.values())
    total = _spread([*counts_by_class.values()]) / max(records - 1, 1)
    return explained_share(
        ((sum(counts), _spread(counts)) for counts in counts_by_group.values()), total
    )


def _spread(counts: Sequence[int]) -> float:
    """Return the sum of squares of classes, 0 or 1 each, around their shares."""
    sizes = np.array(counts, dtype=float)
    return float(sizes.sum() - (sizes**2).sum() / sizes.sum()) if counts else 0.0
