"""Payouts per record: records are generalized further only where the payout rises."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.extensions.recoding.compilation import GAME, PAID_CASES, Case
from tests.extensions.recoding.oracle import Leaves, World
from tests.extensions.recoding.world import PROPERTY, Warehouse, worlds
from tests.oracle import privacy
from tests.oracle.generalization import IntervalHierarchy, generalize
from tests.sampling import examples

pytestmark = [pytest.mark.sampled_tests(1), pytest.mark.needs("payouts")]

TIE = 1e-8

Labels = tuple[str, ...]
Shares = tuple[float, ...]
Shown = Mapping[int, tuple[Labels, Shares]]

each_case = pytest.mark.parametrize("case", PAID_CASES, ids=lambda case: str(case.name))


def at_levels(world: World, levels: tuple[int, ...]) -> Shown:
    """Return labels and shares of every record where all have these levels."""
    return {
        key: (
            tuple(
                str(generalize(hierarchy, level, value))
                for hierarchy, level, value in zip(
                    world.hierarchies, levels, record.quasi_identifiers, strict=True
                )
            ),
            tuple(
                share(world, place, level, record.quasi_identifiers[place])
                for place, level in enumerate(levels)
            ),
        )
        for key, record in enumerate(world.records)
    }


def share(world: World, place: int, level: int, value: object) -> float:
    """Return the share of a hierarchy that the label of a value covers."""
    hierarchy = world.hierarchies[place]
    if value is None or generalize(hierarchy, level, value) == "*":
        return 1.0
    leaves = Leaves(hierarchy)
    covered = leaves.covered(level, leaves.number(value) or 0)
    if isinstance(hierarchy, IntervalHierarchy):
        return 0.0 if level == 0 else leaves.width(covered)
    return len(covered) / leaves.size


def worth(world: World, case: Case, size: int, shares: Shares) -> float:
    """Return what a record brings; nothing, where its class breaks a guarantee."""
    leaves = [len(hierarchy.labels[0]) for hierarchy in world.hierarchies]
    covered = [(Fraction(max(1.0, s * n)), n) for s, n in zip(shares, leaves, strict=True)]
    one = privacy.Class(size, covered=covered)
    by_model = {guarantee["model"]: guarantee for guarantee in case.guarantees}
    by_model["k_anonymity"] = {"model": "k_anonymity", "k": case.required_k}
    guarantees = [{"attacker": "prosecutor", **guarantee} for guarantee in by_model.values()]
    is_broken = any(privacy.breaks(guarantee, one) for guarantee in guarantees)
    return 0.0 if is_broken else privacy.payout(GAME, one)


def worths(world: World, case: Case, shown: Shown) -> dict[int, float]:
    """Return what each record brings."""
    sizes = Counter(labels for labels, _ in shown.values())
    most: dict[Labels, Shares] = {}
    for labels, shares in shown.values():
        most[labels] = tuple(map(max, shares, most.get(labels, shares)))
    return {
        key: worth(world, case, sizes[labels], most[labels]) for key, (labels, _) in shown.items()
    }


def recount(world: World, case: Case, rounds: Sequence[Shown]) -> Shown:
    """Play the rounds: of each possible class the poorest move, as many as bring the most."""
    shown = dict(rounds[0])
    for coarser in rounds[1:]:
        now = worths(world, case, shown)
        possible = defaultdict(list)
        for key, (labels, _) in coarser.items():
            possible[labels].append(key)
        for labels, members in possible.items():
            most = tuple(max(of) for of in zip(*(coarser[k][1] for k in members), strict=True))
            gains = {}
            for bar in sorted({now[key] for key in members}):
                movers = [key for key in members if now[key] <= bar]
                gains[bar] = len(movers) * worth(world, case, len(movers), most) - sum(
                    now[key] for key in movers
                )
            best = max(gains.values())
            if best > TIE:
                bar = next(bar for bar, gain in gains.items() if gain > best - TIE)
                shown |= {key: (labels, coarser[key][1]) for key in members if now[key] <= bar}
    return shown


def best_cut(world: World, case: Case, rounds: Sequence[Shown]) -> float:
    """Return the largest payout of classes that are whole at one of the rounds."""

    def best(members: frozenset[int], last: int) -> float:
        shown = {key: rounds[last][key] for key in members}
        whole = sum(worths(world, case, shown).values())
        if last == 0:
            return whole
        finer = defaultdict(set)
        for key in members:
            finer[rounds[last - 1][key][0]].add(key)
        return max(whole, sum(best(frozenset(part), last - 1) for part in finer.values()))

    everybody = frozenset(range(len(world.records)))
    coarsest = defaultdict(set)
    for key in everybody:
        coarsest[rounds[-1][key][0]].add(key)
    return sum(best(frozenset(part), len(rounds) - 1) for part in coarsest.values())


@each_case
@given(data=st.data())
@examples(PROPERTY, 20, 3)
def test_payouts_per_record_equal_a_plain_recount(
    data: st.DataObject, case: Case, warehouse: Warehouse
) -> None:
    # Smaller tables seldom have a class that pays.
    world = data.draw(worlds(case).filter(lambda world: len(world.records) >= 20))
    warehouse.load(case, world, order=1)
    cells = warehouse.recode(case)
    found = {
        key: (tuple(c.label for c in of), tuple(c.share for c in of)) for key, of in cells.items()
    }
    rounds = [at_levels(world, levels) for levels in case.rounds]
    expected = recount(world, case, rounds)
    assert {k: labels for k, (labels, _) in found.items()} == {
        k: labels for k, (labels, _) in expected.items()
    }
    for key, (_, shares) in expected.items():
        assert found[key][1] == pytest.approx(shares, abs=1e-12)
    brought = sum(worths(world, case, found).values())
    assert brought >= best_cut(world, case, rounds) - TIE
    assert all(brought >= sum(worths(world, case, alone).values()) - TIE for alone in rounds)
    warehouse.load(case, world, order=2)
    assert warehouse.recode(case) == cells
