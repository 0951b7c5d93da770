"""Search the efforts of a spec on its coded table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Literal, cast

from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.search.by_quality import (
    WORK_OF_SHORTLIST,
    QualitySearch,
    Races,
    ladder,
)
from dbt_anonymize.extensions.search.by_rounds import FACTOR_OF_ROUNDS
from dbt_anonymize.extensions.search.chain import Chain, chain
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.detail import SHARE_OF_DETAIL, with_detail
from dbt_anonymize.extensions.search.diagnosis import explain_infeasible
from dbt_anonymize.extensions.search.evidence import check_learned
from dbt_anonymize.extensions.search.exchange import SHARE_OF_EXCHANGES
from dbt_anonymize.extensions.search.guided import Guided
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.local_recoding import find_rounds, measure_rounds
from dbt_anonymize.extensions.search.losses.base import InformationLoss
from dbt_anonymize.extensions.search.losses.registry import make_loss
from dbt_anonymize.extensions.search.measure_names import (
    GUIDED,
    PROFITABLE,
    PUBLISHER_PAYOUT,
    QUALITY,
)
from dbt_anonymize.extensions.search.optimum import checks_for, search
from dbt_anonymize.extensions.search.pareto import ParetoFront, pareto_front
from dbt_anonymize.extensions.search.publisher_payout import Game, PublisherPayout
from dbt_anonymize.extensions.search.race import Budget, Track
from dbt_anonymize.extensions.search.reasons import SHARE, Reasons, find_reasons
from dbt_anonymize.extensions.search.records import Records
from dbt_anonymize.extensions.search.results import ProgressCallback, SearchResult
from dbt_anonymize.extensions.search.training import TrainingProgress
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import Node, Table
from dbt_anonymize.spec import Effort, Spec

Recoding = Literal["full_domain", "local"]
# Called with the name of each step; returns the callback for its progress.
Steps = Callable[[str], ProgressCallback | None]

# Shares of a time limit: the optimum matters most, the Pareto front least.
_SHARE_OF_OPTIMUM, _SHARE_OF_CHAIN = 0.5, 0.6
# No effort depends on the Pareto front, which takes up to a hundred searches.
SECONDS_OF_FRONT = 60.0
# Efforts of local recoding are not on the front, and winners of a race need not be.
_SECONDS_OF_FRONT_BESIDE_EFFORTS = 5.0


@dataclass(frozen=True)
class Options:
    """Options of a search.

    ``efforts`` is the length of the chain, >= 1, unless ``ks`` lists its class sizes.
    ``time_limit`` is in seconds for everything; without one, the optimum and the chain are proven,
    and the Pareto front gets `SECONDS_OF_FRONT`. By quality it limits the CPU seconds of training,
    and ``evaluations`` the number of trained models.
    """

    efforts: int
    measure: str
    recoding: Recoding = "full_domain"
    time_limit: float | None = None
    ks: tuple[int, ...] = ()
    evaluations: int | None = None

    @property
    def loss(self) -> str:
        """The measure that compares nodes before models are trained on them."""
        return GUIDED if self.measure == QUALITY else self.measure

    @property
    def races(self) -> bool:
        """Tell whether candidates race."""
        return self.measure == QUALITY


@dataclass(frozen=True)
class LocalEffort:
    """An effort of local recoding before it is built.

    Attributes
    ----------
    required : int
        Required class size.
    rounds : tuple of Node
        Levels of each round.
    suppressed : int
        Records that no round releases.
    loss : float or None
        By the measure of the search; None for a measure that needs the classes of all rounds.
    """

    required: int
    rounds: tuple[Node, ...]
    suppressed: int
    loss: float | None


@dataclass(frozen=True)
class SearchOutcome:
    """The outcome of a search.

    ``efforts`` is the chain as a spec writes it, without a node that generalizes nothing. ``local``
    describes efforts of local recoding that did not race.
    """

    result: SearchResult
    chain: Chain
    front: ParetoFront
    efforts: tuple[Effort, ...]
    local: tuple[LocalEffort, ...] = ()
    races: Races | None = None
    reasons: Reasons = field(default_factory=Reasons)

    @property
    def is_complete(self) -> bool:
        """Tell whether the optimum and the chain are proven."""
        return self.result.is_complete and self.chain.is_complete


@dataclass(frozen=True)
class Task:
    """A search: a table, its guarantees, and the measure to minimize.

    ``records`` are those that models are trained on, if the search trains any.
    """

    spec: Spec
    table: Table
    declared: Sequence[Mapping[str, Any]]
    options: Options
    records: Records | None = None

    @property
    def suppression_limit(self) -> Decimal:
        """Share of the records that may be suppressed."""
        return Decimal(str(self.spec.suppression_limit))

    @property
    def guarantees(self) -> Guarantees:
        """The guarantees compiled for the table."""
        return compile_guarantees(self.declared, self.table)

    @property
    def _game(self) -> Game:
        """The amounts of the publisher's payout."""
        for name, declared in self.spec.guarantees.declared:
            if name == PROFITABLE:
                return cast(Game, declared)
        raise SearchError(
            "the measure publisher_payout must have the amounts of the guarantee profitable; got "
            "none. Declare it, or choose another measure."
        )

    def loss(self, factor: float | None = None) -> InformationLoss:
        """Return the measure, with the factor of the spec unless another one is given."""
        declared = self.spec.information_loss
        # Other measures have the aggregate of their publication.
        aggregate = declared.aggregate if self.options.measure == "loss" else None
        gs = declared.generalization_suppression_factor if factor is None else factor
        if self.options.loss == GUIDED:
            return Guided(gs=gs)
        if self.options.measure == PUBLISHER_PAYOUT:
            # Amounts weigh suppression themselves, except in rounds.
            return PublisherPayout(self._game, gs=0.5 if factor is None else factor)
        return make_loss(self.options.measure, aggregate=aggregate, gs=gs)


def find_efforts(task: Task, steps: Steps = lambda _: None) -> SearchOutcome:
    """Search the optimum, the efforts and the Pareto front.

    ``steps`` is called with the name of each step. Equal input gives equal efforts unless a time
    limit ends the search. A guarantee that cannot be checked, or no feasible node, is a
    `SearchError` that names the guarantee that fails and the closest feasible parameter.
    """
    is_local = task.options.recoding == "local"
    is_raced = task.options.races
    clock = Clock(None if is_raced else task.options.time_limit)
    guarantees, loss, limit = task.guarantees, task.loss(), task.suppression_limit
    common = (task.table, guarantees, loss, limit)
    result = search(
        *common,
        time_limit=clock.remaining(_SHARE_OF_OPTIMUM),
        most_checks=_optimum_checks(task.table) if is_raced else None,
        progress=steps("optimum"),
    )
    if result.optimum is None:
        raise SearchError(explain_infeasible(task.table, task.declared, limit, result.is_complete))
    races: Races | None = None
    reasons = Reasons()
    if is_raced:
        races, reasons = _race(task, guarantees, steps)
        efforts_chain = Chain(races.points, races.is_complete)
    else:
        efforts_chain = chain(
            *common,
            _class_sizes(task, guarantees) or task.options.efforts,
            start=result.optimum.node,
            clock=Clock(clock.remaining(_SHARE_OF_CHAIN), steps("efforts")),
        )
    efforts: tuple[Effort, ...]
    local: tuple[LocalEffort, ...] = ()
    if is_local and races is None:
        efforts, local = _local_efforts(task, efforts_chain, guarantees, clock, steps)
    else:
        rounds = races.rounds if races else ((),) * len(efforts_chain.points)
        efforts = _efforts(task, efforts_chain, rounds, guarantees)
    is_aside = is_local or is_raced
    seconds = _SECONDS_OF_FRONT_BESIDE_EFFORTS if is_aside else SECONDS_OF_FRONT
    time_left = clock.remaining()
    front = pareto_front(
        *common,
        time_limit=seconds
        if time_left is None
        else min(time_left, seconds)
        if is_aside
        else time_left,
        progress=steps("Pareto front"),
    )
    return SearchOutcome(result, efforts_chain, front, efforts, local, races, reasons)


def _optimum_checks(table: Table) -> int:
    """Return the number of checks for the optimum of a race, which does not depend on it."""
    return checks_for(WORK_OF_SHORTLIST, table, Lattice.of(table))


def _race(task: Task, guarantees: Guarantees, steps: Steps) -> tuple[Races, Reasons]:
    """Return the winners by quality for each class size, and the reasons for them."""
    if task.records is None:
        raise TypeError("a search by quality needs the records that models are trained on")
    names = list(task.spec.quasi_identifiers)
    budget = Budget(task.options.evaluations, task.options.time_limit)
    progress = TrainingProgress(
        steps("training models"), seconds=budget.seconds, evaluations=budget.evaluations
    )
    track = Track(task.records, task.spec.tests, names, progress)
    races_budget = budget.share(1.0 - SHARE)
    search = QualitySearch(
        *(task.table, guarantees, task.suppression_limit),
        track=track,
        budget=races_budget,
        is_local=task.options.recoding == "local",
    )
    sizes = _class_sizes(task, guarantees)
    sizes = sizes or ladder(guarantees.min_class_size, task.options.efforts)
    check_learned(track, search.least_loss_candidate(sizes[0]), races_budget)
    search.run(sizes)
    budget.pay(races_budget)
    exchanges_budget = budget.share(SHARE_OF_EXCHANGES)
    search.exchange(exchanges_budget)
    budget.pay(exchanges_budget)
    detail_budget = budget.share(SHARE_OF_DETAIL)
    races = search.settle(with_detail(search, track, search.winner_by_size, detail_budget))
    budget.pay(detail_budget)
    reasons = find_reasons(track, search.candidates, search.winners, budget, local=search.local)
    return replace(races, trained=budget.trained), reasons


def _class_sizes(task: Task, guarantees: Guarantees) -> list[int]:
    sizes = sorted(set(task.options.ks))
    if sizes and sizes[0] < guarantees.min_class_size:
        raise SearchError(
            f"class sizes must be at least the k that is guaranteed, {guarantees.min_class_size}; "
            f"got {sizes[0]}. Lower k_anonymity in the spec, or leave it out."
        )
    return sizes


def _efforts(
    task: Task, chain_: Chain, rounds: Sequence[Sequence[Node]], guarantees: Guarantees
) -> tuple[Effort, ...]:
    """Return the efforts of a chain, with the rounds of each; empty for full-domain recoding."""
    return tuple(
        _local_effort(task.spec, nodes, _effort_k(required, guarantees))
        if nodes
        else Effort(levels=_levels(task.spec, checked.node), k=_effort_k(required, guarantees))
        for (required, checked), nodes in zip(chain_.points, rounds, strict=True)
        if any(checked.node)  # level 0 everywhere is the source, which is never released
    )


def _local_effort(spec: Spec, rounds: Sequence[Node], k: int | None) -> Effort:
    levels = tuple(_levels(spec, node) for node in rounds)
    return Effort.model_validate({"recoding": "local", "rounds": levels, "k": k})


def _effort_k(required: int, guarantees: Guarantees) -> int | None:
    """Return the k of an effort; None if it is the guaranteed one."""
    return required if required > guarantees.min_class_size else None


def _local_efforts(
    task: Task, chain_: Chain, guarantees: Guarantees, clock: Clock, steps: Steps
) -> tuple[tuple[Effort, ...], tuple[LocalEffort, ...]]:
    candidates = (_search_rounds(task, required, clock, steps) for required, _ in chain_.points)
    root = tuple(attribute.height for attribute in task.table.attributes)
    local_efforts = tuple(
        effort
        for number, effort in enumerate(candidates)
        # As in a chain of nodes, only the first effort may be the root.
        if effort is not None and (number == 0 or set(effort.rounds) != {root})
    )
    if not local_efforts:
        raise SearchError(
            "rounds of levels must suppress at most suppression_limit "
            f"{task.suppression_limit:f} of the records; none that were found do, although levels "
            "that are the same for all records can. Search without `--recoding local`, or raise "
            "the limit."
        )
    efforts = tuple(
        _local_effort(task.spec, effort.rounds, _effort_k(effort.required, guarantees))
        for effort in local_efforts
    )
    return efforts, local_efforts


def _search_rounds(task: Task, required: int, clock: Clock, steps: Steps) -> LocalEffort | None:
    """Return rounds with a class size; None if they suppress more than is allowed."""
    declared = [*task.declared, {"model": "k_anonymity", "k": required}]
    guarantees = compile_guarantees(declared, task.table)
    rounds = find_rounds(
        task.table,
        guarantees,
        task.loss(FACTOR_OF_ROUNDS),
        time_limit=clock.remaining(_SHARE_OF_CHAIN),
        progress=steps(f"rounds for k = {required}"),
    )
    if not rounds:
        return None
    nodes = tuple(round_.node for round_ in rounds)
    suppressed, lost = measure_rounds(task.table, guarantees, task.loss(), nodes)
    if suppressed > task.suppression_limit * task.table.total:
        return None
    return LocalEffort(required, nodes, suppressed, lost)


def _levels(spec: Spec, node: Node) -> dict[str, int]:
    return dict(zip(spec.quasi_identifiers, node, strict=True))
