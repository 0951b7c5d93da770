"""The page of the study of choices shows what is computed, and its sentences follow from it."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction

import numpy as np
import pytest

from dbt_anonymize.evaluation.problem import ZERO_RULE
from tests.papers.choice_page import (
    GROUPS,
    PAGE,
    QNFS,
    VARIED,
    plot,
    read,
    rows_of_agreement,
    rows_of_groups,
    rows_of_tables,
    rows_of_wine,
    with_choices,
)
from tests.papers.choice_study import MODELS, choices, chosen, scores
from tests.papers.choice_tables import ARE_AVAILABLE, BINS, TABLES
from tests.papers.pages import with_tables
from tests.properties.experiments import Candidate, best
from tests.properties.test_frontier import chord_of, frontier_of

TEXT = PAGE.read_text("utf-8")
SAMPLE = ("decision_tree", "k_nearest_neighbours")


@pytest.mark.sampled_tests(group="figures")
def test_a_sample_of_its_choices_is_computed() -> None:
    table = TABLES["wine"]()
    found = scores(table, SAMPLE)
    for kind, is_bounded in QNFS.items():
        shown = read(TEXT, kind)
        assert shown.k["wine"] == [effort.k for effort in table.efforts[1:]]
        for model in SAMPLE:
            computed = choices(table, found[model], found[ZERO_RULE], is_bounded=is_bounded)
            of_page = shown.chosen["wine"][list(MODELS).index(model)]
            assert [number for number, _ in computed] == of_page.tolist()
    assert with_tables(TEXT, {"wine": rows_of_wine(found)}) == TEXT
    assert [effort.keeps_guarantees for effort in table.efforts] == [True, False, *[True] * 5]
    assert f"{table.efforts[1].is_suppressed.mean():.1%}" == "6.7%"


def test_tables_and_agreement_follow_from_its_figures() -> None:
    by_qnf = {kind: read(TEXT, kind) for kind in QNFS}
    (redrawn,) = re.findall(r"^\| splits, drawn again \| (\S+) \|[ |]+\| (\S+) \|", TEXT, re.M)
    tables = {
        "tables": rows_of_tables(by_qnf["k"]),
        "agreement": rows_of_agreement(by_qnf, redrawn),
        "groups": rows_of_groups(by_qnf),
    }
    assert with_tables(TEXT, tables) == TEXT
    assert all(f"text choices {kind}\n{plot(choice)}" in TEXT for kind, choice in by_qnf.items())


@pytest.mark.parametrize("seed", range(100))
def test_the_choice_is_that_of_the_product(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = np.sort(rng.integers(2, 12, size=rng.integers(1, 6)))
    # Few values, so that there are ties and frontiers of two.
    qf = rng.integers(0, 5, size=len(k))
    candidates = {
        n: Candidate(*(Fraction(int(value)) for value in (one_qf, one_k)), int(one_k))
        for n, (one_qf, one_k) in enumerate(zip(qf, k, strict=True))
    }
    frontier = frontier_of(candidates)
    expected = frontier[:1] if len(frontier) == 2 else best(candidates, chord_of(candidates))
    assert [int(chosen(qf.astype(float), k, k.astype(float)))] == expected


def test_each_effort_contains_the_one_before() -> None:
    table = TABLES["wdbc"]()
    assert len(table.efforts) == len(BINS) + 1
    for weaker, stronger in itertools.pairwise(table.efforts[1:]):
        both = np.unique(np.hstack([weaker.values, stronger.values]), axis=0)
        assert len(both) == len(np.unique(weaker.values, axis=0))
        assert weaker.k <= stronger.k


def test_its_sentences_follow_from_its_tables() -> None:
    choice = read(TEXT, "k")
    same = {varied: choice.agreement(varied).replace("%", " %") for varied in VARIED}
    ratio = {varied: choice.ratio(varied, is_other=True) for varied in VARIED}
    verdict = " ".join(TEXT.split("\n\n")[1].split())
    shares = "in {measure} of pairs, another model in {model}, another table in {table}"
    assert shares.format(**same) in verdict
    assert "{measure} by measure, {model} by model and {table} by table".format(**ratio) in verdict
    (redrawn,) = re.findall(r"^\| splits, drawn again \| (\d+)%", TEXT, re.M)
    assert f"drawn again leave it in {redrawn} %" in verdict
    for group in ("tree, forest, extra trees, bagging", "nearest neighbours and another model"):
        assert f"({choice.agreement(*GROUPS[group])})".replace("%", " %") in verdict
    steps = [strong / weak for k in choice.k.values() for weak, strong in itertools.pairwise(k)]
    assert (f"{min(steps):.0f}", f"{max(steps) + 0.01:.0f}") == ("1", "73")
    most = [choice.k[name][choice.most(name)[0] - 1] for name in choice.k]
    assert (min(most), max(most)) == (2, 3664)
    assert "1 to 73 times" in TEXT
    assert "from 2 to 3,664" in TEXT


@pytest.mark.slow
@pytest.mark.skipif(not ARE_AVAILABLE, reason="needs tables of DBT_ANONYMIZE_DATA")
def test_the_page_shows_what_is_computed() -> None:
    assert with_choices(TEXT) == TEXT
