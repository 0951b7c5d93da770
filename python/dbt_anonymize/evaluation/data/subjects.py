"""Read the subjects of records, and the sensitive attributes of guarantees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Ints
from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.data.reading import EffortReader
from dbt_anonymize.evaluation.data.relations import SOURCE, query, text_sql, value_text
from dbt_anonymize.evaluation.suppression import Recount
from dbt_anonymize.literals import quote_name

if TYPE_CHECKING:
    import duckdb


def read_subjects(
    relation: duckdb.DuckDBPyRelation, column: str, reader: EffortReader, keys: NDArray[Any]
) -> Ints:
    """Return a code for the subject of each record.

    ``relation`` holds the record key and the subject. A NULL subject, or record keys that differ
    from ``keys`` of the untouched effort, are an `EvaluationError`.
    """
    missing = f"count(*) filter (where {quote_name(column)} is null)"
    sql = f"select {missing} from {SOURCE}"  # noqa: S608
    nulls = query(reader.sample.restrict(relation), sql).fetchall()[0][0]
    if nulls:
        raise EvaluationError(
            f"subject `{column}` must be known for every record; got {nulls} NULL. Say whose they "
            "are, or leave them out of the source."
        )
    return reader.read_column(relation, rank_sql(column), keys, "subjects").astype(np.int64)


def rank_sql(column: str) -> str:
    """Return SQL for the 0-based dense rank of a value; NULL is last."""
    return f"dense_rank() over (order by {quote_name(column)} nulls last) - 1"


def make_recount(
    reader: EffortReader,
    guarantees: Sequence[Mapping[str, Any]],
    values: Mapping[str, NDArray[Any]],
    *,
    subjects: Ints | None,
    population_size: int | None,
) -> Recount:
    """Return the data to check resolved guarantees on training records alone.

    ``values`` holds the codes of each sensitive attribute as ``sensitive <name>``.
    """
    relation = reader.sample.restrict(reader.untouched.relation)
    declared: list[Mapping[str, Any]] = []
    for guarantee in guarantees:
        if guarantee.get("values") is None:
            declared.append(guarantee)
            continue
        limited = {value_text(value) for value in guarantee["values"]}
        texts = _texts_in_order(relation, guarantee["attribute"])
        codes = [code for code, text in enumerate(texts) if text in limited]
        declared.append({**guarantee, "values": codes})
    return Recount(
        guarantees=declared,
        sensitive={
            name: values[f"sensitive {name}"].astype(np.int64)
            for name in sensitive_attributes(guarantees)
        },
        subjects=subjects,
        population_size=population_size,
    )


def sensitive_attributes(guarantees: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the attributes that guarantees name, in their order."""
    return list(dict.fromkeys(g["attribute"] for g in guarantees if g.get("attribute")))


def _texts_in_order(relation: duckdb.DuckDBPyRelation, column: str) -> list[str | None]:
    """Return the texts of the distinct values in the order of `rank_sql`."""
    name = quote_name(column)
    distinct = f"select distinct {name} from {SOURCE}"  # noqa: S608
    sql = f"select {text_sql(column)} from ({distinct}) as texts order by {name} nulls last"  # noqa: S608
    return [row[0] for row in query(relation, sql).fetchall()]
