"""Privacy models once more, each from its definition, in exact arithmetic and without SQL.

A class is given by how many people have each value of a sensitive attribute in it; the table by the
same for everybody. Shares are fractions, so that a limit is met exactly or it is not.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Value = Hashable
Counts = Mapping[Value, int]
# Label of a value at each level; level 0 is the value itself, the last the root.
Tree = Mapping[Value, Sequence[Hashable]]
Guarantee = Mapping[str, Any]
# Of measures with logarithms.
NEARLY = 1e-9


def shares(counts: Counts) -> dict[Value, Fraction]:
    """Return the share of each value."""
    total = sum(counts.values())
    return {value: Fraction(number, total) for value, number in counts.items()}


def distinct_l(of_class: Counts) -> int:
    """Return the number of values."""
    return len(of_class)


def entropy_l(of_class: Counts) -> float:
    """Return exp(Shannon entropy)."""
    return math.exp(-math.fsum(float(q) * math.log(q) for q in shares(of_class).values()))


def has_entropy(of_class: Counts, least: Fraction) -> bool:
    """Tell whether exp(entropy) >= l, that is n^n >= l^n times the product of n_v^n_v."""
    total = sum(of_class.values())
    product = math.prod(number**number for number in of_class.values())
    return bool(Fraction(total**total) >= Fraction(least**total) * product)


def grassberger_g(number: int) -> float:
    """Return G(n) by its recurrence: G(2j + 1) = G(2j), G(2j + 2) = G(2j) + 2 / (2j + 1)."""
    gamma = 0.57721566490153286061
    if number == 1:
        return -gamma - math.log(2)
    return 2 - gamma - math.log(2) + math.fsum(2 / (2 * j + 1) for j in range(1, number // 2))


def grassberger_l(of_class: Counts) -> float:
    """Return exp(entropy) with Grassberger's correction for few records."""
    total = sum(of_class.values())
    of_values = math.fsum(n * grassberger_g(n) for n in of_class.values()) / total
    return math.exp(grassberger_g(total) - of_values)


def recursive_c(of_class: Counts, least: int) -> Fraction | None:
    """Return r_1 / (r_l + ... + r_m) of the counts in falling order; None is infinite."""
    ordered = sorted(of_class.values(), reverse=True)
    tail = sum(ordered[least - 1 :])
    return Fraction(ordered[0], tail) if tail else None


def highest_share(of_class: Counts, people: int, values: Iterable[Value] | None = None) -> Fraction:
    """Return the largest share of the people that have a value, or one of the given values."""
    limited = set(of_class if values is None else values)
    return Fraction(max((n for v, n in of_class.items() if v in limited), default=0), people)


def equal_t(of_class: Counts, of_table: Counts) -> Fraction:
    """Return half the sum of the differences of the shares."""
    q, p = shares(of_class), shares(of_table)
    return sum((abs(q.get(v, Fraction(0)) - p[v]) for v in p), Fraction(0)) / 2


def in_order(values: Iterable[Value]) -> list[Value]:
    """Return values in the order of their type, NULL last."""
    key: Callable[[Any], Any] = lambda value: (value is None, value)  # noqa: E731
    return sorted(values, key=key)


def ordered_t(of_class: Counts, of_table: Counts) -> Fraction:
    """Return the mean, over all values but the last, of the difference of the cumulated shares."""
    if len(of_table) == 1:
        return Fraction(0)
    q, p = shares(of_class), shares(of_table)
    moved = cost = Fraction(0)
    for value in in_order(of_table):
        moved += q.get(value, Fraction(0)) - p[value]
        cost += abs(moved)
    return cost / (len(of_table) - 1)


def hierarchical_t(of_class: Counts, of_table: Counts, tree: Tree) -> Fraction:
    """Return the earth mover's distance on a tree as Li 2007 computes it, from the leaves up.

    At each inner node of level L, what its children have too much and too little is moved between
    them at L / height; the rest goes up.
    """
    q, p = shares(of_class), shares(of_table)
    height = len(next(iter(tree.values()))) - 1
    extra: dict[Hashable, Fraction] = {tree[v][0]: q.get(v, Fraction(0)) - p[v] for v in of_table}
    below: dict[Hashable, Value] = {tree[v][0]: v for v in of_table}
    cost = Fraction(0)
    for level in range(1, height + 1):
        children: dict[Hashable, list[Fraction]] = {}
        above: dict[Hashable, Value] = {}
        for name, difference in extra.items():
            label = tree[below[name]][level]
            children.setdefault(label, []).append(difference)
            above[label] = below[name]
        for differences in children.values():
            surplus = sum((d for d in differences if d > 0), Fraction(0))
            lack = -sum((d for d in differences if d < 0), Fraction(0))
            cost += Fraction(level, height) * min(surplus, lack)
        extra = {name: sum(ds, Fraction(0)) for name, ds in children.items()}
        below = above
    return cost


def basic_beta(of_class: Counts, of_table: Counts) -> Fraction:
    """Return the largest gain of a value, relative to its share in the table."""
    q, p = shares(of_class), shares(of_table)
    return max((q[v] - p[v]) / p[v] for v in q)


def enhanced_beta(of_class: Counts, of_table: Counts, beta: Fraction) -> float:
    """Return by how much the gain of a value exceeds min(beta, -ln p) at most."""
    q, p = shares(of_class), shares(of_table)
    return max(float((q[v] - p[v]) / p[v]) - min(float(beta), -math.log(p[v])) for v in q)


def delta(of_class: Counts, of_table: Counts) -> float | None:
    """Return the largest |log2(q / p)| of all values of the table; None is infinite."""
    if set(of_class) != set(of_table):
        return None
    q, p = shares(of_class), shares(of_table)
    return max(abs(math.log2(q[v] / p[v])) for v in p)


def is_within_delta(of_class: Counts, of_table: Counts, limit: Fraction) -> bool:
    """Tell whether every |log2(q / p)| < a / b, that is (q / p)^b is between 2^-a and 2^a."""
    if set(of_class) != set(of_table):
        return False
    q, p = shares(of_class), shares(of_table)
    power, root = limit.numerator, limit.denominator
    return all(Fraction(1, 2**power) < (q[v] / p[v]) ** root < 2**power for v in p)


def estimated_k(
    k: int, people: int, population: int, significance: Fraction, *, is_truncated: bool
) -> int:
    """Return the size that a class must have in the sample for an estimated k-map."""
    mean = k * people / population
    chances = [math.exp(-mean) * mean**i / math.factorial(i) for i in range(k + 1)]
    if is_truncated:
        chances = [0.0, *(chance / (1 - math.exp(-mean)) for chance in chances[1:])]
    needed = 1 - float(significance)
    reached = (i for i in range(k + 1) if math.fsum(chances[: i + 1]) >= needed)
    size = next(reached, k)
    return min(k, people, size + (1 if is_truncated else 2))


def counted(pairs: Iterable[tuple[Value, Value]], *, by_subject: bool) -> Counter[Value]:
    """Count values of (person, value): every record, or each pair once."""
    return Counter(value for _, value in (set(pairs) if by_subject else pairs))


def decimal(number: float) -> Fraction:
    """Return a number as it is written."""
    return Fraction(str(number))


@dataclass(frozen=True)
class Class:
    """One class beside the whole table.

    Parameters
    ----------
    size : int
        Subjects in the class.
    of_class, of_table : mapping
        How often each value of the guarantee's attribute occurs in the class and in the table.
    population : int
        People of the population in the class.
    table, population_size : int
        Subjects of the table, people of the population.
    tree : mapping
        Hierarchy of the attribute.
    covered : sequence of (Fraction, int)
        Of each quasi-identifier the leaves that the label covers, at least 1, and all leaves.
    """

    size: int
    of_class: Counts = field(default_factory=dict)
    of_table: Counts = field(default_factory=dict)
    population: int = 0
    table: int = 0
    population_size: int = 0
    tree: Tree = field(default_factory=dict)
    # Leaves that the label of each quasi-identifier covers, and leaves of its hierarchy.
    covered: Sequence[tuple[Fraction, int]] = ()


def breaks(guarantee: Guarantee, one: Class) -> bool:
    """Tell whether a class breaks a guarantee about classes."""
    return bool(_BREAKS[guarantee["model"]](guarantee, one))


def _breaks_k_map(guarantee: Guarantee, one: Class) -> bool:
    if "estimator" not in guarantee:
        return one.population < int(guarantee["k"])
    return one.size < estimated_k(
        guarantee["k"],
        one.table,
        one.population_size,
        decimal(guarantee["significance"]),
        is_truncated=guarantee["estimator"] != "poisson",
    )


def _breaks_alpha_k(guarantee: Guarantee, one: Class) -> bool:
    highest = highest_share(one.of_class, one.size, guarantee.get("values"))
    return one.size < guarantee["k"] or highest > decimal(guarantee["alpha"])


def _breaks_l(guarantee: Guarantee, one: Class) -> bool:
    least, variant = decimal(guarantee["l"]), guarantee.get("variant", "distinct")
    if variant == "distinct":
        return len(one.of_class) < least
    if variant == "entropy":
        return not has_entropy(one.of_class, least)
    if variant == "grassberger":
        enough = grassberger_l(one.of_class) >= float(least) - NEARLY
        return len(one.of_class) < least or not enough
    ratio = recursive_c(one.of_class, guarantee["l"])
    return ratio is None or ratio >= decimal(guarantee["c"])


def _breaks_t(guarantee: Guarantee, one: Class) -> bool:
    return distance(guarantee, one, one.of_table) > decimal(guarantee["t"])


def _breaks_n_t(guarantee: Guarantee, one: Class) -> bool:
    nearest = nearest_superset(guarantee, one)
    return nearest is None or nearest > decimal(guarantee["t"])


def distance(guarantee: Guarantee, one: Class, others: Counts) -> Fraction:
    """Return the declared distance of the values of a class from those of others."""
    distances: dict[str, Callable[[], Fraction]] = {
        "equal": lambda: equal_t(one.of_class, others),
        "ordered": lambda: ordered_t(one.of_class, others),
        "hierarchical": lambda: hierarchical_t(one.of_class, others, one.tree),
    }
    return distances[guarantee["distance"]]()


def nearest_superset(guarantee: Guarantee, one: Class) -> Fraction | None:
    """Return the distance of a class from the nearest of its natural supersets of n people.

    These are the class itself and the whole table; None where both are smaller.
    """
    supersets = ((one.size, one.of_class), (one.table, one.of_table))
    found = [distance(guarantee, one, of) for people, of in supersets if people >= guarantee["n"]]
    return min(found, default=None)


def _breaks_beta(guarantee: Guarantee, one: Class) -> bool:
    beta = decimal(guarantee["beta"])
    if guarantee.get("variant", "enhanced") == "basic":
        return basic_beta(one.of_class, one.of_table) > beta
    return enhanced_beta(one.of_class, one.of_table, beta) > NEARLY or (
        basic_beta(one.of_class, one.of_table) > beta
    )


def _breaks_delta(guarantee: Guarantee, one: Class) -> bool:
    return not is_within_delta(one.of_class, one.of_table, decimal(guarantee["delta"]))


def _breaks_presence(guarantee: Guarantee, one: Class) -> bool:
    if not one.population:
        return True
    share = Fraction(one.size, one.population)
    return not decimal(guarantee["minimum"]) <= share <= decimal(guarantee["maximum"])


def _breaks_risk(guarantee: Guarantee, one: Class) -> bool:
    highest = guarantee.get("highest")
    return highest is not None and Fraction(1, one.size) > decimal(highest)


def _breaks_no_attack(guarantee: Guarantee, one: Class) -> bool:
    """Tell whether the expected gain, of one chance in n, is above the cost."""
    candidates = one.population if guarantee["attacker"] == "journalist" else one.size
    gain, cost = decimal(guarantee["adversary_gain"]), decimal(guarantee["adversary_cost"])
    # Nobody is among no candidates: that is not known to be harmless.
    expected = Fraction(1, candidates) * gain if candidates else gain + cost
    return gain > 0 and expected - cost > 0


def label_loss(one: Class) -> float:
    """Return the loss of the labels: the share of the bits of the domain that they cover."""
    bits = math.fsum(math.log2(whole) for _, whole in one.covered)
    return math.fsum(math.log2(leaves) for leaves, _ in one.covered) / bits if bits else 0.0


def payout(guarantee: Guarantee, one: Class) -> float:
    """Return what a record pays its publisher: benefit, less the expected loss of an attack."""
    candidates = one.size
    if guarantee["attacker"] == "journalist" and one.population:
        candidates = one.population
    chance = Fraction(1, candidates)
    gain, cost = decimal(guarantee["adversary_gain"]), decimal(guarantee["adversary_cost"])
    is_attacked = gain * chance - cost > 0
    lost = decimal(guarantee["publisher_loss"]) * chance if is_attacked else 0
    return float(guarantee["publisher_benefit"]) * (1 - label_loss(one)) - float(lost)


_BREAKS: dict[str, Callable[[Guarantee, Class], bool]] = {
    "k_anonymity": lambda guarantee, one: one.size < guarantee["k"],
    "k_map": _breaks_k_map,
    "alpha_k_anonymity": _breaks_alpha_k,
    "l_diversity": _breaks_l,
    "t_closeness": _breaks_t,
    "n_t_closeness": _breaks_n_t,
    "beta_likeness": _breaks_beta,
    "delta_disclosure": _breaks_delta,
    "delta_presence": _breaks_presence,
    "reidentification_risk": _breaks_risk,
    "no_attack": _breaks_no_attack,
    "profitable": lambda guarantee, one: payout(guarantee, one) <= NEARLY,
}
