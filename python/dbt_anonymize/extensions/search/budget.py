"""Budget spent on differentially private looks at a source, beside the releases of builds."""

from __future__ import annotations

from typing import Any

from dbt_anonymize.errors import VaultError
from dbt_anonymize.privacy.model import Mechanism
from dbt_anonymize.project.vault_owner import require_own_vault
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec

# Sums of decimals in double precision.
_TOLERANCE = 1 + 1e-9


def spend_on_search(warehouse: Warehouse, spec: Spec, private: Mechanism) -> None:
    """Pay for one search before it reads the data; a `VaultError` if the budget is exceeded.

    A search is drawn anew each time, so each costs ``search_epsilon``.
    """
    assert private.search_epsilon is not None  # the caller refuses a search without
    require_own_vault(warehouse, spec)
    budget = warehouse.macro(
        "_budget_relation", anonymization=spec.name, beside=_sample(warehouse, spec)
    )
    source = spec.source.name
    mark = "?" if warehouse.is_duckdb else "%s"
    with warehouse.transaction() as cursor:
        cursor.execute(warehouse.macro("_budget_table", budget=budget))
        cursor.execute(
            f"select coalesce(sum(epsilon), 0) from {budget} where source = {mark}",  # noqa: S608
            [source],
        )
        spent = float(cursor.fetchall()[0][0])
        total = private.total_epsilon or private.epsilon
        if spent + private.search_epsilon > total * _TOLERANCE:
            raise VaultError(
                f"{spec.name}: all private looks at {source} together may cost epsilon {total:g}; "
                f"{spent:g} is spent, and a search adds {private.search_epsilon:g}. Keep the "
                "levels that were drawn, or raise total_epsilon of differential_privacy."
            )
        cursor.execute(
            f"insert into {budget} (source, anonymization, spent_at, epsilon, delta, data, content)"  # noqa: S608
            f" values ({mark}, {mark}, current_timestamp, {mark}, 0, '', 'search')",
            [source, spec.name, private.search_epsilon],
        )


def _sample(warehouse: Warehouse, spec: Spec) -> Any:
    remedy = f"Run `dbt build --select +{spec.name}_frequencies`."
    return warehouse.relation_of_ref(f"{spec.name}_sample", remedy=remedy)
