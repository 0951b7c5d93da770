"""The bounds that follow from guarantees hold for every table that keeps the guarantees."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dbt_anonymize.extensions.attacks.inference import confidence_bound
from dbt_anonymize.privacy.model import Shares
from dbt_anonymize.privacy.registry import model_of

VALUES = "abcd"
TABLES = st.lists(st.lists(st.sampled_from(VALUES), min_size=1, max_size=9), min_size=1, max_size=4)


def bound_of(model: str, classes: Sequence[str], levels: int = 0, **parameters: Any) -> float:
    """Return the bound for a table that is given by its classes, all of them released."""
    whole = Counter("".join(classes))
    shares = Shares(max(whole.values()) / whole.total(), len(whole), max(map(len, classes)), levels)
    guarantee = {"model": model, "attribute": "x", **parameters}
    bound = confidence_bound("x", [model_of(guarantee)], shares)
    assert bound is not None
    return bound


def shares(texts: str) -> dict[str, float]:
    return {value: count / len(texts) for value, count in Counter(texts).items()}


def confidence(classes: Sequence[str]) -> float:
    return max(max(shares(one).values()) for one in classes)


@given(TABLES)
def test_no_class_exceeds_the_bound_of_what_it_keeps(rows: list[list[str]]) -> None:
    """Each guarantee is declared as strictly as the table keeps it."""
    classes = ["".join(row) for row in rows]
    p = shares("".join(classes))
    order = sorted(p)
    worst = confidence(classes) - 1e-9
    q = [shares(one) for one in classes]
    t = max(sum(abs(one.get(v, 0) - p[v]) for v in p) / 2 for one in q)
    if t > 0:
        assert worst <= bound_of("t_closeness", classes, t=t, distance="equal")
    ordered = max(_ordered(one, p, order) for one in q)
    if ordered > 0:
        assert worst <= bound_of("t_closeness", classes, t=ordered, distance="ordered")
    tree = max(_hierarchical(one, p) for one in q)
    if tree > 0:
        assert worst <= bound_of("t_closeness", classes, 2, t=tree, distance="hierarchical")
    beta = max((one[v] - p[v]) / p[v] for one in q for v in one)
    if beta > 0:
        assert worst <= bound_of("beta_likeness", classes, beta=beta, variant="basic")
        if all((one[v] - p[v]) / p[v] <= min(beta, -math.log(p[v])) for one in q for v in one):
            assert worst <= bound_of("beta_likeness", classes, beta=beta, variant="enhanced")
    entropy = min(math.exp(-sum(s * math.log(s) for s in one.values())) for one in q)
    assert worst <= bound_of("l_diversity", classes, l=entropy, variant="entropy")
    distinct = min(map(len, q))
    assert worst <= bound_of("l_diversity", classes, l=distinct, variant="distinct")
    if all(len(one) == len(p) for one in q):
        delta = max(abs(math.log2(one[v] / p[v])) for one in q for v in one)
        assert worst <= bound_of("delta_disclosure", classes, delta=delta)


def _ordered(q: dict[str, float], p: dict[str, float], order: list[str]) -> float:
    if len(order) < 2:
        return 0.0
    gaps = (abs(sum(q.get(v, 0) - p[v] for v in order[: place + 1])) for place in range(len(order)))
    return sum(gaps) / (len(order) - 1)


def _hierarchical(q: dict[str, float], p: dict[str, float]) -> float:
    """Return the distance along a tree of two levels over the pairs ab and cd."""
    extra = {v: p.get(v, 0) - q.get(v, 0) for v in VALUES}
    cost, rest = 0.0, []
    for pair in ("ab", "cd"):
        values = [extra[v] for v in pair]
        cost += 0.5 * min(sum(max(v, 0) for v in values), sum(max(-v, 0) for v in values))
        rest.append(sum(values))
    return cost + min(sum(max(v, 0) for v in rest), sum(max(-v, 0) for v in rest))


@given(TABLES, st.floats(0.1, 5), st.integers(2, 3))
def test_recursive_diversity(rows: list[list[str]], c: float, needed: int) -> None:
    classes = ["".join(row) for row in rows]
    for one in classes:
        counts = sorted(Counter(one).values(), reverse=True)
        assume(len(counts) >= needed and counts[0] < c * sum(counts[needed - 1 :]))
    bound = bound_of("l_diversity", classes, l=needed, variant="recursive", c=c)
    assert confidence(classes) <= bound


@pytest.mark.parametrize("classes", [["aaab", "ab"], ["aab"]])
def test_the_bound_of_distinct_diversity_is_reached(classes: list[str]) -> None:
    assert bound_of("l_diversity", classes, l=2) == confidence(classes)


def test_the_strictest_guarantee_counts_and_limits_on_some_values_do_not() -> None:
    whole = Shares(0.5, 2, 10)
    some: dict[str, Any] = {"model": "alpha_k_anonymity", "attribute": "x", "alpha": 0.1, "k": 2}
    assert confidence_bound("x", [model_of({**some, "values": ["a"]})], whole) is None
    strict = model_of({"model": "t_closeness", "attribute": "x", "t": 0.1})
    loose = model_of({"model": "beta_likeness", "attribute": "x", "beta": 9.0, "variant": "basic"})
    assert confidence_bound("x", [loose], whole) == 1.0
    assert confidence_bound("x", [loose, strict], whole) == pytest.approx(0.6)
