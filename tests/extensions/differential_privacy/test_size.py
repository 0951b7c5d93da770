"""The class size of differential privacy: exact, as published, and as its page says."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest
from typer.testing import CliRunner

from dbt_anonymize.cli.main import app
from dbt_anonymize.extensions.differential_privacy.model import (
    DifferentialPrivacy,
    k_of,
    largest_beta,
)
from tests.docs.pages import DOCS, Page
from tests.oracle.differential_privacy import least_size

PAGE = Page(DOCS / "extensions" / "differential_privacy.md")
# What the reference tool gives for the largest beta is one larger.
PUBLISHED = [
    (1.0, 1e-4, 48),
    (1.0, 1e-6, 75),
    (2.0, 1e-4, 82),
    (0.1, 1e-6, 61),
    (1.8, 1e-7, 133),
]
# Just below and just above ln 2, where gamma * n would be a whole number: the reference tool, which
# takes intervals, gives 20 for the first, and plain floats give 17.
AROUND_LN_2 = [(0.693147, 0.01, 19), (0.693148, 0.01, 17)]
HALF_OF_BETA = [(1.0, 1e-4, 14), (1.0, 1e-6, 23), (2.0, 1e-6, 20)]


@pytest.mark.parametrize(("epsilon", "delta", "k"), PUBLISHED)
def test_it_is_one_less_than_the_reference_tool_gives(epsilon: float, delta: float, k: int) -> None:
    assert k_of(epsilon, delta, largest_beta(epsilon)) == k - 1


@pytest.mark.parametrize(("epsilon", "delta", "k"), AROUND_LN_2)
def test_whole_numbers_are_told_exactly(epsilon: float, delta: float, k: int) -> None:
    assert k_of(epsilon, delta, min(0.5, largest_beta(epsilon))) == k


@pytest.mark.parametrize(("epsilon", "delta", "k"), HALF_OF_BETA)
def test_a_smaller_sample_needs_smaller_classes(epsilon: float, delta: float, k: int) -> None:
    assert k_of(epsilon, delta, largest_beta(epsilon) / 2) == k


@pytest.mark.parametrize(
    ("epsilon", "delta", "beta"),
    [
        ("0.5", "0.05", Fraction(1, 4)),
        ("1", "0.01", Fraction(1, 2)),
        ("1", "0.05", Fraction(1, 10)),
        ("0.693147", "0.01", Fraction(1, 2) - Fraction(1, 2**20)),
        ("1.5", "0.02", Fraction(3, 4)),
    ],
)
def test_it_is_that_of_the_definition(epsilon: str, delta: str, beta: Fraction) -> None:
    declared = (float(epsilon), float(delta), float(beta))
    k = k_of(*declared)
    # Beyond these the bound of Chernoff is far below delta.
    assert k == least_size(epsilon, delta, beta, 160)


def test_the_largest_beta_is_a_probability_of_draws_and_never_too_large() -> None:
    for epsilon in (0.001, 0.1, 1.0, 2.5, 5.0):
        beta = largest_beta(epsilon)
        assert (beta * 2**52).is_integer()
        assert -math.log1p(-beta) <= epsilon * (1 + 1e-12)
        assert -math.expm1(-epsilon) - beta < 2**-51


def test_a_search_leaves_the_rest_to_the_release() -> None:
    found = DifferentialPrivacy(epsilon=1.1, delta=1e-4, search_epsilon=0.1)
    assert found.k == k_of(1.0, 1e-4, largest_beta(1.0))
    assert found.share == largest_beta(1.0)


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        ({"beta": 0.64}, "must have a beta of at most 1 - exp"),
        ({"seed": 1}, "must not have a seed"),
        ({"search_epsilon": 1.0}, "must have search_epsilon < epsilon"),
        ({"total_epsilon": 0.5}, "must have totals of at least epsilon and delta"),
        ({"epsilon": 6}, "less than or equal to 5"),
    ],
)
def test_parameters_that_promise_nothing_are_refused(
    parameters: dict[str, float], rule: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(rule)):
        DifferentialPrivacy.model_validate({"epsilon": 1.0, "delta": 1e-3, **parameters})


def test_the_page_shows_the_sizes() -> None:
    table = PAGE.table("epsilon", "k")
    assert len(table.records) >= 6
    for row in table.records:
        epsilon, delta = float(row["epsilon"]), float(row["delta"])
        largest = largest_beta(epsilon)
        beta = largest if row["beta"] == f"{largest:.3f}" else float(row["beta"])
        k = k_of(epsilon, delta, beta)
        assert (str(k), str(round(k / beta))) == (row["k"], row["people of the source"])


@pytest.mark.needs("class_sizes")
def test_the_command_prints_what_the_page_shows() -> None:
    ((command, printed),) = re.findall(
        r"```console\n\$ dbt-anonymize ([^\n]*)\n(.*?)```", PAGE.text, re.DOTALL
    )
    result = CliRunner().invoke(app, command.split())
    lines = [line.rstrip() for line in result.output.splitlines() if line.strip()]
    assert lines == printed.splitlines()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("7 --delta 0.001", "epsilon: Input should be less than or equal to 5"),
        ("1 --delta 2", "delta: Input should be less than 1"),
        ("1 --delta 0.001 --beta 0.9", "must have a beta of at most 1 - exp(-epsilon)"),
    ],
)
@pytest.mark.needs("class_sizes")
def test_the_command_refuses_what_promises_nothing(arguments: str, message: str) -> None:
    result = CliRunner().invoke(app, ["epsilon", *arguments.split()])
    assert result.exit_code == 2
    assert message in result.output
