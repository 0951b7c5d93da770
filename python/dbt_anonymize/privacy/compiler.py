"""Privacy models for the search: sizes, rules of classes and releases, monotonicity."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property

from dbt_anonymize.arrays import Floats, Ints, np
from dbt_anonymize.errors import SearchError
from dbt_anonymize.privacy.guarantees import AttributeRule, Guarantees, RecordLimit
from dbt_anonymize.privacy.table import Table


@dataclass
class Compiler(Guarantees):
    """Collector of the rules of all guarantees; each privacy model adds its own.

    The last of ``names`` is the current guarantee.
    """

    table: Table = field(kw_only=True)
    problems: list[str] = field(default_factory=list)

    def problem(self, rule: str, value: object, remedy: str) -> None:
        """Record a problem of the current guarantee."""
        self.problems.append(f"{self.names[-1]} {rule}; got {value}. {remedy}.")

    def finish(self) -> Guarantees:
        """Return the guarantees, or raise all problems."""
        if self.problems:
            raise SearchError("\n".join(self.problems))
        self.attributes.sort(key=lambda rule: rule[0])
        return Guarantees(
            **{field_.name: getattr(self, field_.name) for field_ in fields(Guarantees)}
        )

    def require_size(self, size: int) -> None:
        """Raise the smallest class size."""
        self.min_class_size = max(self.min_class_size, size)

    def position(self, attribute: str) -> int | None:
        """Return the position of a sensitive attribute in the table, or record a problem."""
        names = [sensitive.name for sensitive, _ in self.table.sensitive]
        if attribute in names:
            return names.index(attribute)
        self.problem(
            "must name a sensitive attribute of the table",
            attribute,
            f"Choose one of {', '.join(names) or 'none: the table has no sensitive attribute'}",
        )
        return None

    def add_rule(self, cost: int, position: int, rule: AttributeRule) -> None:
        """Add a rule on the distribution of an attribute; rules of low cost are checked first."""
        self.attributes.append((cost, position, rule))

    def add_record_limit(self, position: int, limit: RecordLimit) -> None:
        """Add an upper limit of the records of a class that can be released.

        The limit must also hold for the union of parts of the class that keep the rules each. It
        counts values by record, so it is not used with a subject.
        """
        if self.table.subject is None:
            self.record_limits.append((position, limit))

    def global_shares(self, position: int) -> Floats:
        """Return the share of each value of an attribute in the whole table."""
        sensitive, codes = self.table.sensitive[position]
        counts = np.bincount(codes, weights=self._weights(codes), minlength=sensitive.size)
        return np.asarray(counts / max(counts.sum(), 1.0), dtype=np.float64)

    def _weights(self, codes: Ints) -> Floats:
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
        """Return the size of the population; if unknown or below the sample, record a problem."""
        size = self.table.population_size
        if size is None or size < self.people:
            self.problem(
                "needs the size of the population, at least that of the table",
                size,
                "Declare population_size",
            )
            return None
        return size

    def declare_convex(self) -> None:
        """Declare that a class merged from classes that keep the guarantee keeps it, too.

        One part that breaks it may break it for the merged class, so a coarser node may suppress
        more records. With a subject, the shares of a merged class are no mean of the shares of its
        parts: a person in both counts once.
        """
        self.is_monotone_in_suppression = False
        if self.table.subject is not None:
            self.is_monotone_in_generalization = False

    def declare_size_based(self) -> None:
        """Declare that a coarser node suppresses no more records, the smallest classes first.

        This fails with a subject: people in both parts of a merged class count once, and small
        classes may have many records.
        """
        if self.table.subject is not None:
            self.is_monotone_in_generalization = False
            self.is_monotone_in_suppression = False
