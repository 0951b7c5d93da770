"""The guarantees of a spec with values as codes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dbt_anonymize.evaluation.data.relations import value_text
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec


def coded_guarantees(warehouse: Warehouse, spec: Spec) -> list[dict[str, Any]]:
    """Return ``spec.guarantees.resolved`` with limited values as codes of ``<n>_frequencies``.

    A limited value that does not occur limits nothing.
    """
    guarantees = []
    for guarantee in spec.guarantees.resolved:
        if "values" not in guarantee:
            guarantees.append(guarantee)
            continue
        codes = warehouse.numbers(
            warehouse.macro(
                "_search_kept_codes",
                frequencies=warehouse.relation_of_ref(f"{spec.name}_frequencies"),
                column=guarantee["attribute"],
                names=[value_text(value) for value in guarantee["values"]],
            )
        )
        guarantees.append({**guarantee, "values": codes["code"].astype(np.int64).tolist()})
    return guarantees
