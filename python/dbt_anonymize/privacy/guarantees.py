"""The declared guarantees as fast checks of equivalence classes.

Class rules say which classes violate; release rules (average ``reidentification_risk``) then have
the smallest classes suppressed until they hold. Limits have a tolerance of 1e-12, so that a class
with entropy ln(l) up to rounding has l well-represented values (ARX rejects some of them).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dbt_anonymize.arrays import Bools, Floats, Ints, np
from dbt_anonymize.errors import SearchError
from dbt_anonymize.privacy.distances import Distribution
from dbt_anonymize.privacy.table import Classes

# Rounding must not reject values that meet a limit exactly. SQL has the same tolerance.
TOLERANCE = 1e-12

# Mask of violating classes, by distribution; excluded classes have no entries.
AttributeRule = Callable[[Distribution], Bools]
# Most records of each class that can be released if some are suppressed.
RecordLimit = Callable[[Distribution], Floats]
# Mask of violating classes, by labels and sizes.
ClassRule = Callable[[Classes], Bools]
# True if a release of classes of these sizes, ascending, keeps a guarantee.
ReleaseRule = Callable[[Ints], bool]


@dataclass
class Guarantees:
    """Guarantees compiled for one table by `registry.compile_guarantees`.

    ``names`` has the model and attribute of each. ``is_monotone_in_generalization``: if a node
    keeps them without suppression, so do all coarser nodes. ``is_monotone_in_suppression``: coarser
    nodes never suppress more records.
    """

    names: list[str] = field(default_factory=list)
    # People of the sample and records of the population in a class.
    min_class_size: int = 1
    min_population: int = 0
    # Lowest and highest share of the population.
    presence: list[tuple[float, float]] = field(default_factory=list)
    # Cost, position in ``table.sensitive`` and rule, the cheapest first.
    attributes: list[tuple[int, int, AttributeRule]] = field(default_factory=list)
    class_rules: list[ClassRule] = field(default_factory=list)
    release_rules: list[ReleaseRule] = field(default_factory=list)
    is_monotone_in_generalization: bool = True
    is_monotone_in_suppression: bool = True
    # Positions in ``table.sensitive``.
    record_limits: list[tuple[int, RecordLimit]] = field(default_factory=list)

    @property
    def is_class_size_alone(self) -> bool:
        """Tell whether `min_class_size` is all that must hold."""
        others = self.attributes or self.class_rules or self.release_rules
        return not (others or self.needs_population)

    @property
    def needs_population(self) -> bool:
        """Tell whether the records of the population in each class are read."""
        return bool(self.presence or self.min_population)

    def violating(self, classes: Classes) -> Bools:
        """Return a mask of classes that break a class rule."""
        violations = classes.people < self.min_class_size
        if self.is_class_size_alone:
            return violations
        if self.needs_population:
            violations |= self._violating_in_population(classes)
        for rule_of_class in self.class_rules:
            violations |= rule_of_class(classes)
        distributions: dict[int, Distribution] = {}
        for _, position, rule in self.attributes:
            if position not in distributions:
                counts = classes.values[position]
                distributions[position] = Distribution.of(
                    counts, len(violations), violations, classes.people
                )
            violations |= rule(distributions[position])
        return violations

    def _violating_in_population(self, classes: Classes) -> Bools:
        population = classes.population
        if population is None:
            raise SearchError(
                f"{', '.join(self.names)}: classes must come with their population; got none. "
                "Give the table a population."
            )
        violations = population < self.min_population
        # People of the sample who are missing in the population violate: a share above 1.
        shares = np.where(population > 0, classes.people / np.maximum(population, 1), np.inf)
        for minimum, maximum in self.presence:
            violations |= (shares < minimum - TOLERANCE) | (shares > maximum + TOLERANCE)
        return violations

    def suppress(
        self,
        classes: Classes,
        violating: Bools,
        order: Floats | None = None,
        limit: int | None = None,
    ) -> Bools:
        """Return a mask of the classes to suppress so that the release rules hold too.

        Classes in ``violating`` stay suppressed. Others follow by size, then by ``order``
        (information loss of each class), then by first row, up to ``limit`` records. All true where
        no release, or none within ``limit``, keeps the guarantees.
        """
        if not self.release_rules:
            return violating
        candidates = np.flatnonzero(~violating & (classes.records > 0))
        lost = np.zeros(len(candidates)) if order is None else order[candidates]
        keys = (classes.first[candidates], lost, classes.people[candidates])
        candidates = candidates[np.lexsort(keys)]
        last = len(candidates)
        if limit is not None:
            remaining = limit - int(classes.records @ violating)
            if remaining < 0:
                return np.ones_like(violating)
            last = int(
                np.searchsorted(np.cumsum(classes.records[candidates]), remaining, side="right")
            )
        start = self.first_released(classes.people[candidates], last)
        if start >= len(candidates):
            return np.ones_like(violating)
        suppressed = violating.copy()
        suppressed[candidates[:start]] = True
        return suppressed

    def first_released(self, sizes: Ints, last: int | None = None) -> int:
        """Return the number of smallest classes to suppress so that the release rules hold.

        ``sizes`` are the people of each releasable class, ascending. All are suppressed if
        suppressing ``last`` (default: all) is not enough.
        """
        start = 0
        for rule in self.release_rules:
            start = _first_holding(rule, sizes, start, len(sizes) if last is None else last)
        return start


def _first_holding(rule: ReleaseRule, sizes: Ints, start: int, last: int) -> int:
    """Bisect the first position, start to last, from which the rule holds; all classes if none."""
    beyond = len(sizes)
    if start > last or start == beyond:
        return beyond
    if rule(sizes[start:]):
        return start
    low, high = start + 1, min(last, beyond - 1)
    if low > high or not rule(sizes[high:]):
        return beyond
    while low < high:
        middle = (low + high) // 2
        if rule(sizes[middle:]):
            high = middle
        else:
            low = middle + 1
    return low
