"""Search for own levels and those of other tables together: the least mean loss of all tables."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from dbt_anonymize.arrays import Ints
from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.search.beside import Beside, Found, LevelSearch
from dbt_anonymize.extensions.search.by_quality import ladder
from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.diagnosis import explain_infeasible
from dbt_anonymize.extensions.search.efforts import Task
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.optimum import MOST_ENUMERATED, lattice_search
from dbt_anonymize.extensions.search.results import CheckedNode, Progress, ProgressCallback
from dbt_anonymize.privacy.table import Node
from dbt_anonymize.spec import Effort, Spec

# Shares of the time of an effort in which good levels are found before all are searched through:
# from those of the effort before, from starts of several class sizes, and of what is left from one.
_SHARE_OF_BEFORE, _SHARE_OF_STARTS, _SHARE_OF_START, _STARTS = 0.2, 0.7, 0.5, 4


@dataclass(frozen=True)
class JointEffort:
    """Own levels and those beside them.

    ``loss`` is the mean over all tables, ``bound`` a lower bound of that of all others.
    ``is_estimate``: a part of the records beside was counted.
    """

    required: int
    checked: CheckedNode
    found: Found
    loss: float
    bound: float
    is_estimate: bool

    @property
    def is_proven(self) -> bool:
        """Tell whether no other levels lose less."""
        return self.bound >= self.loss


@dataclass(frozen=True)
class JointOutcome:
    """Efforts from weak to strong, as found and as a spec writes them.

    ``is_large``: there were too many levels to search through them.
    """

    points: tuple[JointEffort, ...]
    efforts: tuple[Effort, ...]
    lattice_size: int
    is_large: bool


@dataclass
class _Best:
    """The best choice so far; ``total`` is the sum of the losses of all tables."""

    checked: CheckedNode | None = None
    found: Found | None = None
    is_estimate: bool = False

    @property
    def total(self) -> float:
        if self.checked is None or self.found is None:
            return math.inf
        return self.checked.loss + self.found.loss

    def update(self, checked: CheckedNode, search: LevelSearch) -> None:
        """Take levels that lose less."""
        if search.best is not None and checked.loss + search.best.loss < self.total:
            self.checked, self.found = checked, search.best
            self.is_estimate = search.is_estimate


@dataclass
class _Queue:
    """Searches beside own nodes, by the least sum of losses that they promise."""

    nodes: list[tuple[float, int, CheckedNode, LevelSearch]] = field(default_factory=list)
    number: int = 0

    @property
    def least(self) -> float:
        return self.nodes[0][0] if self.nodes else math.inf

    def push(self, checked: CheckedNode, search: LevelSearch) -> None:
        self.number += 1
        heapq.heappush(self.nodes, (checked.loss + search.bound, self.number, checked, search))


class JointSearch:
    """Best-first search of own nodes, and of the levels beside each.

    ``rows`` is the row of the table of each record, in the order of the bytes of their keys.
    """

    def __init__(
        self, task: Task, beside: Beside, rows: Ints, progress: ProgressCallback | None = None
    ) -> None:
        self.task, self.beside, self.rows = task, beside, rows
        self.lattice = Lattice.of(task.table)
        self.checker = Checker(
            task.table, task.guarantees, task.loss(), task.suppression_limit, must_release=True
        )
        self.tables = 1 + len(beside.columns)
        self.counted = 0
        self._progress = progress

    @property
    def is_large(self) -> bool:
        """Tell whether there are too many levels to search through them."""
        return self.lattice.size > MOST_ENUMERATED or self.beside.is_large

    def find(self, k: int, seconds: float, before: JointEffort | None = None) -> JointEffort | None:
        """Return the levels of least mean loss with class size k, as far as found in time.

        ``before`` is the effort of a smaller class size.
        """
        best, clock = _Best(), Clock(seconds, self._progress)
        if before is not None:
            self._descend(
                before.checked.node, k, best, Clock(seconds * _SHARE_OF_BEFORE), before.found.nodes
            )
        self._start(k, best, Clock(seconds * _SHARE_OF_STARTS))
        bound = self._settle(k, best, clock)
        if best.checked is None or best.found is None:
            return None
        total, bound = best.total / self.tables, bound / self.tables
        return JointEffort(k, best.checked, best.found, total, min(bound, total), best.is_estimate)

    def _start(self, k: int, best: _Best, clock: Clock) -> None:
        """Descend beside the nodes of least own loss of several class sizes, and climb from there.

        ``best`` may hold levels already.
        """
        seen = {(0,) * len(self.lattice.shape)}
        if best.checked is not None:
            seen.add(best.checked.node)
            self._climb(k, best, Clock(clock.remaining(_SHARE_OF_START)), seen)
        for size in ladder(k, _STARTS):
            node = None if clock.is_over() else self._least(size, clock)
            if node is not None and node not in seen:
                seen.add(node)
                self._descend(node, k, best, Clock(clock.remaining(_SHARE_OF_START)))
                self._climb(k, best, Clock(clock.remaining(_SHARE_OF_START)), seen)

    def _climb(self, k: int, best: _Best, clock: Clock, seen: set[Node]) -> None:
        """Descend beside nodes around the best one as long as they are better."""
        while best.checked is not None and not clock.is_over():
            around = (node for node in self._around(best.checked.node) if node not in seen)
            if (node := next(around, None)) is None:
                return
            seen.add(node)
            self._descend(node, k, best, clock)

    def _least(self, size: int, clock: Clock) -> Node | None:
        """Return a node of little own loss with a class size."""
        state = lattice_search(self.checker, self.lattice, size)
        state.exclude((0,) * len(self.lattice.shape))
        best = state.run(Clock(clock.remaining(0.1)))
        return None if best is None else best.node

    def _descend(
        self,
        node: Node,
        k: int,
        best: _Best,
        clock: Clock,
        start: tuple[Node, ...] | None = None,
    ) -> None:
        checked = self._check(node, k, best.total)
        if checked is not None:
            search = self._beside(checked, k)
            search.descend(clock.is_over, best.found.nodes if best.found else start)
            best.update(checked, search)

    def _around(self, node: Node) -> Iterator[Node]:
        """Yield the nodes one level finer or coarser, in one attribute."""
        yield from self.lattice.just_finer(node)
        for axis, level in enumerate(node):
            if level < self.lattice.highest[axis]:
                yield (*node[:axis], level + 1, *node[axis + 1 :])

    def _settle(self, k: int, best: _Best, clock: Clock) -> float:
        """Search through all levels; return a lower bound of what is not settled."""
        if self.is_large:
            return 0.0
        own, queue = self._by_bound(), _Queue()
        bound, node = next(own)
        last: LevelSearch | None = None
        while min(bound, queue.least) < best.total and not clock.is_over():
            if bound <= queue.least:
                checked = self._check(node, k, best.total)
                if checked is not None:
                    search = self._beside(checked, k)
                    search.begin()
                    search.rest()
                    queue.push(checked, search)
                bound, node = next(own, (math.inf, ()))
                continue
            _, _, checked, search = heapq.heappop(queue.nodes)
            if last is not None and last is not search:
                last.rest()
            last = search
            search.step(best.total - checked.loss)
            self.counted += 1
            best.update(checked, search)
            if search.bound < math.inf:
                queue.push(checked, search)
            clock.report(lambda: self._progress_of(best, queue))
        return min(bound, queue.least)

    def _by_bound(self) -> Iterator[tuple[float, Node]]:
        """Yield lower bounds of the own loss and nodes, in this order."""
        levels = self.lattice.levels(np.arange(self.lattice.size))
        bounds = self.checker.loss.lower_bounds(self.task.table, levels)
        for place in np.argsort(bounds, kind="stable"):
            yield float(bounds[place]), tuple(levels[place].tolist())

    def _check(self, node: Node, k: int, best: float = math.inf) -> CheckedNode | None:
        """Return a node that may be an effort; None if it is infeasible."""
        if not any(node):  # the source itself, which is never released
            return None
        checked = self.checker.check(node, k, best).result
        return checked if checked.is_feasible else None

    def _beside(self, checked: CheckedNode, k: int) -> LevelSearch:
        classes, suppressed = self.checker.suppressed_classes(checked.node, k)
        is_suppressed = classes.table_rows(suppressed)[self.rows]
        return self.beside.search(np.where(is_suppressed, -1, classes.of_table_rows[self.rows]), k)

    def _progress_of(self, best: _Best, queue: _Queue) -> Progress:
        size = self.lattice.size * self.beside.size
        return Progress(self.counted, self.counted, size, best.checked)


def find_joint_efforts(
    task: Task, beside: Beside, rows: Ints, progress: ProgressCallback | None = None
) -> JointOutcome:
    """Search efforts for each class size in the time of the options, which must be given.

    A class size without levels of its own, or that no levels reach, has no effort. If none does,
    that is a `SearchError`.
    """
    search = JointSearch(task, beside, rows, progress)
    smallest = search.checker.guarantees.min_class_size
    sizes = sorted({*task.options.ks}) or ladder(smallest, task.options.efforts)
    clock = Clock(task.options.time_limit)
    points: list[JointEffort] = []
    for number, k in enumerate(sizes):
        seconds = clock.remaining(1 / (len(sizes) - number))
        before = points[-1] if points else None
        point = search.find(k, math.inf if seconds is None else seconds, before)
        if point is None or (points and _tells_nothing(task.spec, point, beside)):
            break
        if not points or _differ(points[-1], point):
            points.append(point)
    if not points:
        raise SearchError(_infeasible(task, search, sizes[0]))
    efforts = tuple(
        Effort.model_validate(
            {
                "levels": dict(zip(task.spec.quasi_identifiers, point.checked.node, strict=True)),
                beside.key: beside.levels(point.found.nodes),
                "k": point.required if point.required > smallest else None,
            }
        )
        for point in points
    )
    size = search.lattice.size * beside.size
    return JointOutcome(tuple(points), efforts, size, search.is_large)


def _differ(one: JointEffort, other: JointEffort) -> bool:
    """Tell whether a larger class size needs other levels, or loses more."""
    first, second = ((of.checked.node, of.found.nodes, of.loss) for of in (one, other))
    return first != second


def _tells_nothing(spec: Spec, point: JointEffort, beside: Beside) -> bool:
    """Tell whether everything is at its root."""
    own = tuple(tree.levels for tree in spec.quasi_identifiers.values())
    return point.checked.node == own and point.loss >= 1.0


def _infeasible(task: Task, search: JointSearch, k: int) -> str:
    top = search.checker.check(search.lattice.highest, k).result
    if not top.is_feasible:
        return explain_infeasible(
            task.table, task.declared, task.suppression_limit, is_proven=False
        )
    tables = ", ".join(search.beside.columns)
    return (
        f"no levels were found with which {tables} lose no more records than their "
        "suppression_limit. Raise it, lower known_records, or link fewer tables."
    )
