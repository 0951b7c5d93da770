"""Suppression recounted on the training records alone.

An anonymization that has seen the test records may look better than it is: a class may be large
enough only together with them. The checks of the search are applied to the training records alone,
at the declared levels. Records that violate a guarantee are suppressed even beyond the suppression
limit: models that saw records of too small classes would look better under a stricter limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dbt_anonymize.arrays import Bools, Ints
from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.privacy.grouping import classes_of, group
from dbt_anonymize.privacy.registry import MODELS, compile_guarantees, counts_in_population
from dbt_anonymize.privacy.table import Attribute, SensitiveAttribute, Table


@dataclass(frozen=True)
class Recount:
    """Data for checking the guarantees on a subset of the records.

    Attributes
    ----------
    guarantees : sequence of mapping
        As a spec resolves them; ``values`` of ``alpha_k_anonymity`` as codes.
    sensitive : mapping of str to array of int, shape (records,)
        Sensitive attributes of the guarantees; codes in the order of the type.
    subjects : array of int, shape (records,), or None
        Subject of each record: each counts once.
    population_size : int or None
        For estimators.
    """

    guarantees: Sequence[Mapping[str, Any]]
    sensitive: Mapping[str, Ints]
    subjects: Ints | None = None
    population_size: int | None = None


def check_recountable(
    guarantees: Sequence[Mapping[str, Any]], *, may_fit_once: bool = True
) -> None:
    """Raise an `EvaluationError` if a guarantee needs more than the training records."""
    remedy = "Use fit: once." if may_fit_once else "Declare another guarantee."
    for guarantee in guarantees:
        model = guarantee["model"]
        if counts_in_population(model, guarantee):
            raise EvaluationError(
                f"fit: per_split must be able to check {model} on the training records alone, but "
                f"a population has no training part. {remedy}"
            )
        if MODELS[model].READS_LABELS:
            raise EvaluationError(
                "fit: per_split must be able to check a guarantee by the sizes and values of "
                f"classes alone, but {model} reads what labels lose. {remedy}"
            )
        if guarantee.get("distance") == "hierarchical":
            raise EvaluationError(
                f"fit: per_split checks {model} with the distances equal and ordered; got "
                f"hierarchical. {remedy}"
            )


@dataclass(frozen=True)
class TrainingTable:
    """The training records of a split in the form of the checks, and the guarantees."""

    table: Table
    guarantees: Sequence[Mapping[str, Any]]
    train: Ints

    def suppressed(self, classes: Ints, k: int | None = None) -> Bools:
        """Return a mask of the training records that an effort would suppress, however many.

        ``classes`` are the equivalence classes of all records in this effort. A guarantee that can
        never hold is a `SearchError`.
        """
        declared = [*self.guarantees]
        if k is not None:
            declared.append({"model": "k_anonymity", "k": k})
        guarantees = compile_guarantees(declared, self.table)
        # The class is the only attribute, with a single level.
        size = int(classes.max()) + 1
        attribute = Attribute("class", (np.arange(size),), (np.zeros(size),), size, 0.0)
        leaves = classes[self.train][:, None]
        class_counts = classes_of(replace(self.table, attributes=(attribute,), leaves=leaves), (0,))
        suppressed = guarantees.suppress(class_counts, guarantees.violating(class_counts))
        _, member = group(leaves)
        return np.asarray(suppressed[member])


def training_table(recount: Recount, train: Ints) -> TrainingTable:
    """Return the training records of a split, for all efforts."""
    records = len(train)
    sensitive = []
    occurring: dict[str, dict[int, int]] = {}
    for name, codes in recount.sensitive.items():
        values, own = np.unique(codes[train], return_inverse=True)
        occurring[name] = {int(value): position for position, value in enumerate(values)}
        sensitive.append((SensitiveAttribute(name, len(values)), own))
    table = Table(
        attributes=(),
        leaves=np.zeros((records, 0), dtype=np.int64),
        records=np.ones(records, dtype=np.int64),
        sensitive=tuple(sensitive),
        subject=None if recount.subjects is None else recount.subjects[train],
        population_size=recount.population_size,
    )
    guarantees = [_with_training_codes(guarantee, occurring) for guarantee in recount.guarantees]
    return TrainingTable(table, guarantees, train)


def _with_training_codes(
    guarantee: Mapping[str, Any], occurring: Mapping[str, Mapping[int, int]]
) -> Mapping[str, Any]:
    """Return a guarantee whose values are codes among those that occur in training records."""
    if guarantee.get("values") is None:
        return guarantee
    own = occurring[guarantee["attribute"]]
    return {**guarantee, "values": [own[value] for value in guarantee["values"] if value in own]}
