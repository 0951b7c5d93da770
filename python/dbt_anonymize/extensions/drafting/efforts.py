"""First efforts of a draft, searched with its planned hierarchies."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from dbt_anonymize.extensions.drafting.coded_table import count_combinations
from dbt_anonymize.extensions.drafting.equal_levels import with_distinct_levels
from dbt_anonymize.extensions.drafting.plans import Plan
from dbt_anonymize.extensions.search.chain import chain
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.losses.registry import make_loss
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.project.warehouse import Warehouse

# Most combinations and cells that a draft counts. Classes of a part of the table are smaller, so
# its efforts are too strong rather than too weak.
_MOST_COMBINATIONS, _MOST_CELLS = 200_000, 2_000_000
# Work of each effort, so that drafts are the same on every machine; time limit for large tables.
_WORK, _SECONDS = 150_000_000, 20.0


def first_efforts(
    warehouse: Warehouse,
    relation: Any,
    plans: Sequence[Plan],
    *,
    k: int,
    suppression_limit: float,
    length: int,
    subject: str | None = None,
) -> list[dict[str, int]]:
    """Return levels from weak to strong that keep k within the limit; empty if none do.

    With a ``subject``, a column, k counts its values.
    """
    if not plans:
        return []
    most_combinations = min(_MOST_COMBINATIONS, _MOST_CELLS // len(plans))
    counted = with_distinct_levels(
        warehouse,
        relation,
        count_combinations(warehouse, relation, plans, subject=subject, limit=most_combinations),
    )
    table = counted.table
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": k}], table)
    limit = Decimal(str(suppression_limit))
    loss = make_loss("loss")
    efforts_chain = chain(table, guarantees, loss, limit, length, work=_WORK, clock=Clock(_SECONDS))
    found = [counted.finest(checked.node) for _, checked in efforts_chain.points]
    nodes = [node for node in dict.fromkeys(found) if any(node)]
    return [{plan.column: level for plan, level in zip(plans, node, strict=True)} for node in nodes]
