"""Privacy models for the search: sizes, rules of classes and releases, monotonicity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property

import numpy as np

from dbt_anonymize.errors import SearchError
from dbt_anonymize.privacy.guarantees import AttributeRule, Guarantees, MostKept
from dbt_anonymize.privacy.label_losses import LabelLosses
from dbt_anonymize.privacy.table import Classes, FloatArray, IntArray, Table


@dataclass
class Compiler(Guarantees):
    """Collects what the guarantees of a table demand; each privacy model adds its own.

    The last of ``names`` is the guarantee that is being added.
    """

    table: Table = field(kw_only=True)
    problems: list[str] = field(default_factory=list)

    def problem(self, rule: str, came: object, remedy: str) -> None:
        """Note what is wrong with the guarantee that is being added."""
        self.problems.append(f"{self.names[-1]} {rule}; got {came}. {remedy}.")

    def finish(self) -> Guarantees:
        """Return the guarantees, or raise all problems."""
        if self.problems:
            raise SearchError("\n".join(self.problems))
        self.attributes.sort(key=lambda rule: rule[0])
        return Guarantees(**{one.name: getattr(self, one.name) for one in fields(Guarantees)})

    def require_size(self, size: int) -> None:
        """Raise the smallest class size."""
        self.min_class_size = max(self.min_class_size, size)

    def position(self, attribute: str) -> int | None:
        """Return the position of a sensitive attribute in the table, or note a problem."""
        known = [sensitive.name for sensitive, _ in self.table.sensitive]
        if attribute in known:
            return known.index(attribute)
        self.problem(
            "must name a sensitive attribute of the table",
            attribute,
            f"Choose one of {', '.join(known) or 'none: the table has no sensitive attribute'}",
        )
        return None

    def add_rule(self, cost: int, position: int, rule: AttributeRule) -> None:
        """Check a rule on the distribution of an attribute; cheap ones (low cost) come first."""
        self.attributes.append((cost, position, rule))

    def limit_kept(self, position: int, most: MostKept) -> None:
        """Say how many records of a class can be kept at most, by the values of an attribute.

        It must hold for parts of the class that keep the rules each by itself. Without a subject:
        values are then counted by record.
        """
        if self.table.subject is None:
            self.most_kept.append((position, most))

    def global_shares(self, position: int) -> FloatArray:
        """Return the share of each value of an attribute in the whole table."""
        sensitive, codes = self.table.sensitive[position]
        counts = np.bincount(codes, weights=self._weights(codes), minlength=sensitive.size)
        return np.asarray(counts / max(counts.sum(), 1.0), dtype=np.float64)

    def _weights(self, codes: IntArray) -> FloatArray:
        """Count records, or each pair of a person and a value once."""
        if self.table.subject is None:
            return self.table.records.astype(np.float64)
        rows = np.flatnonzero(self.table.records)
        pairs = np.column_stack((self.table.subject[rows], codes[rows]))
        _, first = np.unique(pairs, axis=0, return_index=True)
        weights = np.zeros(len(codes))
        weights[rows[first]] = 1.0
        return weights

    @cached_property
    def people(self) -> int:
        """Distinct subjects of the sample, or its records."""
        if self.table.subject is None:
            return self.table.total
        return len(np.unique(self.table.subject[self.table.records > 0]))

    def population_size(self) -> int | None:
        """Return the people of the population; note a problem if unknown or below the sample."""
        size = self.table.population_size
        if size is None or size < self.people:
            self.problem(
                "needs the size of the population, at least that of the table",
                size,
                "Declare population_size",
            )
            return None
        return size

    def label_losses(self) -> Callable[[Classes], FloatArray]:
        """Return what the labels of each class lose, 0 to 1."""
        return LabelLosses(self.table).of_classes

    def declare_convex(self) -> None:
        """Declare: merged classes keep what all their parts keep, not what one of them breaks.

        So a coarser node may suppress more records. With a subject, shares of a merged class are no
        means of those of its parts: a person in both counts once.
        """
        self.is_monotone_in_suppression = False
        if self.table.subject is not None:
            self.is_monotone_in_generalization = False

    def declare_counted(self) -> None:
        """Declare that a coarser node never suppresses more, the smallest classes going first.

        Not with a subject: merged classes may have fewer people, and small ones many records.
        """
        if self.table.subject is not None:
            self.is_monotone_in_generalization = False
            self.is_monotone_in_suppression = False
