"""Checks of classes whose verdict is known."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.search.diagnosis import explain_infeasible
from dbt_anonymize.extensions.search.losses.registry import make_loss
from dbt_anonymize.extensions.search.optimum import search
from dbt_anonymize.extensions.search.unavoidable import is_impossible
from dbt_anonymize.privacy.grouping import classes_of
from dbt_anonymize.privacy.registry import MODELS, compile_guarantees
from dbt_anonymize.privacy.table import (
    Attribute,
    SensitiveAttribute,
    Table,
)
from tests.extensions.search.guaranteed import Declared, violating_of


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
    assert is_impossible(alone, classes)
    assert not is_impossible(alone, classes_of(table, (1,)))
    with_size = compile_guarantees([presence, {"model": "k_anonymity", "k": 2}], table)
    assert not is_impossible(with_size, classes)


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
    assert (size.attributes, size.needs_population) == ([], False)
    assert not size.release_rules
    assert size.names == ["k_anonymity"]
    both = compile_guarantees(
        [
            {"model": "l_diversity", "attribute": "disease", "l": 2, "variant": "distinct"},
            {"model": "k_map", "k": 5},
            {"model": "reidentification_risk", "average": 0.1},
        ],
        table,
    )
    assert ([position for _, position, _ in both.attributes], both.needs_population) == ([0], True)
    assert both.release_rules
    assert not both.is_class_size_alone
    assert both.names == ["l_diversity of disease", "k_map", "reidentification_risk"]


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
            f"{[*MODELS][-1]}; got uniqueness.",
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
