"""Report after a build which features have more categories than a model reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.category_limits import consequences, distinct_counts, level_names

if TYPE_CHECKING:
    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Spec

_TEXT_TYPES = ("char", "text", "string", "enum", "uuid")


def limits_in_warehouse(warehouse: Warehouse, spec: Spec) -> list[str]:
    """Return a sentence for each feature with too many categories in ``<n>_microdata``."""
    relation = warehouse.relation_of_ref(f"{spec.name}_microdata")
    texts = {
        name
        for name, kind in warehouse.columns(relation)
        if any(part in kind.lower() for part in _TEXT_TYPES)
    }
    warnings: list[str] = []
    for name in spec.features:
        tree = spec.quasi_identifiers.get(name)
        if tree is None and name in texts:
            ((size,),) = warehouse.rows(f"select {distinct_counts([name])} from {relation}")  # noqa: S608
            warnings += consequences(spec, name, [size])
        elif tree is not None and tree.kind == "categorical":
            column = f"cast({quote_name(name)} as text)"
            occurs = f"cast(value as text) in (select {column} from {relation})"  # noqa: S608
            columns = distinct_counts(["value", *level_names(tree.levels)])
            hierarchy = warehouse.relation_of_ref(tree.ref)
            (sizes,) = warehouse.rows(f"select {columns} from {hierarchy} where {occurs}")  # noqa: S608
            warnings += consequences(spec, name, sizes)
    return warnings
