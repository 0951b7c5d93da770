"""Search for the levels of linked tables beside classes of their subjects."""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.extensions.linked.levels.coded import Aim, CodedTables, Node, code_tables
from dbt_anonymize.extensions.linked.levels.forecast import Forecast, Nodes, TableOutcome
from dbt_anonymize.extensions.linked.suppression.records import combined_codes

# Place of the level of each quasi-identifier among those of its hierarchy, by table.
Places = dict[str, dict[str, int]]
# Seconds of CPU of a draft for one effort, of which descents take a part.
_SECONDS, _SHARE_OF_DESCENTS = 6.0, 0.8
# Levels down and up of an exchange.
_BY_ONE, _BY_TWO = ((1, 0), (1, 1)), ((2, 0), (2, 1), (1, 2), (2, 2))


@dataclass(frozen=True)
class Found:
    """Levels of all tables, what they lose, and the sum of losses."""

    nodes: Nodes
    outcomes: list[TableOutcome]

    @property
    def loss(self) -> float:
        """Sum of the losses of all tables."""
        return math.fsum(outcome.loss for outcome in self.outcomes)


@dataclass
class LevelSearch:
    """Best-first search of the levels of all tables beside one choice of own levels.

    ``classes`` are those of own values of the subjects, -1 of those who are left out. ``bound`` is
    a lower bound of the sum of losses of all levels that are not settled yet, infinite at the end.
    It stays 0 of tables with too many levels, which are only descended.

    Levels are settled in the order of their bounds: first those without suppression, then those
    with records that are rare by themselves, and then the count itself.
    """

    tables: CodedTables
    classes: Ints
    aim: Aim
    best: Found | None = None
    bound: float = 0.0
    is_estimate: bool = False
    _forecast: Forecast | None = None
    _free: list[Floats] = field(default_factory=list)
    _order: list[Ints] = field(default_factory=list)
    _tight: dict[tuple[int, Node], float] = field(default_factory=dict)
    # Sum of bounds, whether it is tight, and the place of each table's node in its order.
    _queue: list[tuple[float, bool, Node]] = field(default_factory=list)
    _seen: set[Node] = field(default_factory=set)

    @property
    def is_over(self) -> bool:
        """Tell whether there is nothing to step through."""
        return not self._queue

    @property
    def forecast(self) -> Forecast:
        """The forecast for the classes."""
        if self._forecast is None:
            self._forecast = Forecast(self.tables, self.classes, self.aim)
            self.is_estimate = self._forecast.is_estimate
        return self._forecast

    def rest(self) -> None:
        """Free the memory of the forecast until the next step."""
        self._forecast = None

    def begin(self) -> None:
        """Order the levels of each table by their bounds without suppression, if not too many."""
        places = range(len(self.tables.listed))
        if self.tables.is_large:
            return
        self._free = [self.forecast.free_bounds(place) for place in places]
        self._order = [np.argsort(bounds, kind="stable") for bounds in self._free]
        self._push((0,) * len(self._free))
        self.bound = self._queue[0][0]

    def step(self, most: float = math.inf) -> None:
        """Settle the levels that promise the least, or bound them tighter.

        None are looked for whose sum of losses is ``most`` or more.
        """
        most = min(most, self.best.loss if self.best else math.inf)
        if not self._queue or self._queue[0][0] >= most:
            self._queue.clear()
            self.bound = math.inf
            return
        _, is_tight, places = heapq.heappop(self._queue)
        if is_tight:
            self.count(self._nodes(places), most)
        else:
            self._expand(places)
            if (bound := self._tight_bound(self._nodes(places))) < most:
                heapq.heappush(self._queue, (bound, True, places))
        self.bound = self._queue[0][0] if self._queue else math.inf

    def count(self, nodes: Nodes, most: float = math.inf) -> Found | None:
        """Count what levels lose; None beyond a limit, or if they lose ``most`` or more."""
        if self._tight_bound(nodes) >= most:
            return None
        outcomes = self.forecast.outcome(nodes, most)
        if outcomes is None:
            return None
        found = Found(nodes, outcomes)
        if self.best is None or found.loss < self.best.loss:
            self.best = found
        return found

    def descend(self, is_over: Callable[[], bool], start: Nodes | None = None) -> None:
        """Lower levels one by one as long as less is lost, then lower one and raise another.

        Without a ``start`` that holds all of them fall together from their roots at first. If there
        are too many to search through, each falls first in turn, too.
        """
        heights = tuple(table.heights for table in self.tables.listed)
        if start is None or self.count(start) is None:
            start = self._fallen_together(heights)
        self._exchange(self._fall(start, self._columns, is_over), is_over)
        for first, column in enumerate(self._columns if self.tables.is_large else ()):
            if is_over():
                return
            alone = self._fall(heights, [column], is_over)
            others = self._columns[first + 1 :] + self._columns[:first]
            self._exchange(self._fall(alone, others, is_over), is_over)

    def _fallen_together(self, heights: Sequence[Node]) -> Nodes:
        """Return the lowest levels between the lowest and the roots, in equal steps, that hold."""
        low, high = 0, max(itertools.chain(*heights))
        last = max(high, 1)

        def at(step: int) -> Nodes:
            return tuple(tuple(height * step // last for height in of) for of in heights)

        while low < high:
            step = (low + high) // 2
            low, high = (low, step) if self.count(at(step)) else (step + 1, high)
        return at(low)

    def _fall(
        self, nodes: Nodes, columns: Sequence[tuple[int, int]], is_over: Callable[[], bool]
    ) -> Nodes:
        """Lower columns in turn as long as less is lost; return the last levels."""
        found, falling = self.count(nodes), list(columns)
        while falling and not is_over():
            place, column = falling.pop(0)
            level = nodes[place][column] - 1
            if level < 0:
                continue
            node = (*nodes[place][:column], level, *nodes[place][column + 1 :])
            lower = (*nodes[:place], node, *nodes[place + 1 :])
            other = self.count(lower, found.loss if found else math.inf)
            if other is not None and (found is None or other.loss < found.loss):
                nodes, found = lower, other
                falling.append((place, column))
        return nodes

    @property
    def _columns(self) -> list[tuple[int, int]]:
        """The places of all tables and their columns."""
        listed = enumerate(self.tables.listed)
        return [(at, column) for at, table in listed for column in range(len(table.columns))]

    def _exchange(self, nodes: Nodes, is_over: Callable[[], bool]) -> None:
        """Lower one column and raise another as long as less is lost, by a level if that does."""
        found = self.count(nodes)
        while found is not None:
            found = self._better(found, _BY_ONE, is_over) or self._better(found, _BY_TWO, is_over)

    def _better(
        self, found: Found, steps: Sequence[tuple[int, int]], is_over: Callable[[], bool]
    ) -> Found | None:
        for nodes in self._around(found.nodes, steps):
            if is_over():
                return None
            better = self.count(nodes, found.loss)
            if better is not None and better.loss < found.loss:
                return better
        return None

    def _around(self, nodes: Nodes, steps: Sequence[tuple[int, int]]) -> Iterator[Nodes]:
        """Yield levels with one column that is lower and another that may be higher."""
        for lowered, raised in itertools.product(self._columns, self._columns):
            for down, up in steps:
                levels = [list(node) for node in nodes]
                levels[lowered[0]][lowered[1]] -= down
                levels[raised[0]][raised[1]] += up
                highest = self.tables.listed[raised[0]].heights[raised[1]]
                is_there = levels[lowered[0]][lowered[1]] >= 0 and up <= (
                    highest - nodes[raised[0]][raised[1]]
                )
                # Without a raised column each other one would do alike.
                if is_there and (lowered != raised if up else raised == (0, 0)):
                    yield tuple(map(tuple, levels))

    def _nodes(self, places: Node) -> Nodes:
        listed = zip(self.tables.listed, self._order, places, strict=True)
        return tuple(table.nodes[order[place]] for table, order, place in listed)

    def _push(self, places: Node) -> None:
        self._seen.add(places)
        bounds = zip(self._free, self._order, places, strict=True)
        total = math.fsum(float(free[order[place]]) for free, order, place in bounds)
        heapq.heappush(self._queue, (total, False, places))

    def _expand(self, places: Node) -> None:
        """Queue the levels that follow: no others have a lower bound without suppression."""
        for table, place in enumerate(places):
            following = (*places[:table], place + 1, *places[table + 1 :])
            if place + 1 < len(self._order[table]) and following not in self._seen:
                self._push(following)

    def _tight_bound(self, nodes: Nodes) -> float:
        return math.fsum(self._tight_of(place, node) for place, node in enumerate(nodes))

    def _tight_of(self, place: int, node: Node) -> float:
        if (place, node) not in self._tight:
            is_hopeless = any(
                table == place and bound == math.inf and all(map(int.__le__, node, other))
                for (table, other), bound in self._tight.items()
            )
            bound = math.inf if is_hopeless else self.forecast.bound(place, node)
            self._tight[place, node] = bound
        return self._tight[place, node]


def draft(
    subjects: Mapping[str, Any],
    tables: Mapping[str, Mapping[str, Any]],
    *,
    efforts: Sequence[Mapping[str, int]],
    k: int,
    known_records: int,
) -> list[Places]:
    """Return, for each effort of the subjects, the levels that lose the least within the limits.

    They are roots if none are within them.
    """
    coded = code_tables(subjects["rows"]["number"], tables)
    aim = Aim(k, known_records)
    return [_named(coded, _least(coded, _classes(subjects, levels, k), aim)) for levels in efforts]


def _least(tables: CodedTables, classes: Ints, aim: Aim) -> Nodes:
    """Return the levels that lose the least, as far as found in time."""
    search = LevelSearch(tables, classes, aim)
    begin = time.process_time()

    def is_over(share: float = 1.0) -> bool:
        return time.process_time() - begin > share * _SECONDS

    search.descend(lambda: is_over(_SHARE_OF_DESCENTS))
    search.begin()
    while not (search.is_over or is_over()):
        search.step()
    return search.best.nodes if search.best else tuple(table.heights for table in tables.listed)


def _classes(subjects: Mapping[str, Any], levels: Mapping[str, int], k: int) -> Ints:
    """Return the class of each subject, -1 if it is of fewer than k."""
    rows, labels = subjects["rows"], subjects["labels"]
    classes = np.zeros(len(rows["number"]), dtype=np.int64)
    for column, level in levels.items():
        codes = np.unique(np.asarray(labels[column][level]), return_inverse=True)[1].reshape(-1)
        classes = combined_codes(classes, codes[rows[column]])
    return np.where(np.bincount(classes)[classes] >= k, classes, -1)


def _named(tables: CodedTables, nodes: Nodes) -> Places:
    listed: Iterator[tuple[tuple[str, Any], Node]] = zip(tables.by_name.items(), nodes, strict=True)
    return {name: dict(zip(table.columns, node, strict=True)) for (name, table), node in listed}
