"""A search by quality: which candidates race, who wins, and what it costs."""

from __future__ import annotations

import itertools
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.arrays import Ints
from dbt_anonymize.extensions.search import clock, efforts, optimum
from dbt_anonymize.extensions.search.by_quality import (
    QualitySearch,
    Races,
    corrected_interval,
    ladder,
)
from dbt_anonymize.extensions.search.guided import Guided
from dbt_anonymize.extensions.search.losses.measures.loss import Loss
from dbt_anonymize.extensions.search.race import EQUAL, Budget, Candidate, Track
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import Node, Table
from dbt_anonymize.spec import load_specs
from tests.extensions.search.brute_force import feasible_nodes, numbered_table
from tests.extensions.search.reports import efforts_of
from tests.extensions.search.running import SPEC, run, text_of, with_spec
from tests.extensions.search.test_guided import predicted
from tests.projects import Project
from tests.sampling import examples
from tests.worlds.coded import tables

pytestmark = pytest.mark.sampled_tests(3)

LIMIT = Decimal("0.2")


@dataclass
class Known(Track):
    """Candidates have scores by their levels, the same on all splits, and nothing is trained."""

    test_share: float = 0.3  # type: ignore[misc]
    asked: list[tuple[Node, int]] = field(default_factory=list)
    is_level: bool = False

    @property
    def rows(self) -> Ints:
        """Nobody."""
        return np.zeros(0, dtype=np.int64)

    def train(self, pairs: Sequence[tuple[Candidate, int]]) -> float:
        """Count a second for each."""
        for one, split in pairs:
            self.asked.append((one.checked.node, split))
            score = 0.7 if self.is_level else score_of(one.checked.node)
            self.scores.setdefault(one.key, {})[split] = score
        return float(len(pairs))

    def baselines(self, splits: range) -> tuple[list[float], list[float]]:
        """Return what nobody asks for."""
        return [0.9] * len(splits), [0.5] * len(splits)


def score_of(node: Node) -> float:
    """Return a number that depends on nothing but the levels."""
    return zlib.crc32(repr(node).encode()) % 1000 / 1000


def searched(
    table: Table, sizes: Sequence[int], budget: Budget, work: int = 10**9
) -> tuple[Races, Known]:
    track = Known(None, None, [])  # type: ignore[arg-type]
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": min(sizes)}], table)
    search = QualitySearch(
        *(table, guarantees, LIMIT), track=track, budget=budget, shortlist_work=work
    )
    return search.run(sizes), track


@examples(settings(deadline=None), 60)
@given(st.data())
def test_each_class_size_has_a_winner_that_no_candidate_beats(data: st.DataObject) -> None:
    table, _ = predicted(data, data.draw(tables(has_subject=False)), outputs=1)
    found, track = searched(table, [2, 3], Budget())
    assert found.is_complete
    assert found.trained == len(track.asked) == len(set(track.asked)) or found.raced
    for required, checked in found.points:
        assert checked.k >= required
        assert checked.suppressed <= LIMIT * table.total
        guarantees = compile_guarantees([{"model": "k_anonymity", "k": 2}], table)
        feasible = feasible_nodes(table, guarantees, Guided(), LIMIT, required)
        root = tuple(attribute.height for attribute in table.attributes)
        scores = {one.node: score_of(one.node) for one in feasible if one.node != root}
        # Small lattices: every feasible node that tells something and releases somebody races.
        trained = {node for node, _ in track.asked}
        best = max(scores[node] for node in trained & scores.keys())
        assert score_of(checked.node) >= best - EQUAL


@examples(settings(deadline=None), 20)
@given(st.data())
def test_what_loses_the_least_races_to_the_end(data: st.DataObject) -> None:
    table, _ = predicted(data, data.draw(tables(has_subject=False)), outputs=1)
    track = Known(None, None, [])  # type: ignore[arg-type]
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 2}], table)
    search = QualitySearch(table, guarantees, LIMIT, track=track, budget=Budget())
    found = search.run([2])
    raced = search.raced(2)
    assert bool(raced) == bool(found.points)
    if raced:
        assert raced[0].checked == found.points[0][1]
        nodes = feasible_nodes(table, guarantees, Loss(), LIMIT, 2)
        losses = {one.node: one.loss for one in nodes}
        least = min(raced, key=search.loss)
        assert search.loss(least) == losses[least.checked.node]
        asked = Counter(node for node, _ in track.asked)
        root = tuple(attribute.height for attribute in table.attributes)
        best = min(losses, key=lambda node: (losses[node], node == root))
        as_good = [node for node in asked if losses[node] == losses[best] and node != root]
        assert not as_good or max(asked[node] for node in as_good) == max(asked.values())


def test_a_budget_ends_it_after_as_many_models() -> None:
    table = one_column()
    for count in (1, 3, 7):
        found, track = searched(table, [2], Budget(evaluations=count))
        assert found.trained == len(track.asked) == count
        assert not found.is_complete
        assert found.points
        again, _ = searched(table, [2], Budget(evaluations=count))
        assert again.points == found.points


def test_without_any_training_the_first_by_the_guided_measure_wins() -> None:
    table = one_column()
    found, track = searched(table, [2], Budget(seconds=0.0))
    assert not track.asked
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 2}], table)
    feasible = feasible_nodes(table, guarantees, Guided(), LIMIT, 2)
    ((_, checked),) = found.points
    assert checked.loss == min(one.loss for one in feasible)


def test_a_slow_machine_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates of a lattice that is not searched to its end are bounded by work, not by time."""
    table = numbered_table(3000, 5)
    count = len(table.records)
    values = np.random.default_rng(1).normal(size=count) / count**0.5
    sums = np.column_stack([np.ones(count), values**2, values])
    table = replace(table, records=np.ones(count, dtype=np.int64), predictions=sums)
    monkeypatch.setattr(optimum, "_FEWEST_CHECKS", 30)
    first, track = searched(table, [5, 20], Budget(evaluations=80), 1)
    seconds = itertools.count(0, 1000)
    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    second, slow = searched(table, [5, 20], Budget(evaluations=80), 1)
    assert slow.asked == track.asked
    assert second.points == first.points
    # More work finds other candidates.
    assert searched(table, [5, 20], Budget(evaluations=80), 10**9)[1].asked != track.asked


def one_column() -> Table:
    """Return 64 records in pairs over two columns, one of which a model tells apart."""
    table = numbered_table(64)
    count = len(table.records)
    values = np.where(np.arange(count) < count // 2, 1.0, -1.0)
    values -= values.mean()
    values /= (2 * values @ values) ** 0.5
    sums = np.column_stack([np.full(count, 2), 2 * values**2, 2 * values])
    return replace(table, records=np.full(count, 2), predictions=sums)


def test_the_ladder_begins_at_the_guaranteed_size() -> None:
    assert ladder(7, 3) == [7, 10, 20]


def test_the_interval_allows_for_splits_that_overlap() -> None:
    differences = np.array([0.1, 0.2, 0.3, 0.2])
    low, high = corrected_interval(differences, 0.5)
    variance = np.var(differences, ddof=1) * (1 / 4 + 1)
    assert (low + high) / 2 == pytest.approx(0.2)
    assert high - low == pytest.approx(2 * 3.182446305 * variance**0.5)
    assert np.isnan(corrected_interval(differences[:1], 0.5)).all()


def test_efforts_by_quality_keep_what_the_target_needs(shop: Project) -> None:
    """The target is the gender, as far as it is known: all else is given up sooner."""
    shop.execute(
        "update customers_microdata "
        "set churned = case when gender = 'female' then 'yes' else 'no' end"
    )
    with_spec(shop, lambda text: text.replace("search: {measure: loss}\n", ""))
    arguments = ("--evaluations", "150", "--ks", "10,40")
    first = run(shop, *arguments, "--dry-run")
    assert first.exit_code == 0, first.output
    shown = text_of(first)
    assert "the most detailed on which decision_tree keeps 97% of its gain" in shown
    assert "of the untouched table 1.000, of the zero rule" in shown
    assert "leaves gender as it is" in shown
    assert "What was to be trained ended it" in shown
    assert "The time limit ended it" not in shown
    assert "adds less than 0.002" in shown or "add less than 0.002 each" in shown
    # Who did not say by what to search is told that the default is another one now.
    default = "searched by quality, the default; earlier versions searched by `loss`"
    assert default in shown
    assert default not in text_of(run(shop, "--measure", "quality", *arguments, "--dry-run"))
    # As often as it is asked, and written as it is shown.
    assert run(shop, *arguments).exit_code == 0
    (spec,) = load_specs(shop.folder, ["customers"])
    assert all(effort.levels is not None for effort in spec.efforts)
    levels: list[dict[str, Any]] = [dict(effort.levels or {}) for effort in spec.efforts]
    assert {one["gender"] for one in levels} == {0}
    before = efforts_of(shop)
    assert run(shop, *arguments).exit_code == 0
    assert efforts_of(shop) == before
    text = (shop.folder / SPEC).read_text(encoding="utf-8")
    assert "  # leaves gender as it is" in text or "; leaves gender as it is" in text
    assert "less than 0.002" in text


def test_records_that_the_frequencies_lack_are_counted(shop: Project) -> None:
    shop.execute("delete from customers_frequencies where rowid % 7 = 0")
    result = run(shop, "--measure", "guided")
    assert result.exit_code == 2
    assert "the frequencies must hold every record of customers_microdata" in text_of(result)


def test_a_lattice_that_is_too_large_is_not_searched_to_its_end(
    shop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Races do not depend on the optimum, which may take hours to be proven."""
    monkeypatch.setattr(efforts, "WORK_OF_SHORTLIST", 0)
    monkeypatch.setattr(optimum, "_FEWEST_CHECKS", 2)
    result = run(shop, "--measure", "quality", "--evaluations", "12", "--dry-run", "--verbose")
    assert result.exit_code == 0, result.output
    assert "It ended before all were ruled out: best so far, not proven." in text_of(result)
    assert "the most detailed on which decision_tree keeps 97% of its gain" in text_of(result)


def test_a_target_that_no_model_can_learn_is_refused_with_a_way_out(shop: Project) -> None:
    shop.execute("update customers_microdata set churned = 'no'")
    result = run(shop, "--measure", "quality")
    assert result.exit_code == 2
    assert "must have at least 2 classes" in text_of(result)
    assert "Or search with `--measure loss`, which trains no model." in text_of(result)
    assert run(shop, "--measure", "loss", "--dry-run").exit_code == 0


def test_a_target_that_has_nothing_to_do_with_the_features_is_refused(shop: Project) -> None:
    shop.execute("update customers_microdata set churned = if(hash(customer_id) % 2, 'no', 'yes')")
    result = run(shop, "--measure", "quality")
    assert result.exit_code == 2
    assert "customers: models must surely learn something before" in text_of(result)
    assert "by `search --measure loss`" in text_of(result)


def test_people_with_several_records_and_a_population_are_searched(crowd: Project) -> None:
    result = run(crowd, "--measure", "quality", "--evaluations", "12", "--ks", "5", "--dry-run")
    assert result.exit_code == 0, result.output
    assert "decision_tree keeps 97% of its gain, of 12 models trained" in text_of(result)
