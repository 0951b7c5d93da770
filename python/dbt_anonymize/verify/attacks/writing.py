"""``<n>_attacks``: what attacks gave, as a table of the warehouse beside ``<n>_results``."""

from __future__ import annotations

from collections.abc import Sequence

from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.attacks.result import AttackResult

# Kind of each column, in the order of the relation.
_COLUMNS = {
    "attack": "string",
    "against": "string",
    "attribute": "string",
    "measure": "string",
    "value": "double",
    "baseline": "double",
    "standard_error": "double",
    "declared_limit": "double",
    "holds": "boolean",
    "is_warning": "boolean",
    "subjects": "bigint",
    "explanation": "string",
}


def write_attacks(warehouse: Warehouse, spec: Spec, results: Sequence[AttackResult]) -> str:
    """Replace ``<n>_attacks``, beside ``<n>_results``; return its name."""
    relation = warehouse.relation_of_ref(f"{spec.name}_results").incorporate(
        path={"identifier": f"{spec.name}_attacks"}, type="table"
    )
    kinds = {"bigint": "type_bigint", "string": "type_string", "boolean": "type_boolean"}
    types = {kind: warehouse.macro(macro, package="dbt") for kind, macro in kinds.items()}
    types["double"] = warehouse.macro("_type_double")
    columns = {
        warehouse.macro("_quote", name=column): types[kind] for column, kind in _COLUMNS.items()
    }
    rows = [[getattr(result, column) for column in _COLUMNS] for result in results]
    warehouse.replace_table(relation, columns, rows)
    return str(relation.identifier)
