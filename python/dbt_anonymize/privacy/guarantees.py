"""The declared guarantees as fast checks of equivalence classes.

Models of single classes say which classes violate them; models of the whole release
(``reidentification_risk`` on average) then have classes suppressed from the smallest upward until
they hold. Limits are met with a tolerance of 1e-12, far above what rounding adds: a class whose
entropy is ln(l) up to rounding has l well-represented values (ARX rejects some of them).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dbt_anonymize.errors import SearchError
from dbt_anonymize.privacy import distances
from dbt_anonymize.privacy.distances import Distribution
from dbt_anonymize.privacy.k_map import estimated_k
from dbt_anonymize.privacy.table import BoolArray, Classes, FloatArray, IntArray, Table

# Rounding must not refuse what meets a limit exactly. The SQL allows as much where it rounds.
_TOLERANCE = 1e-12

# Whether a class violates, for every class; classes left out of the distribution are 0 records.
AttributeRule = Callable[[Distribution], BoolArray]


@dataclass(frozen=True)
class Needs:
    """What classes must carry for the guarantees to be checked.

    Attributes
    ----------
    sensitive : tuple of int
        Positions in ``table.sensitive`` whose counts per class are read.
    population : bool
        Whether the records of the population are read.
    """

    sensitive: tuple[int, ...] = ()
    population: bool = False


@dataclass(frozen=True)
class _ClassRules:
    """Everything that is checked class by class, cheapest first."""

    min_class_size: int = 1
    min_population: int = 0
    presence: tuple[tuple[float, float], ...] = ()
    attributes: tuple[tuple[int, AttributeRule], ...] = ()


# Whether a release whose class sizes (ascending) are these, from a position on, keeps a guarantee.
ReleaseRule = Callable[["Release", int], bool]


@dataclass
class Release:
    """The sizes of the classes that may be released, ascending."""

    sizes: IntArray

    @cached_property
    def people_from(self) -> IntArray:
        """People in the classes from each position on; one entry more than classes."""
        total = np.zeros(len(self.sizes) + 1, dtype=np.int64)
        total[:-1] = np.cumsum(self.sizes[::-1])[::-1]
        return total


@dataclass(frozen=True)
class Guarantees:
    """Guarantees compiled for one table; made by `compile_guarantees`.

    Attributes
    ----------
    names : tuple of str
        As declared: model and attribute.
    needs : Needs
        What classes must carry.
    min_class_size : int
        Every class with fewer people violates. The other models are not looked at for these.
    is_monotone_in_generalization : bool
        If a node keeps them without suppression then so does every node above it.
    is_monotone_in_suppression : bool
        And the records that must be suppressed never become more further up.
    """

    names: tuple[str, ...]
    needs: Needs
    rules: _ClassRules
    release_rules: tuple[ReleaseRule, ...]
    is_monotone_in_generalization: bool
    is_monotone_in_suppression: bool

    @property
    def min_class_size(self) -> int:
        """Smallest number of people of a class that can be released."""
        return self.rules.min_class_size

    @property
    def is_class_size_alone(self) -> bool:
        """Whether `min_class_size` is all that must hold."""
        rules = self.rules
        return not (
            rules.attributes or rules.presence or rules.min_population or self.release_rules
        )

    @property
    def has_release_rules(self) -> bool:
        """Whether `suppress` may have to suppress more than `violating` says."""
        return bool(self.release_rules)

    def violating(self, classes: Classes) -> BoolArray:
        """Return which classes break a guarantee that is checked class by class.

        Parameters
        ----------
        classes : Classes
            With what `needs` asks for.

        Returns
        -------
        bool array (classes,)
            Of classes that are in the population only it says nothing: see `is_impossible`.
        """
        rules = self.rules
        found = classes.people < rules.min_class_size
        if self.is_class_size_alone:
            return found
        if self.needs.population:
            found |= self._violating_in_population(classes)
        distributions: dict[int, Distribution] = {}
        for position, rule in rules.attributes:
            if position not in distributions:
                counts = classes.values[position]
                distributions[position] = Distribution.of(counts, len(found), found, classes.people)
            found |= rule(distributions[position])
        return found

    def is_impossible(self, classes: Classes) -> bool:
        """Return whether no suppression helps: a class is in the population only.

        Its people are known not to be in the sample, which a ``delta_presence`` with a minimum
        forbids, and there is nothing to suppress. As in ARX this is not looked at where a class
        size is required too.
        """
        demands_presence = any(minimum > 0 for minimum, _ in self.rules.presence)
        if not demands_presence or self.min_class_size > 1:
            return False
        return bool((classes.records == 0).any())

    def _violating_in_population(self, classes: Classes) -> BoolArray:
        population = classes.population
        if population is None:
            raise SearchError(
                f"{', '.join(self.names)}: classes must come with their population; got none. "
                "Give the table a population."
            )
        found = population < self.rules.min_population
        # People of the sample who are missing in the population: a share above 1 violates.
        shares = classes.people / np.maximum(population, 1)
        for minimum, maximum in self.rules.presence:
            found |= (shares < minimum - _TOLERANCE) | (shares > maximum + _TOLERANCE)
        return found

    def suppress(
        self,
        classes: Classes,
        violating: BoolArray,
        order: FloatArray | None = None,
        most: int | None = None,
    ) -> BoolArray:
        """Return which classes to suppress so that the whole release keeps the guarantees too.

        Parameters
        ----------
        classes : Classes
            Of one node.
        violating : bool array (classes,)
            What `violating` returned; stays suppressed.
        order : float array (classes,), optional
            Information loss of each class: among classes of the same size the one that loses least
            is suppressed first, then the one whose first row comes first.
        most : int, optional
            Records that may be suppressed at most; where that is not enough the search stops early.

        Returns
        -------
        bool array (classes,)
            All true where no release, or none within ``most``, keeps the guarantees.
        """
        if not self.release_rules:
            return violating
        candidates = np.flatnonzero(~violating & (classes.records > 0))
        lost = np.zeros(len(candidates)) if order is None else order[candidates]
        keys = (classes.first[candidates], lost, classes.people[candidates])
        candidates = candidates[np.lexsort(keys)]
        release = Release(classes.people[candidates])
        last = len(candidates)
        if most is not None:
            left = most - int(classes.records @ violating)
            if left < 0:
                return np.ones_like(violating)
            last = int(np.searchsorted(np.cumsum(classes.records[candidates]), left, side="right"))
        start = 0
        for rule in self.release_rules:
            start = _first_kept(rule, release, start, last)
        if start >= len(candidates):
            return np.ones_like(violating)
        suppressed = violating.copy()
        suppressed[candidates[:start]] = True
        return suppressed


def first_released(guarantees: Guarantees, sizes: IntArray) -> int:
    """Return how many of the smallest classes must go so that the whole release keeps its rules.

    Parameters
    ----------
    guarantees : Guarantees
        Of which those about the whole release are looked at.
    sizes : int array (classes,)
        People in each class that may be released, ascending.

    Returns
    -------
    int
        All of them where no release keeps the rules.
    """
    release, start = Release(sizes), 0
    for rule in guarantees.release_rules:
        start = _first_kept(rule, release, start, len(sizes))
    return start


def _first_kept(rule: ReleaseRule, release: Release, start: int, last: int) -> int:
    """Return the first position in start .. last from which the rule holds, by bisection.

    The number of classes where it does not hold at ``last``.
    """
    nowhere = len(release.sizes)
    if start > last or start == nowhere:
        return nowhere
    if rule(release, start):
        return start
    low, high = start + 1, min(last, nowhere - 1)
    if low > high or not rule(release, high):
        return nowhere
    while low < high:
        middle = (low + high) // 2
        if rule(release, middle):
            high = middle
        else:
            low = middle + 1
    return low


def compile_guarantees(declared: Sequence[Mapping[str, Any]], table: Table) -> Guarantees:
    """Prepare declared guarantees for fast checks of the classes of a table.

    Parameters
    ----------
    declared : sequence of mappings
        One per guarantee: ``model`` and its parameters, as a spec resolves them. The ``values`` of
        an ``alpha_k_anonymity`` are codes of the attribute here.
    table : Table
        Its sensitive attributes, population and number of people are what the guarantees refer to.

    Returns
    -------
    Guarantees
        Valid for classes of this table.

    Raises
    ------
    SearchError
        All that cannot be checked or can never hold, in one message.

    Examples
    --------
    >>> leaves, records = np.array([[0], [1]]), np.array([7, 3])
    >>> table = Table(attributes=(), leaves=leaves, records=records)
    >>> compile_guarantees([{"model": "k_anonymity", "k": 5}], table).min_class_size
    5
    """
    compiler = _Compiler(table)
    for guarantee in declared:
        compiler.add(guarantee)
    return compiler.finish()


@dataclass
class _Compiler:
    table: Table
    names: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    min_class_size: int = 1
    min_population: int = 0
    presence: list[tuple[float, float]] = field(default_factory=list)
    attributes: list[tuple[int, int, AttributeRule]] = field(default_factory=list)
    release_rules: list[ReleaseRule] = field(default_factory=list)
    is_monotone_in_generalization: bool = True
    is_monotone_in_suppression: bool = True

    def add(self, guarantee: Mapping[str, Any]) -> None:
        """Compile one guarantee; a problem is noted, not raised."""
        parameters = dict(guarantee)
        model = str(parameters.pop("model", None))
        attribute = parameters.get("attribute")
        self.names.append(f"{model} of {attribute}" if attribute else model)
        compile_one = _MODELS.get(model)
        if compile_one is None:
            self.problem(f"must be one of {', '.join(_MODELS)}", model, "Choose one of them")
        else:
            compile_one(self, parameters)

    def problem(self, rule: str, came: object, remedy: str) -> None:
        """Note what is wrong with the guarantee that is being added."""
        self.problems.append(f"{self.names[-1]} {rule}; got {came}. {remedy}.")

    def finish(self) -> Guarantees:
        """Return the guarantees, or raise all problems."""
        if self.problems:
            raise SearchError("\n".join(self.problems))
        attributes = sorted(self.attributes, key=lambda rule: rule[0])
        return Guarantees(
            names=tuple(self.names),
            needs=Needs(
                sensitive=tuple(sorted({position for _, position, _ in attributes})),
                population=bool(self.presence or self.min_population),
            ),
            rules=_ClassRules(
                min_class_size=self.min_class_size,
                min_population=self.min_population,
                presence=tuple(self.presence),
                attributes=tuple((position, rule) for _, position, rule in attributes),
            ),
            release_rules=tuple(self.release_rules),
            is_monotone_in_generalization=self.is_monotone_in_generalization,
            is_monotone_in_suppression=self.is_monotone_in_suppression,
        )

    def require_size(self, size: int) -> None:
        """Raise the smallest class size."""
        self.min_class_size = max(self.min_class_size, size)

    def position(self, attribute: str) -> int | None:
        """Return where the table has a sensitive attribute; a problem if it has not."""
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
        """Return the number of people in the population; a problem if it is not known."""
        size = self.table.population_size
        if size is None or size < self.people:
            self.problem(
                "needs the size of the population, at least that of the table",
                size,
                "Declare population_size",
            )
            return None
        return size

    def distributions_are_convex(self) -> bool:
        """Whether the shares of a merged class are means of those of its parts.

        Not with a subject: a person in both parts counts once.
        """
        return self.table.subject is None


def _k_anonymity(compiler: _Compiler, parameters: Mapping[str, Any]) -> None:
    compiler.require_size(parameters["k"])


def _k_map(compiler: _Compiler, parameters: Mapping[str, Any]) -> None:
    k, estimator = parameters["k"], parameters.get("estimator")
    if estimator is None:
        if compiler.table.population is None:
            compiler.problem(
                "needs the population, or an estimator", "neither", "Declare a population"
            )
        compiler.min_population = max(compiler.min_population, k)
        return
    size = compiler.population_size()
    if size is not None:
        compiler.require_size(
            estimated_k(k, compiler.people, size, parameters["significance"], estimator=estimator)
        )


def _alpha_k_anonymity(compiler: _Compiler, parameters: Mapping[str, Any]) -> None:
    compiler.require_size(parameters["k"])
    position = compiler.position(parameters["attribute"])
    if position is None:
        return
    limited = None
    if (codes := parameters.get("values")) is not None:
        limited = np.zeros(compiler.table.sensitive[position][0].size, dtype=np.bool_)
        limited[list(codes)] = True
    # A share is one division of whole numbers: exact, as in SQL.
    limit = parameters["alpha"]
    compiler.add_rule(1, position, lambda values: distances.largest_share(values, limited) > limit)
    _declare_convex(compiler)


def _l_diversity(compiler: _Compiler, parameters: Mapping[str, Any]) -> None:
    position = compiler.position(parameters["attribute"])
    if position is None:
        return
    diversity, variant = parameters["l"], parameters.get("variant", "distinct")
    least = math.ceil(diversity - _TOLERANCE)
    size = compiler.table.sensitive[position][0].size
    if least > size:
        compiler.problem(
            f"must have l <= {size}, the number of values that occur",
            f"{diversity:g}",
            "Lower l",
        )
        return
    # A person may have several values, so that l values need not be l people.
    if compiler.table.subject is None:
        compiler.require_size(least)
    # Grassberger's estimate may reach ln l with fewer values.
    compiler.add_rule(0, position, lambda values: (values.distinct > 0) & (values.distinct < least))
    floor = math.log(diversity) - _TOLERANCE
    if variant == "entropy":
        compiler.add_rule(2, position, lambda values: _is_below(values, distances.entropy, floor))
    elif variant == "grassberger":
        compiler.add_rule(
            2, position, lambda values: _is_below(values, distances.grassberger_entropy, floor)
        )
    elif variant == "recursive":
        limit = parameters["c"] * (1.0 - _TOLERANCE)
        compiler.add_rule(
            2,
            position,
            lambda values: (
                (values.distinct > 0) & (distances.recursive_ratio(values, least) >= limit)
            ),
        )
    if variant != "distinct":
        _declare_convex(compiler)
    if variant == "grassberger":
        # The correction falls with the size of a class: a merged class may have less entropy.
        compiler.is_monotone_in_generalization = False


def _is_below(
    values: Distribution, measure: Callable[[Distribution], FloatArray], floor: float
) -> BoolArray:
    return (values.distinct > 0) & (measure(values) < floor)


def _t_closeness(compiler: _Compiler, parameters: Mapping[str, Any]) -> None:
    position = compiler.position(parameters["attribute"])
    if position is None:
        return
    distance = parameters.get("distance", "equal")
    p, limit = compiler.global_shares(position), parameters["t"] + _TOLERANCE
    tree = compiler.table.sensitive[position][0].tree
    if distance == "equal":
        compiler.add_rule(3, position, lambda values: distances.equal_distance(values, p) > limit)
    elif distance == "ordered":
        compiler.add_rule(4, position, lambda values: distances.ordered_distance(values, p) > limit)
    elif not tree:
        compiler.problem(
            "with the hierarchical distance needs a categorical hierarchy of the attribute",
            "none",
            "Declare its hierarchy, or choose another distance",
        )
    else:
        compiler.add_rule(
            4, position, lambda values: distances.hierarchical_distance(values, p, tree) > limit
        )
    _declare_convex(compiler)


def _beta_likeness(compiler: _Compiler, parameters: Mapping[str, Any]) -> None:
    position = compiler.position(parameters["attribute"])
    if position is None:
        return
    p, beta = compiler.global_shares(position), float(parameters["beta"])
    if parameters.get("variant", "enhanced") == "basic":
        limit = beta * (1.0 + _TOLERANCE)
        compiler.add_rule(3, position, lambda values: distances.beta_gain(values, p) > limit)
    else:
        compiler.add_rule(
            3,
            position,
            lambda values: distances.enhanced_beta_excess(values, p, beta) > _TOLERANCE,
        )
    _declare_convex(compiler)


def _delta_disclosure(compiler: _Compiler, parameters: Mapping[str, Any]) -> None:
    position = compiler.position(parameters["attribute"])
    if position is None:
        return
    p, limit = compiler.global_shares(position), parameters["delta"] - _TOLERANCE
    compiler.add_rule(3, position, lambda values: distances.delta_disclosed(values, p) >= limit)
    # An absent value violates, so each share is held between two bounds: this is convex too.
    _declare_convex(compiler)


def _declare_convex(compiler: _Compiler) -> None:
    """Note: merged classes keep what all of their parts keep, but not what one of them breaks.

    So the suppressed records may become more further up.
    """
    compiler.is_monotone_in_suppression = False
    if not compiler.distributions_are_convex():
        compiler.is_monotone_in_generalization = False


def _delta_presence(compiler: _Compiler, parameters: Mapping[str, Any]) -> None:
    if compiler.table.population is None:
        compiler.problem("needs the population", "none", "Declare a population")
    compiler.presence.append((parameters["minimum"], parameters["maximum"]))
    compiler.is_monotone_in_suppression = False
    if parameters["minimum"] > 0:
        # A class may be merged with people of the population only, which lowers its share.
        compiler.is_monotone_in_generalization = False


def _reidentification_risk(compiler: _Compiler, parameters: Mapping[str, Any]) -> None:
    if (highest := parameters.get("highest")) is not None:
        compiler.require_size(math.ceil(1.0 / highest - _TOLERANCE))
    if (average := parameters.get("average")) is not None:
        limit = average * (1.0 + _TOLERANCE)

        def holds(release: Release, start: int) -> bool:
            return bool(len(release.sizes) - start <= limit * int(release.people_from[start]))

        compiler.release_rules.append(holds)
        _declare_counted(compiler)


def _declare_counted(compiler: _Compiler) -> None:
    """Smallest class first suppresses the fewest records, fewer ones further up.

    Not with a subject: merged classes may have fewer people, and small ones many records.
    """
    if compiler.table.subject is not None:
        compiler.is_monotone_in_generalization = False
        compiler.is_monotone_in_suppression = False


_MODELS: Mapping[str, Callable[[_Compiler, Mapping[str, Any]], None]] = {
    "k_anonymity": _k_anonymity,
    "k_map": _k_map,
    "alpha_k_anonymity": _alpha_k_anonymity,
    "l_diversity": _l_diversity,
    "t_closeness": _t_closeness,
    "beta_likeness": _beta_likeness,
    "delta_disclosure": _delta_disclosure,
    "delta_presence": _delta_presence,
    "reidentification_risk": _reidentification_risk,
}
