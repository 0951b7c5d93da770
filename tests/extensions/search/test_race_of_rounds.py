"""Local recodings race against the same levels for all records, and are built as they raced."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.arrays import Ints
from dbt_anonymize.extensions.search import race
from dbt_anonymize.extensions.search.by_quality import QualitySearch
from dbt_anonymize.extensions.search.by_rounds import LocalCandidates, released_classes
from dbt_anonymize.extensions.search.coded_guarantees import coded_guarantees
from dbt_anonymize.extensions.search.editing import write_efforts
from dbt_anonymize.extensions.search.efforts import Effort
from dbt_anonymize.extensions.search.load import load
from dbt_anonymize.extensions.search.local_recoding import Round
from dbt_anonymize.extensions.search.predictions import FOLDS, with_predictions
from dbt_anonymize.extensions.search.race import EQUAL, Budget, Candidate, Track
from dbt_anonymize.extensions.search.records import read_records
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import Attribute, Node, Table
from dbt_anonymize.project.generate import generate
from dbt_anonymize.spec import Spec, load_specs
from tests.extensions.search.reports import efforts_of
from tests.extensions.search.running import SPEC, run, text_of, with_spec
from tests.extensions.search.test_guided import predicted
from tests.extensions.search.test_local import labels
from tests.projects import Project, warehouse_of
from tests.sampling import examples
from tests.worlds.coded import tables

LIMIT = Decimal("0.2")


@dataclass
class Known(Track):
    """Nodes have one score, local recodings are better by some amount; nothing is trained."""

    better: float = 0.0
    test_share: float = 0.3  # type: ignore[misc]
    asked: list[Candidate] = field(default_factory=list)

    @property
    def rows(self) -> Ints:
        """Nobody."""
        return np.zeros(0, dtype=np.int64)

    def train(self, pairs: Sequence[tuple[Candidate, int]]) -> float:
        """Count a second for each."""
        for one, split in pairs:
            self.asked.append(one)
            self.scores.setdefault(one.key, {})[split] = 0.7 + (self.better if one.rounds else 0.0)
        return float(len(pairs))

    def baselines(
        self, splits: range, budget: Budget | None = None
    ) -> tuple[list[float], list[float]]:
        """Return what nobody asks for."""
        return [0.9] * len(splits), [0.5] * len(splits)


def drawn(data: st.DataObject) -> Table:
    """Draw a table with predictions and without a population: local recodings know none."""
    table = data.draw(tables(has_subject=False))
    records = np.maximum(table.records, 1)
    alone = replace(table, population=None, population_size=None, records=records)
    return predicted(data, alone, outputs=1)[0]


def raced(table: Table, sizes: Sequence[int], gain: float, budget: Budget) -> QualitySearch:
    """Return a search that has run, of nodes and local recodings."""
    track = Known(None, None, [], better=gain)  # type: ignore[arg-type]
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": min(sizes)}], table)
    search = QualitySearch(table, guarantees, LIMIT, track=track, budget=budget, is_local=True)
    search.run(sizes)
    return search


@examples(settings(deadline=None), 60)
@given(st.data())
def test_rounds_win_only_where_they_are_better(data: st.DataObject) -> None:
    table = drawn(data)
    by_little = raced(table, [2, 3], EQUAL / 2, Budget())
    assert not any(one.rounds for one in by_little.winners)
    worse = raced(table, [2, 3], -EQUAL, Budget())
    assert [one.key for one in worse.winners] == [one.key for one in by_little.winners]
    by_much = raced(table, [2, 3], 2 * EQUAL, Budget())
    local = LocalCandidates(table, by_much.candidates.checker.guarantees, np.zeros(0, dtype=int))
    for one in by_much.winners:
        # Some first node leads to rounds wherever the winner suppresses somebody in classes.
        own = local.of([one.checked.node], one.required)
        assert one.rounds or not own


@examples(settings(deadline=None), 60)
@given(st.data(), st.integers(2, 4))
def test_a_candidate_releases_everybody_in_classes_of_its_size(data: st.DataObject, k: int) -> None:
    table = drawn(data)
    first = tuple(data.draw(st.integers(0, one.height)) for one in table.attributes)
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 2}], table)
    rows = np.arange(len(table.records))
    for one in LocalCandidates(table, guarantees, rows).of([first], k):
        assert one.rounds[0] == first
        assert len(one.rounds) > 1
        assert one.round_of is not None
        sizes: dict[tuple[int, ...], int] = {}
        for row, number in enumerate(one.round_of.tolist()):
            label = (number, *labels(table, one.rounds[number], row))
            sizes[label] = sizes.get(label, 0) + int(table.records[row])
        # Classes of several rounds may be one, never smaller.
        assert one.checked.k >= min(size for size in sizes.values() if size) >= k
        assert len(set(one.classes.tolist())) <= len(sizes)


@examples(settings(deadline=None), 60)
@given(st.data())
def test_a_column_is_finer_or_gone_in_all_rounds_for_the_same_records(data: st.DataObject) -> None:
    table = drawn(data)
    first = tuple(data.draw(st.integers(0, one.height)) for one in table.attributes)
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 2}], table)
    local = LocalCandidates(table, guarantees, np.arange(len(table.records)))
    for one in local.of([first], 2):
        finer, without = local.finer(one), local.without(one)
        at_root = [
            axis
            for axis, attribute in enumerate(table.attributes)
            if {node[axis] for node in one.rounds} == {attribute.height}
        ]
        assert {*finer} <= {*at_root}
        assert not {*without} & {*at_root}
        for axis, other in [*finer.items(), *without.items()]:
            assert other.round_of is not None
            assert one.round_of is not None
            assert other.round_of.tolist() == one.round_of.tolist()
            height = table.attributes[axis].height
            sizes: dict[tuple[int, ...], int] = {}
            for row, number in enumerate(one.round_of.tolist()):
                node = list(one.rounds[number])
                node[axis] = height - 1 if axis in finer else height
                assert tuple(node) == other.rounds[number]
                label = (number, *labels(table, tuple(node), row))
                sizes[label] = sizes.get(label, 0) + int(table.records[row])
            least = min(size for size in sizes.values() if size)
            assert other.checked.k >= least
            assert other.checked.is_feasible == (other.checked.k >= 2)
        assert all(other.checked.k >= 2 * one.checked.k for other in without.values())


@pytest.mark.parametrize(("second", "sizes"), [((2, 1), [3, 7]), ((1, 1), [3, 6, 1])])
def test_classes_of_two_rounds_join_where_both_are_suppressed_labels(
    second: Node, sizes: list[int]
) -> None:
    """NULL, the last leaf, is `*` at every level; the one group of the others is not."""
    one, shares = np.array([0, 0, 0]), np.array([0.5, 0.5, 1.0])
    levels = (np.arange(3), np.array([0, 0, 1]), one)
    age = Attribute("age", levels, (shares, np.ones(2), np.ones(1)), 2, 0.5)
    sex = Attribute("sex", (np.arange(2), one[:2]), (shares[:2], np.ones(1)), 2, 0.5)
    leaves = np.array([[0, 0], [2, 1], [2, 0], [1, 1]])
    table = Table((age, sex), leaves, records=np.array([3, 2, 4, 1]))
    is_first = np.array([True, True, False, False])
    classes, of_row = released_classes(table, [Round((0, 1), is_first), Round(second, ~is_first)])
    assert classes.people.tolist() == sizes
    assert [sizes[number] for number in of_row] == [3, sizes[1], sizes[1], sizes[-1]]


@dataclass
class Scene:
    """A project whose records are read as a search reads them."""

    spec: Spec
    table: Table
    search: QualitySearch
    track: Track


def scene_of(project: Project) -> Scene:
    """Read the records of the customers."""
    (spec,) = load_specs(project.folder, ["customers"])
    with warehouse_of(project) as warehouse:
        loaded = load(warehouse, spec, measure="guided")
        records = read_records(warehouse, spec, loaded, FOLDS)
        declared = coded_guarantees(warehouse, spec)
    table = with_predictions(loaded.table, records)
    track = Track(records, spec.tests, list(spec.quasi_identifiers))
    limit = Decimal(str(spec.suppression_limit))
    guarantees = compile_guarantees(declared, table)
    search = QualitySearch(table, guarantees, limit, track=track, budget=Budget(), is_local=True)
    return Scene(spec, table, search, track)


def as_effort(spec: Spec, one: Candidate) -> Effort:
    """Return a candidate as a spec writes it."""
    levels = [dict(zip(spec.quasi_identifiers, node, strict=True)) for node in one.key[0]]
    if one.rounds:
        return Effort(recoding="local", rounds=tuple(levels), k=one.required)
    return Effort(levels=levels[0], k=one.required)


@pytest.mark.sampled_tests(group="builds")
def test_scores_of_a_race_are_those_of_the_evaluation(
    shop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The splits of a race are no others here.
    monkeypatch.setattr(race, "_FIRST_SPLIT", 1)
    scene = scene_of(shop)
    local = LocalCandidates(
        scene.table, scene.search.candidates.checker.guarantees, scene.track.rows
    )
    firsts: list[Node] = [(1, 1, 0), (2, 1, 0), (3, 0, 0), (0, 2, 1), (2, 3, 0)]
    candidates = [*local.of(firsts, 5), *local.of(firsts[1:3], 12)]
    candidates += [one for node in firsts for one in [scene.search.candidates.of(node, 5)] if one]
    assert sum(bool(one.rounds) for one in candidates) >= 5
    assert sum(not one.rounds for one in candidates) >= 1
    scene.track.train([(one, split) for one in candidates for split in range(3)])
    write_efforts(shop.folder / SPEC, [as_effort(scene.spec, one) for one in candidates])
    generate(shop.folder, ())
    shop.build("--select", "+customers_privacy", "+customers_evaluation")
    assert shop.query(
        "select k, suppressed_records from customers_privacy where effort > 0 order by effort"
    ) == [(one.checked.k, one.checked.suppressed) for one in candidates]
    for number, one in enumerate(candidates, start=1):
        evaluated = shop.query(
            "select repetition - 1, value from customers_evaluation where kind = 'measure' "
            f"and name = 'f1' and effort = {number} and model <> 'zero_rule' "
            f"and test_on = '{scene.spec.tests.test_on}' and repetition <= 3 "
            "and other is null order by repetition"
        )
        assert dict(evaluated) == pytest.approx(scene.track.scores[one.key], abs=1e-9)


def test_efforts_are_written_as_they_won(shop: Project) -> None:
    """Gender tells the target: zip is kept by rounds, which all nodes of this size give up."""
    shop.execute(
        "update customers_microdata "
        "set churned = case when gender = 'female' then 'yes' else 'no' end"
    )
    # As drafts declare it.
    declared = "search: {measure: quality}"
    with_spec(shop, lambda text: text.replace("search: {measure: loss}", declared))
    arguments = ("--recoding", "local", "--ks", "40", "--evaluations", "200")
    first = run(shop, *arguments, "--dry-run")
    assert first.exit_code == 0, first.output
    shown = text_of(first)
    assert "the most detailed on which decision_tree keeps 97% of its gain" in shown
    assert run(shop, *arguments).exit_code == 0
    (effort,) = efforts_of(shop)
    assert effort.rounds
    assert effort.k == 40
    assert re.search(rf"effort asked k rounds k left out .* 1 40 {len(effort.rounds)} \d+ 0", shown)
    assert "gender as it is to *" in shown
    text = (shop.folder / SPEC).read_text(encoding="utf-8")
    assert "; by record" in text
    # As of other efforts, what the columns that all rounds give up would add.
    assert re.search("gives up .*(adds less than|add less than|would add).*; by record", text), text


def test_a_population_is_refused_before_anything_is_trained(crowd: Project) -> None:
    result = run(crowd, "--measure", "quality", "--recoding", "local")
    assert result.exit_code == 2
    assert "local recoding must have a table without a population" in text_of(result)
    assert "Search full-domain efforts instead" in text_of(result)
