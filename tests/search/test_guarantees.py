"""Every guarantee against a plain recount from its definition, and what is declared about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dbt_anonymize.errors import SearchError
from dbt_anonymize.information_loss.registry import make_loss
from dbt_anonymize.privacy.grouping import classes_of
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import (
    Attribute,
    BoolArray,
    Classes,
    Node,
    SensitiveAttribute,
    Table,
)
from dbt_anonymize.search.diagnosis import explain_infeasible
from dbt_anonymize.search.optimum import search
from tests.oracle import search as recount
from tests.sampling import examples
from tests.worlds.coded import coarser, nodes, tables

MANY = examples(settings(deadline=None), 300)
SOME = examples(settings(deadline=None), 100)

Declared = dict[str, Any]


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


def presence(_table: Table) -> st.SearchStrategy[Declared]:
    return st.tuples(st.sampled_from([0, 0.1, 0.25, 0.5]), st.sampled_from([0.5, 0.75, 1])).map(
        lambda pair: {"model": "delta_presence", "minimum": pair[0], "maximum": pair[1]}
    )


SHARE = st.sampled_from([0.1, 0.2, 0.25, 0.3, 0.5, 0.6, 0.75, 0.9])
CLASS_MODELS: Mapping[str, Callable[[Table], st.SearchStrategy[Declared]]] = {
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
}


RELEASE_MODELS: Mapping[str, Callable[[Table], st.SearchStrategy[Declared]]] = {
    "average": of_table("reidentification_risk", average=SHARE),
}


def is_possible(table: Table, declared: Declared) -> bool:
    """Whether l is no more than the number of values, and n than that of people."""
    if declared.get("n", 0) > recount.people_of(table):
        return False
    sizes = {attribute.name: attribute.size for attribute, _ in table.sensitive}
    return "l" not in declared or declared["l"] <= sizes[declared["attribute"]]


def violating_of(table: Table, node: Node, declared: list[Declared]) -> list[bool]:
    return [
        bool(c.records) and any(recount.is_violating(table, one, c) for one in declared)
        for c in recount.classes_of(table, node)
    ]


def with_records(classes: Classes, found: BoolArray) -> list[bool]:
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


def test_monotonicity_is_declared_as_published() -> None:
    table = people_table([10, 10], [0, 1])
    declared: dict[tuple[bool, bool], list[Declared]] = {
        (True, True): [
            {"model": "k_anonymity", "k": 5},
            {"model": "k_map", "k": 5},
            {"model": "l_diversity", "attribute": "disease", "l": 2, "variant": "distinct"},
            {"model": "reidentification_risk", "average": 0.1},
        ],
        (True, False): [
            {"model": "l_diversity", "attribute": "disease", "l": 2, "variant": "entropy"},
            {"model": "t_closeness", "attribute": "disease", "t": 0.2, "distance": "equal"},
            {
                "model": "n_t_closeness",
                "attribute": "disease",
                "n": 9,
                "t": 0.2,
                "distance": "equal",
            },
            {"model": "beta_likeness", "attribute": "disease", "beta": 1, "variant": "basic"},
            {"model": "delta_disclosure", "attribute": "disease", "delta": 1},
            {"model": "delta_presence", "minimum": 0, "maximum": 0.9},
        ],
        (False, False): [
            {"model": "delta_presence", "minimum": 0.1, "maximum": 0.9},
            {"model": "l_diversity", "attribute": "disease", "l": 2, "variant": "grassberger"},
        ],
    }
    for flags, guarantees in declared.items():
        for one in guarantees:
            found = compile_guarantees([one], table)
            assert flags == (found.is_monotone_in_generalization, found.is_monotone_in_suppression)


def people_table(records: list[int], values: list[int], **more: Any) -> Table:
    """Give a table with a row per group of people, all of different towns, and a disease."""
    rows = len(records)
    levels = (np.arange(rows), np.zeros(rows, dtype=np.int64))
    town = Attribute("town", levels, (np.full(rows, 1 / rows), np.ones(1)), rows, 1 / rows)
    disease = SensitiveAttribute("disease", max(values) + 1)
    return Table(
        attributes=(town,),
        leaves=np.arange(rows)[:, np.newaxis],
        records=np.array(records),
        sensitive=((disease, np.array(values)),),
        **{"population": np.array(records) * 2, "population_size": 1000, **more},
    )


def test_a_class_of_the_population_alone_may_make_a_node_impossible() -> None:
    table = people_table([10, 0], [0, 0], population=np.array([20, 5]))
    presence = {"model": "delta_presence", "minimum": 0.1, "maximum": 0.9}
    classes = classes_of(table, (0,))
    alone = compile_guarantees([presence], table)
    assert alone.is_impossible(classes)
    assert not alone.is_impossible(classes_of(table, (1,)))
    with_size = compile_guarantees([presence, {"model": "k_anonymity", "k": 2}], table)
    assert not with_size.is_impossible(classes)


def test_nobody_need_be_present_where_the_minimum_is_zero() -> None:
    table = people_table([10, 0], [0, 0], population=np.array([20, 5]))
    declared = [{"model": "delta_presence", "minimum": 0, "maximum": 0.9}]
    result = search(table, compile_guarantees(declared, table), make_loss("loss"), Decimal(0))
    assert result.optimum is not None
    assert result.optimum.node == (0,)
    text = explain_infeasible(
        table, [*declared, {"model": "k_anonymity", "k": 50}], Decimal(0), is_proven=True
    )
    assert "delta_presence" not in text


def test_exactly_l_equally_frequent_values_have_entropy_l() -> None:
    """ARX rejects such classes for some l by rounding."""
    for size in range(2, 30):
        table = people_table([7] * size, list(range(size)))
        declared = {"model": "l_diversity", "attribute": "disease", "l": size, "variant": "entropy"}
        classes = classes_of(table, (1,))
        assert not compile_guarantees([declared], table).violating(classes).any()


def test_what_classes_must_carry_is_said() -> None:
    table = people_table([10, 10], [0, 1])
    size = compile_guarantees([{"model": "k_anonymity", "k": 5}], table)
    assert (size.attributes, size.needs_population) == ((), False)
    assert not size.release_rules
    assert size.names == ("k_anonymity",)
    both = compile_guarantees(
        [
            {"model": "l_diversity", "attribute": "disease", "l": 2, "variant": "distinct"},
            {"model": "k_map", "k": 5},
            {"model": "reidentification_risk", "average": 0.1},
        ],
        table,
    )
    assert ([position for position, _ in both.attributes], both.needs_population) == ([0], True)
    assert both.release_rules
    assert not both.is_class_size_alone
    assert both.names == ("l_diversity of disease", "k_map", "reidentification_risk")


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"model": "m_invariance"}, "must be one of k_anonymity, k_map"),
        (
            {"model": "l_diversity", "attribute": "disease", "l": 3, "variant": "distinct"},
            "l_diversity of disease must have l <= 2, the number of values that occur; got 3.",
        ),
        (
            {"model": "t_closeness", "attribute": "income", "t": 0.1, "distance": "equal"},
            "must name a sensitive attribute of the table; got income. Choose one of disease.",
        ),
        (
            {"model": "t_closeness", "attribute": "disease", "t": 0.1, "distance": "hierarchical"},
            "needs a categorical hierarchy of the attribute; got none.",
        ),
        ({"model": "k_map", "k": 3}, "needs the population, or an estimator; got neither."),
        (
            {"model": "delta_presence", "minimum": 0, "maximum": 1},
            "delta_presence needs the population; got none.",
        ),
        (
            {"model": "uniqueness", "sample_share": 0.1},
            "reidentification_risk, differential_privacy; got uniqueness.",
        ),
        (
            {"model": "k_map", "k": 3, "estimator": "poisson", "significance": 0.1},
            "k_map needs the size of the population",
        ),
    ],
)
def test_what_cannot_be_checked_is_refused(declared: Declared, message: str) -> None:
    table = people_table([10, 10], [0, 1], population=None, population_size=None)
    with pytest.raises(SearchError, match=re.escape(message)):
        compile_guarantees([declared], table)


def test_all_problems_come_in_one_message() -> None:
    table = people_table([10, 10], [0, 1], population=None)
    declared: list[Declared] = [{"model": "k_map", "k": 3}, {"model": "m_invariance"}]
    with pytest.raises(SearchError, match="k_map needs the population") as error:
        compile_guarantees(declared, table)
    assert len(str(error.value).splitlines()) == 2


def test_classes_without_their_population_are_refused() -> None:
    table = people_table([10, 10], [0, 1])
    guarantees = compile_guarantees([{"model": "k_map", "k": 3}], table)
    without = classes_of(people_table([10, 10], [0, 1], population=None), (0,))
    with pytest.raises(SearchError, match="classes must come with their population"):
        guarantees.violating(without)


@pytest.mark.parametrize("limited", [None, [0]])
def test_alpha_limits_the_share_of_the_people_though_they_have_several_values(
    limited: list[int] | None,
) -> None:
    # Both people have value 0, and each has another one too: two of four pairs, but certain.
    table = Table(
        attributes=(),
        leaves=np.zeros((4, 0), dtype=np.int64),
        records=np.ones(4, dtype=np.int64),
        sensitive=((SensitiveAttribute("disease", 3), np.array([0, 1, 0, 2])),),
        subject=np.array([0, 0, 1, 1]),
    )
    declared: Declared = {"model": "alpha_k_anonymity", "attribute": "disease"}
    declared |= {"alpha": 0.9, "k": 2} | ({} if limited is None else {"values": limited})
    assert compile_guarantees([declared], table).violating(classes_of(table, ())).tolist() == [True]
    assert violating_of(table, (), [declared]) == [True]
