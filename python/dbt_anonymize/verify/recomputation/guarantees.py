"""Classes that break a declared guarantee, counted by code that shares nothing with the SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.literals import quote_name
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.model import PrivacyModel
from dbt_anonymize.privacy.registry import MODELS
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.recomputation.counts import Classes
from dbt_anonymize.verify.recomputation.labels import Generalization
from dbt_anonymize.verify.recomputation.models import ClassCounts, Values
from dbt_anonymize.verify.recomputation.population import population_of_classes


@dataclass
class Recount:
    """The classes of a release or an effort, judged by the guarantees of its spec."""

    spec: Spec
    classes: Classes
    generalizations: Mapping[str, Generalization]
    effort: int

    def __post_init__(self) -> None:
        self._values = cache(self._count_values)
        self._losses = cache(self._count_losses)

    @cached_property
    def sizes(self) -> NDArray[Any]:
        """Records or subjects of each class."""
        return self.classes.sizes()

    @cached_property
    def guarantees(self) -> list[dict[str, Any]]:
        """Guarantees of the spec and of the effort, with its own class size if it has one."""
        effort = self.spec.numbered_efforts[self.effort]
        larger = [{"model": "k_anonymity", "k": effort.k}] if effort.k else []
        return [*self.spec.guarantees.resolved, *effort.own_guarantees, *larger]

    def suppressed(self) -> NDArray[Any]:
        """Return a mask of the classes that must be suppressed, in the order of their labels.

        These are all that break a guarantee and, for a limit of the average risk, as few of the
        smallest others as suffice. The suppression limit is not applied here.
        """
        is_suppressed = np.zeros(len(self.sizes), dtype=bool)
        of_release = Guarantees()
        for guarantee in self.guarantees:
            counts = self._count(guarantee)
            is_suppressed |= counts.broken(guarantee)
            if rules := counts.compiled(guarantee):
                of_release.release_rules += rules.release_rules
        return of_release.suppress(ClassCounts(self.sizes).classes(), is_suppressed)

    def judge(self, guarantee: Mapping[str, Any]) -> Finding:
        """Judge one guarantee on all classes."""
        sizes, unit = self.sizes, "subjects" if self.spec.subject else "records"
        if not len(sizes):
            return Finding("guarantees", name_of(guarantee), False, "the release has no records.")
        counts = self._count(guarantee)
        number = int(counts.broken(guarantee).sum())
        about = f"smallest of {len(sizes):,} classes: {int(sizes.min()):,} {unit}"
        reasons = [f"{number:,} of {len(sizes):,} classes break it"] if number else []
        rules = counts.compiled(guarantee)
        if rules is not None and rules.first_released(np.sort(sizes)):
            total = int(sizes.sum())
            reasons.append(f"the average risk is that of {len(sizes):,} classes for {total:,}")
        if not reasons:
            return Finding("guarantees", name_of(guarantee), True, f"holds; {about}.")
        message = f"{', and '.join(reasons)}; {about}. Do not use this release; build again."
        return Finding("guarantees", name_of(guarantee), False, message)

    def _count(self, guarantee: Mapping[str, Any]) -> ClassCounts:
        """Count only what a guarantee needs."""
        model = MODELS[guarantee["model"]]
        counts_people = model.needed_population(guarantee) == "table"
        return ClassCounts(
            self.sizes,
            everybody=self._everybody,
            has_subject=self.spec.subject is not None,
            values=self._values(guarantee["attribute"]) if "attribute" in guarantee else None,
            population=self._population if counts_people else None,
            population_size=self.spec.population_size,
            losses=self._losses(model),
        )

    @cached_property
    def _everybody(self) -> int:
        return self.classes.size_of_whole()

    def _count_losses(self, model: type[PrivacyModel]) -> NDArray[Any] | None:
        effort = self.spec.numbered_efforts[self.effort]
        vectors = () if effort.has_cells else effort.vectors  # cells may be of any level
        return model.recounted_losses(self.classes, self.generalizations, vectors)

    @cached_property
    def _population(self) -> NDArray[Any]:
        levels = self.spec.numbered_efforts[self.effort].levels
        assert levels is not None  # the spec allows no recoding beside a population
        return population_of_classes(self.classes, self.generalizations, levels)

    def _count_values(self, attribute: str) -> Values:
        own = [g for g in self.guarantees if g.get("attribute") == attribute]
        is_tree = any(g.get("distance") == "hierarchical" for g in own)
        with_texts = is_tree or any("values" in g for g in own)
        values = self.classes.values(attribute, with_texts=with_texts)
        return replace(values, labels=self._labels(values)) if is_tree else values

    def _labels(self, values: Values) -> tuple[NDArray[Any], ...]:
        """Return the label of each value of the table at each level below the root, numbered."""
        hierarchy = self.spec.sensitive_hierarchies[values.name]
        tables = self.classes.tables
        names = ["value", *(f"level_{level}" for level in range(1, hierarchy.levels))]
        columns = ", ".join(tables.text(quote_name(name)) for name in names)
        rows = tables.rows(f"select {columns} from {tables.hierarchies[values.name]}")  # noqa: S608
        labels_of: dict[Any, Any] = {row[0]: row[1:] for row in rows}
        # A value outside the hierarchy is like no other; NULL is under the root.
        height = hierarchy.levels - 1
        labels_of[None] = ("*",) * height
        paths = [labels_of.get(text, (("not in it", text),) * height) for text in values.texts]
        numbered: list[NDArray[Any]] = []
        for labels in zip(*paths, strict=True):
            numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
            numbered.append(np.array([numbers[label] for label in labels]))
        return tuple(numbered)


def name_of(guarantee: Mapping[str, Any]) -> str:
    """Return a guarantee with its parameters as text, without values of the data."""
    parameters = ", ".join(
        f"{name} {value}" for name, value in guarantee.items() if name not in {"model", "values"}
    )
    return f"{guarantee['model']} ({parameters})"
