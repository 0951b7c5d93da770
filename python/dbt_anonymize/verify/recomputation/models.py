"""Which classes break a guarantee, from the counts of a class and of the whole table.

Notation: a class has n records (subjects, where one is declared), n_v of them with the value v of a
sensitive attribute; the whole table has N, N_v of them with v. q_v = n_v / n, p_v = N_v / N. A
subject of several values counts once for each. NULL is a value. One that the whole table does not
have breaks every guarantee that compares with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.verify.recomputation.limits import declared, exceeds, wide

Array = NDArray[Any]

# Logarithms are not exact: a class exactly at a limit must not be refused by the sixteenth digit.
_ROUNDING = 1e-12
# Longer numbers than those of so many people are not multiplied out to decide about the last digit.
_MOST_EXACT = 20_000


@dataclass(frozen=True)
class Distribution:
    """Values of one sensitive attribute, in the whole table and in each class.

    - ``sizes``: records or subjects of each class; ``everybody``: of the whole table.
    - ``class_of``, ``value_of``, ``people``: how many of a class have a value, where there are any,
      sorted by class and value. Values that the whole table does not have come last.
    - ``totals``, ``texts``: N_v and text of each value of the whole table, in the order of the data
      type, NULL last.
    """

    sizes: Array
    class_of: Array
    value_of: Array
    people: Array
    totals: Array
    texts: tuple[str | None, ...]
    everybody: int = 0

    @cached_property
    def members(self) -> Array:
        """Pairs of person and value in each class: n."""
        return self.sum(self.people)

    @cached_property
    def whole(self) -> int:
        """Pairs of person and value in the whole table: N."""
        return int(self.totals.sum())

    @cached_property
    def is_known(self) -> Array:
        """Whether the whole table has the value."""
        known: Array = self.value_of < len(self.totals)
        return known

    @cached_property
    def known_totals(self) -> Array:
        """N_v by cell; 0 where the whole table does not have the value."""
        return np.append(self.totals, 0)[np.minimum(self.value_of, len(self.totals))]

    @cached_property
    def number(self) -> type[Any]:
        """Type that holds a product of people in a class, people in the table, and values."""
        largest = int(self.members.max(initial=0))
        return wide(largest, self.whole, len(self.totals) + 1, 4)

    def sum(self, cells: Array) -> Array:
        """Add up a number per cell within each class."""
        added = np.zeros(len(self.sizes), dtype=cells.dtype)
        np.add.at(added, self.class_of, cells)
        return added

    def any(self, cells: Array) -> Array:
        """Tell which classes have a cell that something is true of."""
        found = np.zeros(len(self.sizes), dtype=bool)
        found[self.class_of[cells]] = True
        return found

    def surplus(self, groups: Array) -> Array:
        """Return n N sum max(0, q - p) over groups of values, as whole numbers.

        ``groups`` is the group of each value of the whole table, for example its label.
        """
        number = self.number
        of_groups = np.zeros(int(groups.max(initial=-1)) + 1, dtype=np.int64)
        np.add.at(of_groups, groups, self.totals)
        # What the whole table does not have makes a group of nobody.
        cells = np.append(groups, len(of_groups))[np.minimum(self.value_of, len(groups))]
        width = len(of_groups) + 1
        pairs, place = np.unique(self.class_of * width + cells, return_inverse=True)
        people = np.zeros(len(pairs), dtype=np.int64)
        np.add.at(people, place, self.people)
        classes, found = pairs // width, pairs % width
        expected = np.append(of_groups, 0)[found].astype(number) * self.members[classes]
        more = np.maximum(people.astype(number) * self.whole - expected, 0)
        added = np.zeros(len(self.sizes), dtype=number)
        np.add.at(added, classes, more)
        return added


def too_small(sizes: Array, k: int) -> Array:
    """Tell where n < k (Sweeney 2002)."""
    small: Array = sizes < k
    return small


def breaks_alpha(d: Distribution, guarantee: Mapping[str, Any]) -> Array:
    """Tell where n < k, or n_v / people > alpha for a (limited) value (Wong et al. 2006)."""
    counted: Array = np.ones(len(d.people), dtype=bool)
    if "values" in guarantee:
        limited = {_as_text(value) for value in guarantee["values"]}
        is_limited = np.array([text in limited for text in d.texts] + [False], dtype=bool)
        counted = counted & is_limited[np.minimum(d.value_of, len(d.texts))]
    highest = np.zeros(len(d.sizes), dtype=np.int64)
    np.maximum.at(highest, d.class_of[counted], d.people[counted])
    broken = too_small(d.sizes, guarantee["k"])
    broken |= exceeds(highest, d.sizes, declared(guarantee["alpha"]))
    return broken


def breaks_l_diversity(d: Distribution, guarantee: Mapping[str, Any]) -> Array:
    """Tell where a variant of l-diversity fails (Machanavajjhala et al. 2007; Grassberger 2003)."""
    variant = guarantee.get("variant", "distinct")
    return _L_DIVERSITY[variant](d, guarantee)


def _few_values(d: Distribution, guarantee: Mapping[str, Any]) -> Array:
    """Tell where there are fewer than l values."""
    few: Array = d.sum(np.ones(len(d.people), dtype=np.int64)) < math.ceil(guarantee["l"])
    return few


def _low_entropy(d: Distribution, guarantee: Mapping[str, Any]) -> Array:
    """Tell where H(q) < ln l, that is n ln n - sum n_v ln n_v < n ln l."""
    n = d.members.astype(np.float64)
    entropies = np.log(n) - d.sum(d.people * np.log(d.people)) / n
    excess = entropies - math.log(guarantee["l"])
    low: Array = excess < 0.0
    near = np.flatnonzero(np.abs(excess) <= 1e-9)
    ends = np.searchsorted(d.class_of, [near, near + 1])
    for place, begin, end in zip(near, *ends, strict=True):
        low[place] = _is_low_exactly(d.people[begin:end].tolist(), guarantee["l"], excess[place])
    return low


def _is_low_exactly(counts: list[int], limit: float, excess: float) -> bool:
    """Tell whether n^n < l^n prod n_v^n_v, in whole numbers where they are not too long."""
    # The entropy stays the same when all counts are divided by the same number.
    divisor = math.gcd(*counts)
    counts = [count // divisor for count in counts]
    n = sum(counts)
    if n > _MOST_EXACT:
        return excess < -_ROUNDING
    l_ = declared(limit)
    right = l_.numerator**n * math.prod(count**count for count in counts)
    return bool(n**n * l_.denominator**n < right)


def _low_grassberger(d: Distribution, guarantee: Mapping[str, Any]) -> Array:
    """Tell where G(n) - sum n_v G(n_v) / n < ln l, or fewer than l values."""
    n = d.members
    estimates = _grassberger(n) - d.sum(d.people * _grassberger(d.people)) / n
    low: Array = estimates < math.log(guarantee["l"]) - _ROUNDING
    return low | _few_values(d, guarantee)


def _grassberger(numbers: Array) -> Array:
    """Return G: G(1) = -gamma - ln 2, G(2) = 2 + G(1), G(n + 2) = G(n) + 2 / (n + 1) for even n.

    For odd n > 1 it is that of n - 1.
    """
    most = int(min(numbers.max(initial=1), 10_000))
    even = np.cumsum(2.0 / (2.0 * np.arange(most // 2 + 1) + 1.0))
    first = -np.euler_gamma - math.log(2.0)
    table = np.concatenate(([np.nan, first], np.repeat(first + even, 2)))
    # From there on by the asymptotic form, whose next term is below the last digit.
    x = 2.0 * (numbers // 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        series = np.log(x) + 1.0 / (6.0 * x**2) - 7.0 / (60.0 * x**4)
    return np.where(numbers <= most, table[np.minimum(numbers, most)], series)


def _dominated(d: Distribution, guarantee: Mapping[str, Any]) -> Array:
    """Tell where not r_1 < c (r_l + ... + r_m), with the counts r in falling order."""
    order = np.lexsort((-d.people, d.class_of))
    classes, people = d.class_of[order], d.people[order]
    first = np.searchsorted(classes, np.arange(len(d.sizes)))
    rank = np.arange(len(classes)) - first[classes] + 1
    rest = np.zeros(len(d.sizes), dtype=np.int64)
    late = rank >= guarantee["l"]
    np.add.at(rest, classes[late], people[late])
    # r_1 >= c rest means rest / r_1 > 1 / c does not hold.
    return ~exceeds(rest, people[first], 1 / declared(guarantee["c"]))


_L_DIVERSITY: Mapping[str, Callable[[Distribution, Mapping[str, Any]], Array]] = {
    "distinct": _few_values,
    "entropy": _low_entropy,
    "grassberger": _low_grassberger,
    "recursive": _dominated,
}


def breaks_t_closeness(d: Distribution, guarantee: Mapping[str, Any], levels: list[Array]) -> Array:
    """Tell where the earth mover's distance of q and p exceeds t (Li et al. 2007).

    Along a hierarchy of height H, two values whose lowest common label is at level L are L / H
    apart. That is a distance in a tree, in which earth moves along every branch as often as the
    branch has too much of it: sum over the levels below the root of sum max(0, q - p) over the
    labels, divided by H. With equal distances H is 1. ``levels``: the label of each value at the
    levels 1 to H - 1, as numbers from 0.
    """
    n_whole = d.members.astype(d.number) * d.whole
    if guarantee.get("distance", "equal") == "ordered":
        moved, steps = _moved_in_order(d), max(1, len(d.totals) - 1)
    else:
        moved, steps = d.surplus(np.arange(len(d.totals))), len(levels) + 1
        for labels in levels:
            moved = moved + d.surplus(labels)
    return exceeds(moved, n_whole * steps, declared(guarantee["t"])) | d.any(~d.is_known)


def _moved_in_order(d: Distribution) -> Array:
    """Return n N sum over i of |q_1 + ... + q_i - p_1 - ... - p_i|.

    Between two values that a class has, its own sum stays and that of the table rises: up to one
    place it is below, from there on above.
    """
    number = d.number
    known = np.flatnonzero(d.is_known)
    classes, begins = d.class_of[known], d.value_of[known]
    people = d.people[known]
    up_to = np.cumsum(people)
    first = np.searchsorted(classes, np.arange(len(d.sizes)))
    earlier = np.append(0, up_to)[first]
    ours = up_to - earlier[classes]
    is_last = np.append(classes[1:] != classes[:-1], [True] * bool(len(classes)))
    ends = np.where(is_last, len(d.totals), np.append(begins[1:], 0))
    table = np.cumsum(d.totals)
    sums = np.append(0, np.cumsum(table.astype(number)))
    n = d.members[classes].astype(number)
    level = ours.astype(number) * d.whole
    turns = np.clip(
        np.searchsorted(table, (level // n).astype(np.int64), side="right"), begins, ends
    )
    below = (turns - begins) * level - n * (sums[turns] - sums[begins])
    above = n * (sums[ends] - sums[turns]) - (ends - turns) * level
    # Before its first value a class has nothing.
    is_first = np.append([True] * bool(len(classes)), classes[1:] != classes[:-1])
    before = np.where(is_first, n * sums[begins], 0)
    moved = np.zeros(len(d.sizes), dtype=number)
    np.add.at(moved, classes, below + above + before)
    return moved


def breaks_n_t_closeness(
    d: Distribution, guarantee: Mapping[str, Any], levels: list[Array]
) -> Array:
    """Tell where neither class nor whole table is a superset of n people within t (Li 2010)."""
    far = breaks_t_closeness(d, guarantee, levels) | (d.everybody < guarantee["n"])
    broken: Array = too_small(d.sizes, guarantee["n"]) & far
    return broken


def breaks_beta(d: Distribution, guarantee: Mapping[str, Any]) -> Array:
    """Tell where (q_v - p_v) / p_v > beta, or > min(beta, -ln p_v) (Cao and Karras 2012)."""
    number = d.number
    ours = d.people.astype(number) * d.whole
    theirs = d.members[d.class_of].astype(number) * d.known_totals
    safe = np.where(d.is_known, theirs, 1)
    gains = exceeds(ours - theirs, safe, declared(guarantee["beta"]))
    if guarantee.get("variant", "enhanced") == "enhanced":
        relative = (ours - theirs).astype(np.float64) / safe.astype(np.float64)
        surprise = math.log(d.whole) - np.log(np.maximum(d.known_totals, 1))
        gains |= relative > surprise + _ROUNDING
    return d.any(gains | ~d.is_known)


def breaks_delta(d: Distribution, guarantee: Mapping[str, Any]) -> Array:
    """Tell where |log2(q_v / p_v)| >= delta for a v of the table (Brickell and Shmatikov 2008)."""
    known = np.maximum(d.known_totals, 1).astype(np.float64)
    changes = (
        np.log2(d.people)
        + math.log2(d.whole)
        - np.log2(d.members[d.class_of].astype(np.float64))
        - np.log2(known)
    )
    far = d.any((np.abs(changes) >= guarantee["delta"] * (1 - _ROUNDING)) | ~d.is_known)
    # Of a value that the class lacks, it is infinite.
    lacks = d.sum(d.is_known.astype(np.int64)) < len(d.totals)
    return far | lacks


def breaks_presence(sizes: Array, population: Array, guarantee: Mapping[str, Any]) -> Array:
    """Tell where not minimum <= n / F <= maximum, with F of the population like the class.

    Nergiz et al. 2007. Classes that the release lacks are not judged: nothing can suppress them.
    """
    nobody = population == 0
    safe = np.where(nobody, 1, population)
    # n / F < minimum where (F - n) / F > 1 - minimum.
    few = exceeds(safe - sizes, safe, 1 - declared(guarantee["minimum"]))
    many = exceeds(sizes, safe, declared(guarantee["maximum"]))
    broken: Array = nobody | few | many
    return broken


def derived_k(guarantee: Mapping[str, Any], people: int, population: int) -> int:
    """Return the class size that stands for k in the population (El Emam and Dankar 2008).

    With lambda = k N / M: poisson: min(k, N, c + 2), c the smallest number with P(c) >= 1 - s;
    zero-truncated: min(k, N, c + 1), c the smallest with (P(c) - P(0)) / (1 - P(0)) >= 1 - s.

    Examples
    --------
    >>> estimated = {"k": 1000, "significance": 0.01, "estimator": "zero_truncated_poisson"}
    >>> derived_k(estimated, 30162, 317238626)
    3
    """
    k, truncated = guarantee["k"], guarantee["estimator"] == "zero_truncated_poisson"
    with localcontext() as context:
        context.prec = 60
        needed = 1 - Decimal(repr(guarantee["significance"]))
        mean = Decimal(k) * people / population
        nobody = (-mean).exp()
        term, reached, size = nobody, nobody, 0
        while size < k:
            share = (reached - nobody) / (1 - nobody) if truncated else reached
            if share >= needed and (size or not truncated):
                break
            size += 1
            term = term * mean / size
            reached += term
    return int(min(k, people, size + (1 if truncated else 2)))


def unattractive_size(guarantee: Mapping[str, Any]) -> int:
    """Return the smallest n at which an attack does not pay: gain / n - cost <= 0 (Wan 2015)."""
    return -int(-declared(guarantee["adversary_gain"]) // declared(guarantee["adversary_cost"]))


def private_size(guarantee: Mapping[str, Any]) -> int:
    """Return the class size that (epsilon, delta)-privacy demands of a sample of some share.

    Of every class of n people of the source that may be released, more than gamma n are drawn with
    a probability below delta; gamma = 1 - (1 - share) exp(-epsilon).
    """
    betainc = import_module("scipy.special").betainc  # imported here: few specs need it

    with localcontext() as context:
        context.prec = 60
        epsilon = Decimal(repr(guarantee["epsilon"])) - Decimal(
            repr(guarantee.get("search_epsilon", 0))
        )
        share, k, n = guarantee["share"], 1, 0
        gamma = 1 - (1 - Decimal(repr(share))) * (-epsilon).exp()
        above, drawn = float(gamma), float(share)
        rate = above * np.log(above / drawn) - (above - drawn)
        while np.exp(-n * rate) >= guarantee["delta"]:
            n += 1
            most = int(gamma * n)
            # The chance of most + 1 or more of n.
            if most < n and betainc(most + 1, n - most, drawn) >= guarantee["delta"]:
                # A released class then has more than n people.
                k = int(gamma * (n + 1)) + 1
    return k


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# By model: which classes break a guarantee of an attribute; the last argument says its hierarchy.
BREAKS: Mapping[str, Callable[[Distribution, Mapping[str, Any], list[Array]], Array]] = {
    "alpha_k_anonymity": lambda d, guarantee, _: breaks_alpha(d, guarantee),
    "l_diversity": lambda d, guarantee, _: breaks_l_diversity(d, guarantee),
    "t_closeness": breaks_t_closeness,
    "n_t_closeness": breaks_n_t_closeness,
    "beta_likeness": lambda d, guarantee, _: breaks_beta(d, guarantee),
    "delta_disclosure": lambda d, guarantee, _: breaks_delta(d, guarantee),
}

# By model: the size that every class must have, whatever is in it.
SIZES: Mapping[str, Callable[[Mapping[str, Any]], int]] = {
    "k_anonymity": lambda guarantee: int(guarantee["k"]),
    "no_attack": unattractive_size,
    "differential_privacy": private_size,
}
