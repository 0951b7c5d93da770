"""Explain an infeasible search: the guarantee that fails, and the closest feasible parameter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.losses.registry import make_loss
from dbt_anonymize.extensions.search.optimum import search
from dbt_anonymize.extensions.search.unavoidable import is_impossible
from dbt_anonymize.privacy.grouping import classes_of
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.registry import MODELS, compile_guarantees
from dbt_anonymize.privacy.table import Classes, Node, Table

Guarantee = Mapping[str, Any]

# Seconds of a search that decides if some of the guarantees are feasible.
_PATIENCE = 10.0
# Number of coarsest nodes at which weaker parameters are tried.
_NODES = 30
_MOST_ENUMERATED = 1_000_000


@dataclass(frozen=True)
class _Parameter:
    """A parameter that can be weakened, in whole steps from its strongest value.

    Step s is ``strongest + s / scale`` where a larger value is weaker, else ``strongest - ...``.
    """

    name: str
    strongest: float
    weakest: float
    scale: int

    @property
    def steps(self) -> int:
        """Number of the weakest step."""
        return round(abs(self.weakest - self.strongest) * self.scale)

    def value(self, step: int) -> float:
        """Return the value of a step, without the noise of binary fractions."""
        sign = 1 if self.weakest > self.strongest else -1
        value = (round(self.strongest * self.scale) + sign * step) / self.scale
        return int(value) if self.scale == 1 else value


def explain_infeasible(
    table: Table, declared: Sequence[Guarantee], suppression_limit: Decimal, is_proven: bool
) -> str:
    """Explain why no node keeps all declared guarantees together.

    The text names each guarantee that cannot be kept by itself, with the closest value (rounded to
    the safe side) that one of the coarsest nodes keeps; or the guarantee that conflicts with the
    others. ``is_proven``: all nodes were searched, and no time limit ended the search.
    """
    most = int(suppression_limit * table.total)
    head = (
        f"no levels keep every guarantee with at most {most} of {table.total} records suppressed"
        if is_proven
        else "no levels that keep every guarantee were found within the time limit"
    )
    diagnosis = _Diagnosis(table, suppression_limit, most)
    failing = [g for g in declared if not diagnosis.is_feasible([g])]
    lines = [diagnosis.advice(g, []) for g in failing]
    if not failing:
        for place, guarantee in enumerate(declared):
            others = [*declared[:place], *declared[place + 1 :]]
            if others and diagnosis.is_feasible(others):
                lines.append(diagnosis.advice(guarantee, others))
        lines = lines or ["each guarantee can be kept by itself, but no two of them together"]
    remedies = ["Weaken what fails", "raise suppression_limit"]
    if any(attribute.top < attribute.height for attribute in table.attributes):
        remedies.append("raise `highest` in search.levels, or --keep less")
    remedy = f"{', '.join(remedies[:-1])}, or {remedies[-1]}"
    return "\n".join([f"{head}.", *(f"- {line}." for line in lines), f"{remedy}."])


class _Diagnosis:
    """Trials of guarantees and of weaker ones."""

    def __init__(self, table: Table, suppression_limit: Decimal, most_suppressed: int) -> None:
        self._table = table
        self._limit = suppression_limit
        self._most = most_suppressed
        self._classes = [classes_of(table, node) for node in _coarsest(Lattice.of(table))]

    def is_feasible(self, declared: Sequence[Guarantee]) -> bool:
        """Tell whether a node that keeps these guarantees is found in time."""
        guarantees = compile_guarantees(declared, self._table)
        if any(self._keeps(guarantees, classes) for classes in self._classes):
            return True
        loss = make_loss("precision")
        result = search(self._table, guarantees, loss, self._limit, time_limit=_PATIENCE)
        return result.optimum is not None

    def advice(self, guarantee: Guarantee, others: Sequence[Guarantee]) -> str:
        """Return a sentence on a guarantee that cannot be kept (with others), and on a remedy."""
        # Values of persons are not printed.
        parameters = ((key, v) for key, v in guarantee.items() if key not in {"model", "values"})
        values = " ".join(f"{key} {v}" for key, v in parameters)
        name = f"{guarantee['model']} ({values})"
        context = "together with the others" if others else "by itself"
        text = f"{name} cannot be kept {context}"
        for parameter in _parameters(guarantee, self._table):
            closest = self._closest(guarantee, parameter, others)
            if closest is not None:
                return f"{text}; the closest that can is {parameter.name} {closest:g}"
        return f"{text}, and no weaker value of one of its parameters helps"

    def _closest(
        self, guarantee: Guarantee, parameter: _Parameter, others: Sequence[Guarantee]
    ) -> float | None:
        """Return the strongest value that one of the coarsest nodes keeps, by bisection."""

        def holds(step: int) -> bool:
            weaker = {**guarantee, parameter.name: parameter.value(step)}
            try:
                guarantees = compile_guarantees([*others, weaker], self._table)
            except SearchError:  # can never hold
                return False
            return any(self._keeps(guarantees, classes) for classes in self._classes)

        if not holds(parameter.steps):
            return None
        low, high = 0, parameter.steps
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(middle) else (middle + 1, high)
        return parameter.value(low)

    def _keeps(self, guarantees: Guarantees, classes: Classes) -> bool:
        violating = guarantees.violating(classes)
        if is_impossible(guarantees, classes):
            return False
        suppressed = guarantees.suppress(classes, violating, None, self._most)
        return int(classes.records[suppressed].sum()) <= self._most


def _coarsest(lattice: Lattice) -> Iterator[Node]:
    """Yield the coarsest node and those nearly as coarse."""
    if lattice.size > _MOST_ENUMERATED:
        yield lattice.highest
        return
    levels = lattice.levels(np.arange(lattice.size))
    for index in np.argsort(-levels.sum(axis=1), kind="stable")[:_NODES]:
        yield tuple(map(int, levels[index]))


def _parameters(guarantee: Guarantee, table: Table) -> list[_Parameter]:
    """Return the parameters of a guarantee that can be weakened, from their declared values."""
    declared = {name: value for name, value in guarantee.items() if name != "model"}
    model = MODELS[guarantee["model"]].model_construct(**declared)
    return [
        _Parameter(name, _rounded(guarantee[name], last, scale), last, scale)
        for name, last, scale in model.weakest(table)
    ]


def _rounded(strongest: float, weakest: float, scale: int) -> float:
    """Return the nearest value on the grid that is at least as weak."""
    scaled = Decimal(str(strongest)) * scale
    rounding = "ROUND_CEILING" if weakest > strongest else "ROUND_FLOOR"
    return float(scaled.to_integral_value(rounding=rounding) / scale)
