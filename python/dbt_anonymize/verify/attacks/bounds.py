"""What declared guarantees say about the share of a sensitive value in a class.

q is the share of a value in a class of n people (who count once for each value that they have), p
its share in the whole table, and P the largest p. Each guarantee bounds every q of every released
class by one number:

==========================  ======================================================================
guarantee                   bound, and why
==========================  ======================================================================
alpha_k_anonymity           alpha, where it limits all values
t_closeness, equal          P + t: half of the sum of |q - p| is the sum of all positive q - p
t_closeness, ordered        P + t (m - 1): with m values, no mass moves less than 1 / (m - 1)
t_closeness, hierarchical   P + t h: no mass moves less than one of the h levels
beta_likeness, basic        (1 + beta) P
beta_likeness, enhanced     (1 + min(beta, -ln P)) P, which grows with P
delta_disclosure            2^delta P
l_diversity, distinct       (n - l + 1) / n: l - 1 other values have one person each; grows with n
l_diversity, entropy        the largest q for which q and equal shares of the other m - 1 values
                            have entropy ln l
l_diversity, recursive      c / (1 + c): r1 < c (r_l + ..) <= c (n - r1), as l >= 2
l_diversity, grassberger    (n - l' + 1) / n with l' = l rounded up, if that many values are seen;
                            the estimated entropy itself bounds nothing
==========================  ======================================================================
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_STEPS = 200


@dataclass(frozen=True)
class Shares:
    """What bounds depend on.

    ``largest`` is P over all records of the source, ``values`` how many occur there,
    ``class_people`` the n of the largest released class, ``levels`` those of the sensitive column's
    hierarchy, or 0.
    """

    largest: float
    values: int
    class_people: int
    levels: int = 0


def confidence_bound(
    attribute: str, guarantees: Iterable[Mapping[str, Any]], shares: Shares
) -> float | None:
    """Return the largest share, at most 1, that a value may have in a class; None if not bounded.

    Examples
    --------
    >>> declared = [{"model": "t_closeness", "attribute": "x", "t": 0.25, "distance": "equal"}]
    >>> confidence_bound("x", declared, Shares(0.5, 2, 10))
    0.75
    >>> confidence_bound("y", declared, Shares(0.5, 2, 10)) is None
    True
    """
    bounds = [
        bound
        for guarantee in guarantees
        if guarantee.get("attribute") == attribute
        and (bound := _bound(guarantee, shares)) is not None
    ]
    return min(1.0, *bounds) if bounds else None


def _bound(guarantee: Mapping[str, Any], shares: Shares) -> float | None:
    largest = shares.largest
    match guarantee["model"]:
        case "alpha_k_anonymity":
            return None if guarantee.get("values") else float(guarantee["alpha"])
        case "t_closeness":
            distance = guarantee.get("distance", "equal")
            steps = {"equal": 1, "ordered": shares.values - 1, "hierarchical": shares.levels}
            return largest + float(guarantee["t"]) * max(1, steps[distance])
        case "beta_likeness":
            gain = float(guarantee["beta"])
            if guarantee.get("variant", "enhanced") == "enhanced":
                gain = min(gain, -math.log(largest))
            return (1 + gain) * largest
        case "delta_disclosure":
            return float(2 ** guarantee["delta"] * largest)
        case "l_diversity":
            return _diversity_bound(guarantee, shares)
    return None


def _diversity_bound(guarantee: Mapping[str, Any], shares: Shares) -> float:
    needed = float(guarantee["l"])
    match guarantee.get("variant", "distinct"):
        case "entropy":
            return _largest_share_of_entropy(needed, shares.values)
        case "recursive":
            c = float(guarantee["c"])
            return c / (1 + c)
    # Distinct, and grassberger: both are kept by classes of one value only where l is 1.
    return (shares.class_people - math.ceil(needed) + 1) / shares.class_people


def _largest_share_of_entropy(needed: float, values: int) -> float:
    """Return the largest share with which an entropy of ln(needed) is possible.

    With a share q of one value, the entropy is at most that of equal shares of the others. It falls
    as q grows from 1 / values to 1.

    Examples
    --------
    >>> round(_largest_share_of_entropy(2, 2), 6), round(_largest_share_of_entropy(1, 3), 6)
    (0.5, 1.0)
    """
    if values < 2:
        return 1.0
    low, high = 1 / values, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        rest = 1 - middle
        entropy = -middle * math.log(middle)
        if rest > 0:
            entropy -= rest * math.log(rest / (values - 1))
        low, high = (middle, high) if entropy >= math.log(needed) else (low, middle)
    return high
