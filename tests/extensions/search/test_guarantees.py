"""Every guarantee against a plain recount from its definition, and what is declared about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dbt_anonymize.arrays import Bools
from dbt_anonymize.privacy.grouping import classes_of
from dbt_anonymize.privacy.registry import MODELS, compile_guarantees
from dbt_anonymize.privacy.table import Classes, Table
from tests.extensions.search.guaranteed import Declared, presence, violating_of
from tests.oracle import search as recount
from tests.sampling import examples
from tests.worlds.coded import coarser, nodes, tables

pytestmark = pytest.mark.costly

MANY = examples(settings(deadline=None), 300)


SOME = examples(settings(deadline=None), 100)


def on_attribute(
    model: str, **parameters: st.SearchStrategy[Any]
) -> Callable[[Table], st.SearchStrategy[Declared]]:
    def strategy(table: Table) -> st.SearchStrategy[Declared]:
        names = [attribute.name for attribute, _ in table.sensitive]
        return st.fixed_dictionaries(
            {"model": st.just(model), "attribute": st.sampled_from(names), **parameters}
        )

    return strategy


def of_table(
    model: str, **parameters: st.SearchStrategy[Any]
) -> Callable[[Table], st.SearchStrategy[Declared]]:
    return lambda _table: st.fixed_dictionaries({"model": st.just(model), **parameters})


def diversity(table: Table) -> st.SearchStrategy[Declared]:
    """Draw l within the number of values, which otherwise is an error."""

    def of(position: int) -> st.SearchStrategy[Declared]:
        attribute = table.sensitive[position][0]
        size = max(attribute.size, 2)
        whole, real = st.integers(2, size), st.sampled_from([1.2, 1.5, 2.0, size - 0.5, size])
        form = {"model": st.just("l_diversity"), "attribute": st.just(attribute.name)}
        return st.one_of(
            st.fixed_dictionaries({**form, "l": whole, "variant": st.just("distinct")}),
            st.fixed_dictionaries(
                {**form, "l": real, "variant": st.sampled_from(["entropy", "grassberger"])}
            ),
            st.fixed_dictionaries(
                {
                    **form,
                    "l": whole,
                    "variant": st.just("recursive"),
                    "c": st.sampled_from([0.5, 1, 1.5, 3]),
                }
            ),
        )

    return st.integers(0, len(table.sensitive) - 1).flatmap(of)


SHARE = st.sampled_from([0.1, 0.2, 0.25, 0.3, 0.5, 0.6, 0.75, 0.9])


_CLASS_MODELS: Mapping[str, Callable[[Table], st.SearchStrategy[Declared]]] = {
    "k_anonymity": of_table("k_anonymity", k=st.integers(2, 6)),
    "k_map": of_table("k_map", k=st.integers(2, 9)),
    "k_map, estimated": of_table(
        "k_map",
        k=st.integers(2, 9),
        estimator=st.sampled_from(["poisson", "zero_truncated_poisson"]),
        significance=st.sampled_from([0.01, 0.1, 0.5]),
    ),
    "alpha_k_anonymity": on_attribute("alpha_k_anonymity", alpha=SHARE, k=st.integers(2, 3)),
    "alpha_k_anonymity of some values": on_attribute(
        "alpha_k_anonymity", alpha=SHARE, k=st.just(2), values=st.just([0])
    ),
    "l_diversity": diversity,
    "t_closeness": on_attribute(
        "t_closeness", t=SHARE, distance=st.sampled_from(["equal", "ordered", "hierarchical"])
    ),
    "n_t_closeness": on_attribute(
        "n_t_closeness",
        n=st.integers(2, 8),
        t=SHARE,
        distance=st.sampled_from(["equal", "ordered", "hierarchical"]),
    ),
    "beta_likeness": on_attribute(
        "beta_likeness",
        beta=st.sampled_from([0.25, 0.5, 1, 2]),
        variant=st.sampled_from(["basic", "enhanced"]),
    ),
    "delta_disclosure": on_attribute("delta_disclosure", delta=st.sampled_from([0.5, 1, 2])),
    "delta_presence": presence,
    "reidentification_risk, highest": of_table(
        "reidentification_risk", highest=st.sampled_from([0.1, 0.2, 0.25, 0.3, 0.5, 1])
    ),
    "no_attack": of_table(
        "no_attack",
        adversary_gain=st.sampled_from([0, 2.1, 4, 10]),
        adversary_cost=st.sampled_from([0.7, 1, 3]),
        attacker=st.sampled_from(["prosecutor", "journalist"]),
    ),
    "profitable": of_table(
        "profitable",
        publisher_benefit=st.sampled_from([1, 4]),
        publisher_loss=st.sampled_from([0, 1, 3]),
        adversary_gain=st.sampled_from([0, 2.1, 4, 10]),
        adversary_cost=st.sampled_from([0.7, 1, 3]),
        attacker=st.sampled_from(["prosecutor", "journalist"]),
    ),
}
CLASS_MODELS = {name: of for name, of in _CLASS_MODELS.items() if name.partition(",")[0] in MODELS}


RELEASE_MODELS: Mapping[str, Callable[[Table], st.SearchStrategy[Declared]]] = {
    "average": of_table("reidentification_risk", average=SHARE),
}


def is_possible(table: Table, declared: Declared) -> bool:
    """Tell whether l is at most the number of values, and n that of people."""
    if declared.get("n", 0) > recount.people_of(table):
        return False
    sizes = {attribute.name: attribute.size for attribute, _ in table.sensitive}
    return "l" not in declared or declared["l"] <= sizes[declared["attribute"]]


def with_records(classes: Classes, found: Bools) -> list[bool]:
    """Leave out what is said about classes without records: nothing is promised there."""
    flags: list[bool] = (found & (classes.records > 0)).tolist()
    return flags


@pytest.mark.parametrize("model", list(CLASS_MODELS))
@SOME
@given(data=st.data())
def test_violating_classes_equal_a_recount(model: str, data: st.DataObject) -> None:
    table = data.draw(tables())
    declared = data.draw(CLASS_MODELS[model](table))
    assume(is_possible(table, declared))
    node = data.draw(nodes(table))
    classes = classes_of(table, node)
    found = compile_guarantees([declared], table).violating(classes)
    assert with_records(classes, found) == violating_of(table, node, [declared])


def several(
    models: Mapping[str, Callable[[Table], st.SearchStrategy[Declared]]], table: Table
) -> st.SearchStrategy[list[Declared]]:
    return st.lists(
        st.sampled_from(list(models)).flatmap(lambda model: models[model](table)),
        min_size=1,
        max_size=4,
    ).map(lambda drawn: [one for one in drawn if is_possible(table, one)])


@MANY
@given(st.data())
def test_several_guarantees_hold_together(data: st.DataObject) -> None:
    table = data.draw(tables())
    declared = data.draw(several(CLASS_MODELS, table))
    node = data.draw(nodes(table))
    classes = classes_of(table, node)
    guarantees = compile_guarantees(declared, table)
    found = guarantees.violating(classes)
    expected = violating_of(table, node, declared)
    assert with_records(classes, found) == expected
    small = (classes.people < guarantees.min_class_size) & (classes.records > 0)
    assert not (small & ~found).any()
    if guarantees.is_class_size_alone:
        assert small.tolist() == expected


@MANY
@given(st.data())
def test_the_whole_release_keeps_its_guarantees_with_the_least_suppression(
    data: st.DataObject,
) -> None:
    table = data.draw(tables())
    declared = data.draw(several(RELEASE_MODELS, table))
    node = data.draw(nodes(table))
    classes = classes_of(table, node)
    size = len(classes.records)
    violating = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    order = np.array(
        data.draw(st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=size, max_size=size))
    )
    candidates = [i for i in range(size) if not violating[i] and classes.records[i]]
    candidates.sort(key=lambda i: (classes.people[i], order[i], classes.first[i]))
    expected = None
    for start in range(len(candidates)):
        sizes = [int(classes.people[i]) for i in candidates[start:]]
        if all(recount.release_holds(one, sizes) for one in declared):
            expected = violating.copy()
            expected[candidates[:start]] = True
            break
    guarantees = compile_guarantees(declared, table)
    found = guarantees.suppress(classes, violating, order)
    assert found.tolist() == ([True] * size if expected is None else expected.tolist())
    most = data.draw(st.integers(0, table.total))
    needed = table.total + 1 if expected is None else int(classes.records @ expected)
    within = guarantees.suppress(classes, violating, order, most)
    assert within.tolist() == (found.tolist() if needed <= most else [True] * size)


EVERYTHING = {**CLASS_MODELS, **RELEASE_MODELS}


@pytest.mark.parametrize("model", list(EVERYTHING))
@SOME
@given(data=st.data())
def test_what_is_declared_monotone_is_monotone(model: str, data: st.DataObject) -> None:
    table = data.draw(tables())
    declared = data.draw(EVERYTHING[model](table))
    assume(is_possible(table, declared))
    guarantees = compile_guarantees([declared, {"model": "k_anonymity", "k": 1}], table)
    node = data.draw(nodes(table))
    upper = data.draw(coarser(table, node))
    counts = []
    for one in (node, upper):
        classes = classes_of(table, one)
        violating = guarantees.violating(classes) & (classes.records > 0)
        counts.append(int(classes.records @ guarantees.suppress(classes, violating)))
    if guarantees.is_monotone_in_generalization and counts[0] == 0:
        assert counts[1] == 0
    if guarantees.is_monotone_in_suppression:
        assert counts[1] <= counts[0]
