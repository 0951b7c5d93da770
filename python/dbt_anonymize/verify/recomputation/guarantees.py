"""Which classes break a declared guarantee, counted by code that shares nothing with the build."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.literals import quote_name
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.recomputation import models
from dbt_anonymize.verify.recomputation.counts import Classes
from dbt_anonymize.verify.recomputation.label_losses import breaks_profitable, losses_of_classes
from dbt_anonymize.verify.recomputation.labels import Generalization
from dbt_anonymize.verify.recomputation.limits import declared, exceeds
from dbt_anonymize.verify.recomputation.population import population_of_classes


@dataclass
class Recount:
    """The classes of a release or an effort, judged by the guarantees of its spec."""

    spec: Spec
    classes: Classes
    generalizations: Mapping[str, Generalization]
    effort: int

    def __post_init__(self) -> None:
        self._distribution = cache(self._counted)

    @cached_property
    def sizes(self) -> NDArray[Any]:
        """How many records or subjects each class has."""
        return self.classes.sizes()

    @cached_property
    def guarantees(self) -> list[dict[str, Any]]:
        """Those of the spec, and those of the effort, whose classes may have to be larger."""
        effort = self.spec.numbered_efforts[self.effort]
        larger = [{"model": "k_anonymity", "k": effort.k}] if effort.k else []
        return [*self.spec.guarantees.resolved, *effort.own_guarantees, *larger]

    def broken(self, guarantee: Mapping[str, Any]) -> NDArray[Any]:
        """Tell which classes break a guarantee by themselves."""
        sizes, model = self.sizes, guarantee["model"]
        if model in models.SIZES:
            # Whom a journalist looks for may be anybody of the population.
            found = self._population if guarantee.get("attacker") == "journalist" else sizes
            return models.too_small(found, models.SIZES[model](guarantee))
        if model == "reidentification_risk" and "highest" in guarantee:
            return exceeds(np.ones_like(sizes), sizes, declared(guarantee["highest"]))
        if model == "delta_presence":
            return models.breaks_presence(sizes, self._population, guarantee)
        if model == "k_map":
            return self._breaks_k_map(guarantee)
        if model == "profitable":
            return self._breaks_profitable(guarantee)
        is_of_attribute = "attribute" in guarantee
        nothing = np.zeros(len(sizes), dtype=bool)
        return self._breaks_of_attribute(guarantee) if is_of_attribute else nothing

    def _breaks_k_map(self, guarantee: Mapping[str, Any]) -> NDArray[Any]:
        if "estimator" not in guarantee:
            return models.too_small(self._population, guarantee["k"])
        population = self.spec.population_size
        assert population is not None  # the spec requires it
        k = models.derived_k(guarantee, self.classes.size_of_whole(), population)
        return models.too_small(self.sizes, k)

    def _breaks_profitable(self, guarantee: Mapping[str, Any]) -> NDArray[Any]:
        candidates = self.sizes
        if guarantee["attacker"] == "journalist":
            population = self._population
            candidates = np.where(population > 0, population, self.sizes)
        effort = self.spec.numbered_efforts[self.effort]
        vectors = effort.rounds or ((effort.levels,) if effort.levels is not None else ())
        if not effort.is_full_domain and effort.rounds is None:
            vectors = ()  # cells may be of any level
        losses = losses_of_classes(self.classes, self.generalizations, vectors)
        return breaks_profitable(candidates, losses, guarantee)

    def _breaks_of_attribute(self, guarantee: Mapping[str, Any]) -> NDArray[Any]:
        is_tree = guarantee.get("distance") == "hierarchical"
        levels = self._levels(guarantee["attribute"]) if is_tree else []
        distribution = self._distribution(guarantee["attribute"])
        return models.BREAKS[guarantee["model"]](distribution, guarantee, levels)

    def suppressed(self) -> NDArray[Any]:
        """Tell which classes have to go, in the order of their labels.

        All that break a guarantee, and for a limit of the average risk the smallest of the others,
        as few as suffice. Whether so many may go is for the suppression limit to say.
        """
        gone = np.zeros(len(self.sizes), dtype=bool)
        for guarantee in self.guarantees:
            gone |= self.broken(guarantee)
        rest = np.flatnonzero(~gone)
        rest = rest[np.argsort(self.sizes[rest], kind="stable")]
        # What is left when all classes before one are gone.
        left = np.cumsum(self.sizes[rest][::-1])[::-1]
        for guarantee in self.guarantees:
            if "average" in guarantee and len(rest):
                risky = exceeds(np.arange(len(rest), 0, -1), left, declared(guarantee["average"]))
                gone[rest[risky]] = True
        return gone

    def judge(self, guarantee: Mapping[str, Any]) -> Finding:
        """Judge one guarantee on all classes."""
        sizes, unit = self.sizes, "subjects" if self.spec.subject else "records"
        if not len(sizes):
            return Finding("guarantees", name_of(guarantee), False, "the release has no records.")
        number = int(self.broken(guarantee).sum())
        about = f"smallest of {len(sizes):,} classes: {int(sizes.min()):,} {unit}"
        reasons = [f"{number:,} of {len(sizes):,} classes break it"] if number else []
        if "average" in guarantee:
            total, limit = int(sizes.sum()), declared(guarantee["average"])
            if exceeds(np.array([len(sizes)]), np.array([total]), limit)[0]:
                reasons.append(f"the average risk is that of {len(sizes):,} classes for {total:,}")
        if not reasons:
            return Finding("guarantees", name_of(guarantee), True, f"holds; {about}.")
        message = f"{', and '.join(reasons)}; {about}. Do not use this release; build again."
        return Finding("guarantees", name_of(guarantee), False, message)

    @cached_property
    def _population(self) -> NDArray[Any]:
        levels = self.spec.numbered_efforts[self.effort].levels
        assert levels is not None  # the spec allows no recoding beside a population
        return population_of_classes(self.classes, self.generalizations, levels)

    def _counted(self, attribute: str) -> models.Distribution:
        with_texts = any(
            guarantee.get("attribute") == attribute
            and ("values" in guarantee or guarantee.get("distance") == "hierarchical")
            for guarantee in self.guarantees
        )
        return self.classes.distribution(attribute, self.sizes, with_texts=with_texts)

    def _levels(self, attribute: str) -> list[NDArray[Any]]:
        """Return the label of each value of the table at each level below the root, numbered."""
        hierarchy = self.spec.sensitive_hierarchies[attribute]
        tables = self.classes.tables
        names = ["value", *(f"level_{level}" for level in range(1, hierarchy.levels))]
        columns = ", ".join(tables.text(quote_name(name)) for name in names)
        rows = tables.rows(f"select {columns} from {tables.hierarchies[attribute]}")  # noqa: S608
        labels_of: dict[Any, Any] = {row[0]: row[1:] for row in rows}
        # A value that is not in the hierarchy is like no other; NULL is under the root.
        height = hierarchy.levels - 1
        labels_of[None] = ("*",) * height
        found = [
            labels_of.get(text, (("not in it", text),) * height)
            for text in self._distribution(attribute).texts
        ]
        numbered: list[NDArray[Any]] = []
        for labels in zip(*found, strict=True):
            numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
            numbered.append(np.array([numbers[label] for label in labels]))
        return numbered


def name_of(guarantee: Mapping[str, Any]) -> str:
    """Return a guarantee in words: its parameters but for values of the data."""
    parameters = ", ".join(
        f"{name} {value}" for name, value in guarantee.items() if name not in {"model", "values"}
    )
    return f"{guarantee['model']} ({parameters})"
