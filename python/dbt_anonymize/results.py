"""What the last build found: the results of an anonymization as a table for people."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.spec import Spec
from dbt_anonymize.warehouse import Warehouse


@dataclass(frozen=True)
class EffortResult:
    """One row of ``<n>_results``; the fields are columns of that relation."""

    effort: int
    k: int | None
    suppressed_records: int
    qf_mean: float | None
    qf_low: float | None
    qf_high: float | None
    qnf: float | None
    q: float | None
    qualifies: bool
    is_chosen: bool
    reason: str

    @property
    def qf_half_interval(self) -> float | None:
        """Half the width of the interval of QF; None where one split gives none."""
        if self.qf_low is None or self.qf_high is None:
            return None
        return (self.qf_high - self.qf_low) / 2


def read_results(warehouse: Warehouse, name: str) -> list[EffortResult]:
    """Read the results of an anonymization.

    Parameters
    ----------
    warehouse : Warehouse
        Where it was built.
    name : str
        Name of the anonymization.

    Returns
    -------
    list of EffortResult
        Ordered by effort.

    Raises
    ------
    WarehouseError
        If it was not built yet.
    """
    relation = warehouse.relation_of_ref(f"{name}_results")
    columns = ", ".join(field.name for field in fields(EffortResult))
    sql = f"select {columns} from {relation} order by effort"  # noqa: S608 (names of our own)
    return [EffortResult(*row) for row in warehouse.rows(sql)]


def is_of(warehouse: Warehouse, spec: Spec) -> bool:
    """Whether the results are of the spec as it is now.

    A build knows the generated models only: what was changed in a spec since counts for nothing
    until they are generated again.

    Parameters
    ----------
    warehouse : Warehouse
        Where it was built.
    spec : Spec
        The anonymization.
    """
    relation = warehouse.relation_of_ref(f"{spec.name}_results")
    sql = f"select distinct fingerprint from {relation}"  # noqa: S608 (name of our own)
    return warehouse.rows(sql) == [(spec.fingerprint,)]


def release_file(warehouse: Warehouse, name: str) -> Path:
    """Return where the release of an anonymization is published, relative to the project.

    Parameters
    ----------
    warehouse : Warehouse
        Where it is built; the file depends on its target.
    name : str
        Name of the anonymization.
    """
    return Path(warehouse.meta(f"{name}_anonymized")["path"])


def place_of_release(warehouse: Warehouse, name: str) -> str | None:
    """Return where the release of an anonymization is, or None where there is none yet.

    Parameters
    ----------
    warehouse : Warehouse
        Where it is built; its project is the working directory.
    name : str
        Name of the anonymization.

    Returns
    -------
    str or None
        The file (DuckDB), relative to the project; elsewhere the relation, which is granted.
    """
    if warehouse.is_duckdb:
        file = release_file(warehouse, name)
        return str(file) if file.is_file() else None
    try:
        return str(warehouse.relation_of_ref(f"{name}_anonymized"))
    except WarehouseError:
        return None
