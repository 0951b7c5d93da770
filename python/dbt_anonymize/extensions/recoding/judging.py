"""Guarantees about classes, which recodings keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dbt_anonymize.arrays import Bools, Ints
from dbt_anonymize.errors import RecodingError, SearchError
from dbt_anonymize.evaluation.data.relations import value_text
from dbt_anonymize.extensions.recoding.records import Records
from dbt_anonymize.privacy.grouping import count_classes
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.registry import compile_guarantees, model_of
from dbt_anonymize.privacy.table import Table


@dataclass(frozen=True)
class Judge:
    """Judges classes by the guarantees; P, the whole table, is that of all records.

    ``guarantees`` is None where no class can keep them.
    """

    table: Table
    guarantees: Guarantees | None
    k: int

    @classmethod
    def of(cls, records: Records, *, has_labels: bool = False) -> Judge:
        """Compile the guarantees of a recoding; those about labels only if it ``has_labels``."""
        source, required = records.source, []
        for guarantee in source.guarantees:
            if model_of(guarantee).needed_population(guarantee) == "table":
                raise RecodingError(
                    f"{guarantee['model']} cannot be kept by a recoding that differs per record, "
                    "since nobody outside the source has a record in it. Use an effort with "
                    "levels, or another guarantee."
                )
            if has_labels or not model_of(guarantee).READS_LABELS:
                required.append(_with_codes(guarantee, records))
        if source.k:
            required.append({"model": "k_anonymity", "k": source.k})
        k = max([g["k"] for g in required if g["model"] == "k_anonymity"], default=1)
        try:
            compiled = compile_guarantees(required, records.table)
        except SearchError:
            return cls(records.table, None, k)
        return cls(records.table, compiled, k)

    @property
    def counts_alone(self) -> bool:
        """Tell whether a class of k records keeps all guarantees."""
        return (
            self.guarantees is not None
            and self.guarantees.is_class_size_alone
            and self.guarantees.min_class_size <= self.k
            and self.table.subject is None
        )

    def violating(self, rows: Ints, class_of_row: Ints, classes: int) -> Bools:
        """Return a mask of the classes of these rows that break a guarantee."""
        if self.guarantees is None:
            return np.ones(classes, dtype=np.bool_)
        part = select_rows(self.table, rows)
        return self.guarantees.violating(count_classes(part, class_of_row, classes))


def _with_codes(guarantee: Mapping[str, Any], records: Records) -> dict[str, Any]:
    """Return a guarantee with its ``values`` as codes, without values that do not occur."""
    if "values" not in guarantee:
        return dict(guarantee)
    texts = list(records.sensitive_texts[guarantee["attribute"]])
    texts_of_values = [value_text(value) for value in guarantee["values"]]
    return {**guarantee, "values": [texts.index(text) for text in texts_of_values if text in texts]}


def select_rows(table: Table, rows: Ints | Bools) -> Table:
    """Return a table with some of the rows."""
    return replace(
        table,
        leaves=table.leaves[rows],
        records=table.records[rows],
        sensitive=tuple((attribute, values[rows]) for attribute, values in table.sensitive),
        subject=None if table.subject is None else table.subject[rows],
        targets=tuple((values[rows], weight) for values, weight in table.targets),
        predictions=None if table.predictions is None else table.predictions[rows],
    )
