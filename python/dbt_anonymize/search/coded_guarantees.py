"""The guarantees of a spec as a search takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec


def coded_guarantees(warehouse: Warehouse, spec: Spec) -> list[dict[str, Any]]:
    """Return the guarantees as a search takes them: limited values by their codes.

    Parameters
    ----------
    warehouse : Warehouse
        Where ``<n>_frequencies`` is built.
    spec : Spec
        Its guarantees name the values themselves.

    Returns
    -------
    list of dict
        As ``spec.guarantees.resolved``. A limited value that does not occur limits nothing.
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
                names=[_as_warehouse_text(value) for value in guarantee["values"]],
            )
        )
        guarantees.append({**guarantee, "values": codes["code"].astype(np.int64).tolist()})
    return guarantees


def _as_warehouse_text(value: object) -> str:
    """Return a value of a spec as a warehouse casts it to text."""
    return str(value).lower() if isinstance(value, bool) else str(value)
