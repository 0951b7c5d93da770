"""A declared guarantee judged by its definition in ``privacy``, from counts instead of records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.privacy.compiler import Compiler
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.registry import MODELS, model_of
from dbt_anonymize.privacy.table import Classes, SensitiveAttribute, Table, ValueCounts

_NOBODY: Ints = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Values:
    """Values of one sensitive attribute, in each class and in the whole table.

    - ``cells``: records, or subjects, by class and value, in this order; values that the whole
      table lacks come last.
    - ``totals``, ``texts``: records, or subjects, of the whole table by value, and the text of each
      value, in the order of the data type, NULL last.
    - ``labels``: the label of each value at each level of its hierarchy below the root, as numbers
      from 0.
    """

    name: str
    cells: ValueCounts
    totals: Ints
    texts: tuple[str | None, ...] = ()
    labels: tuple[Ints, ...] = ()

    def without_unknown(self) -> ValueCounts:
        """Return the cells without values that the whole table lacks."""
        cells, in_table = self.cells, self.cells.values < len(self.totals)
        return ValueCounts(cells.classes[in_table], cells.values[in_table], cells.counts[in_table])


@dataclass(frozen=True)
class ClassCounts:
    """Counts of classes and whole table that a guarantee needs; arrays are (classes,).

    ``sizes`` and ``everybody`` count records, or subjects where they are declared; ``population``
    counts the people of the population with the labels of a class.
    """

    sizes: Ints
    everybody: int = 0
    has_subject: bool = False
    values: Values | None = None
    population: Ints | None = None
    population_size: int | None = None
    losses: Floats | None = None

    def broken(self, guarantee: Mapping[str, Any]) -> Bools:
        """Return a mask of the classes that break a guarantee by themselves.

        All do if it can never hold. A value that the whole table lacks breaks every guarantee that
        compares with the table.
        """
        model, rules = MODELS[guarantee["model"]], self.compiled(guarantee)
        violations = np.ones(len(self.sizes), dtype=np.bool_)
        if rules is None:
            return violations
        cells: tuple[ValueCounts, ...] = ()
        outside = _NOBODY
        if (values := self.values) is not None:
            cells = (values.cells,)
            if model.COMPARES_WITH_TABLE:
                cells = (values.without_unknown(),)
                outside = values.cells.classes[values.cells.values >= len(values.totals)]
        violations = rules.violating(self.classes(cells))
        violations[outside] = True
        return violations | (self.sizes < model.recounted_size(guarantee))

    def compiled(self, guarantee: Mapping[str, Any]) -> Guarantees | None:
        """Return the checks of a guarantee, or None if it can never hold."""
        values, codes = self.values, _NOBODY
        sensitive: tuple[tuple[SensitiveAttribute, Ints], ...] = ()
        if values is not None:
            size = int(max(len(values.totals), 1 + values.cells.values.max(initial=-1)))
            tree = (np.arange(len(values.totals)), *values.labels, np.zeros_like(values.totals))
            sensitive = ((SensitiveAttribute(values.name, size, tree), codes),)
            if "values" in guarantee:
                limited = {_as_text(value) for value in guarantee["values"]}
                numbers = [code for code, text in enumerate(values.texts) if text in limited]
                guarantee = {**guarantee, "values": numbers}
        table = Table(
            attributes=(),
            leaves=np.zeros((0, 0), dtype=np.int64),
            records=_NOBODY,
            sensitive=sensitive,
            subject=_NOBODY if self.has_subject else None,
            population=self.population,
            population_size=self.population_size,
        )
        compiler = _Compiler(names=[guarantee["model"]], table=table, counted=self)
        model_of(guarantee).compile(compiler)
        return None if compiler.problems else compiler.finish()

    def classes(self, cells: tuple[ValueCounts, ...] = ()) -> Classes:
        """Return the classes for privacy models, in the order of their labels."""
        order = np.arange(len(self.sizes))
        return Classes(
            levels=(),
            codes=order[:, None],
            records=self.sizes,
            people=self.sizes,
            first=order,
            population=self.population,
            values=cells,
            losses=self.losses,
        )


@dataclass
class _Compiler(Compiler):
    """A compiler that knows the whole table by counts."""

    counted: ClassCounts = field(kw_only=True)

    @property
    def people(self) -> int:
        """Number of records or subjects that could be released."""
        return self.counted.everybody

    def global_shares(self, position: int) -> Floats:
        """Return the share of each value in the whole table."""
        assert self.counted.values is not None  # as there is a position
        totals = self.counted.values.totals
        return np.asarray(totals / max(totals.sum(), 1), dtype=np.float64)


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
