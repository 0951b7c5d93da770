"""The private search: scores of sensitivity 1, one draw, paid for before it looks."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.search import exponential
from dbt_anonymize.extensions.search.exponential import draw, node_scores
from dbt_anonymize.privacy.table import Attribute, Table
from tests.extensions.search.running import run
from tests.projects import Project
from tests.sampling import examples
from tests.worlds.private import changed, write

QUICK = settings(deadline=None, derandomize=True, database=None)
SHARES = ((0.25, 0.5, 1.0), (0.5, 1.0))
PEOPLE = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), min_size=1, max_size=40)


def table(people: list[tuple[int, int]]) -> Table:
    counted = Counter(people)
    first = Attribute(
        name="place",
        levels=(np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64)),
        shares=(np.full(4, 0.25), np.full(2, 0.5), np.ones(1)),
        domain_size=4,
        smallest_share=0.25,
        weight=2.0,
    )
    second = Attribute(
        name="answer",
        levels=(np.arange(2), np.zeros(2, dtype=np.int64)),
        shares=(np.full(2, 0.5), np.ones(1)),
        domain_size=2,
        smallest_share=0.5,
    )
    return Table(
        attributes=(first, second),
        leaves=np.array(list(counted), dtype=np.int64, order="F"),
        records=np.array(list(counted.values()), dtype=np.int64),
    )


def expected(people: list[tuple[int, int]], node: tuple[int, ...], size: int) -> float:
    """Return a score from its definition."""
    labels = [
        tuple(of[level][leaf] for of, level, leaf in zip(_labels(), node, person, strict=True))
        for person in people
    ]
    sizes = Counter(labels)
    cost = (2 * SHARES[0][node[0]] + SHARES[1][node[1]]) / 3
    total = sum(cost if sizes[label] >= size else 1.0 for label in labels)
    return -total / (size - 1)


def _labels() -> tuple[list[list[int]], list[list[int]]]:
    return ([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]], [[0, 1], [0, 0]])


@given(people=PEOPLE, more=st.tuples(st.integers(0, 3), st.integers(0, 1)), size=st.integers(2, 9))
@examples(QUICK, 300, 40)
def test_scores_are_those_of_the_definition_and_one_person_changes_them_by_at_most_1(
    people: list[tuple[int, int]], more: tuple[int, int], size: int
) -> None:
    # The values that occur shift codes: all of them do.
    people = people + list(itertools.product(range(4), range(2)))
    nodes, scores = node_scores(table(people), size)
    assert set(nodes) == set(itertools.product(range(3), range(2))) - {(0, 0)}
    for node, score in zip(nodes, scores, strict=True):
        assert score == pytest.approx(expected(people, node, size))
    _, further = node_scores(table([*people, more]), size)
    assert np.abs(further - scores).max() <= 1 + 1e-9


def test_a_fixed_attribute_stays_at_level_0() -> None:
    nodes, _ = node_scores(table([(0, 0), (3, 1)]), 2, fixed=["answer"])
    assert nodes == ((1, 0), (2, 0))


def test_too_many_nodes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exponential, "MOST_NODES", 5)
    with pytest.raises(SearchError, match="draws among at most 5 combinations of levels; got 6"):
        node_scores(table([(0, 0)]), 2)


def test_draws_have_the_probabilities_of_the_exponential_mechanism() -> None:
    scores, epsilon, draws = np.array([0.0, -1.0, -4.0]), 1.0, 20_000
    weights = np.exp(epsilon * scores / 2)
    drawn = Counter(draw(scores, epsilon) for _ in range(draws))
    for place, share in enumerate(weights / weights.sum()):
        # Eight standard deviations.
        assert abs(drawn[place] - draws * share) < 8 * (draws * share * (1 - share)) ** 0.5


@pytest.mark.needs("differential_privacy")
def test_a_search_is_paid_for_and_shows_nothing_but_what_it_drew(
    built_samples: Project, tmp_path: Path
) -> None:
    project = built_samples.copy(tmp_path / "project")
    refused = run(project, name="shielded")
    assert refused.exit_code == 2
    assert "must be paid for" in " ".join(refused.output.split())
    private = {"epsilon": 1, "delta": 0.05, "search_epsilon": 0.2, "total_epsilon": 1.2}
    declared = {"k_anonymity": {"k": 2}, "differential_privacy": private}
    write(project, changed(guarantees=declared, release={"effort": 1}))
    look = run(project, "--dry-run", name="shielded")
    assert look.exit_code == 2
    # The frequencies are of the same columns, so they need no new build.
    found = run(project, name="shielded")
    assert found.exit_code == 0, found.output
    spec = yaml.safe_load((project.folder / "anonymizations" / "shielded.yml").read_text("utf-8"))
    (effort,) = spec["efforts"]
    assert effort["churned"] == 0
    shown = ", ".join(f"{name} {level}" for name, level in effort.items())
    assert f"{shown} was drawn for epsilon 0.2." in " ".join(found.output.split())
    budget = "select epsilon, content from vault.main.dbt_anonymize_budget order by epsilon"
    assert project.query(budget)[0] == (0.2, "search")
    again = run(project, name="shielded")
    assert again.exit_code == 2
    assert "may cost epsilon 1.2; 1.2 is spent" in " ".join(again.output.split())
    assert len(project.query(budget)) == 2
