"""``<n>_attacks``: what attacks gave, as a table of the warehouse beside ``<n>_results``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.attacks.result import AttackResult

# The macro of a column's type, and its package, by the annotation of the field.
_TYPES = {
    "str": ("type_string", "dbt"),
    "bool": ("type_boolean", "dbt"),
    "int": ("type_bigint", "dbt"),
    "float": ("_type_double", "dbt_anonymize"),
}


def write_attacks(warehouse: Warehouse, spec: Spec, results: Sequence[AttackResult]) -> str:
    """Replace ``<n>_attacks``, beside ``<n>_results``; return its name."""
    relation = warehouse.relation_of_ref(f"{spec.name}_results").incorporate(
        path={"identifier": f"{spec.name}_attacks"}, type="table"
    )
    types = {
        name: warehouse.macro(macro, package=package) for name, (macro, package) in _TYPES.items()
    }
    # The explanation is the last, as it is long.
    columns = sorted(fields(AttackResult), key=lambda field: field.name == "explanation")
    warehouse.replace_table(
        relation,
        {
            warehouse.macro("_quote", name=column.name): types[
                str(column.type).removesuffix(" | None")
            ]
            for column in columns
        },
        [[getattr(result, column.name) for column in columns] for result in results],
    )
    return str(relation.identifier)
