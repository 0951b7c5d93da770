"""The memory in which combinations of linked records are counted."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from dbt_anonymize.arrays import Ints
from dbt_anonymize.evaluation.data.relations import query
from dbt_anonymize.extensions.linked.suppression.records import LinkError

if TYPE_CHECKING:
    import duckdb

_SETTING = "select current_setting('memory_limit') as memory"
_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
# What a combination takes while it is counted, measured with 2 to 4 records.
_BYTES = 100


def memory_of(relation: duckdb.DuckDBPyRelation) -> int:
    """Return the memory limit of a relation's connection, in bytes."""
    return _bytes(str(query(relation, _SETTING).fetchnumpy()["memory"][0]))


@cache
def memory_by_default() -> int:
    """Return the memory limit that DuckDB sets by itself, a part of what there is, in bytes."""
    import duckdb  # noqa: PLC0415 (not every adapter has it)

    with duckdb.connect() as connection:
        ((text,),) = connection.execute(_SETTING).fetchall()
    return _bytes(str(text))


def require_memory(combinations: int, size: int, subject: Ints, memory: int) -> None:
    """Require that so many combinations of ``size`` records fit into ``memory`` bytes.

    ``subject`` has the subject of each record. Else it is a `LinkError`, before any is written
    down.
    """
    needed = _BYTES * combinations
    if needed > memory:
        raise LinkError(
            f"combinations of {size} known records must be counted in {memory / 2**30:.1f} GiB, "
            f"the memory limit of DuckDB; {combinations:,} take {needed / 2**30:.1f} GiB. Lower "
            "known_records, leave out records of those who have most in a model before (one has "
            f"{np.bincount(subject).max():,}), generalize further, or raise memory_limit in the "
            "profile."
        )


def _bytes(text: str) -> int:
    """Return a size as DuckDB writes it, in bytes.

    Examples
    --------
    >>> _bytes("1.5 GiB")
    1610612736
    """
    number, unit = text.split()
    return int(float(number) * _UNITS[unit])
