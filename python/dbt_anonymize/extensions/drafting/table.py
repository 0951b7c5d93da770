"""From a relation to a complete draft: roles, hierarchies, combinations, efforts, a measure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from dbt_anonymize.errors import HierarchyError, SpecError, WarehouseError
from dbt_anonymize.extensions.drafting.by_target import OUTER_SHARE, find_inner
from dbt_anonymize.extensions.drafting.efforts import first_efforts
from dbt_anonymize.extensions.drafting.facts import singled_out
from dbt_anonymize.extensions.drafting.plans import Plan, plan, seed_name
from dbt_anonymize.extensions.drafting.proposal import KEY, Proposal, is_amount
from dbt_anonymize.extensions.drafting.subjects import propose_subject
from dbt_anonymize.extensions.drafting.survival import find_event
from dbt_anonymize.project.values import TableColumn
from dbt_anonymize.project.warehouse import Warehouse

K, SUPPRESSION_LIMIT, EFFORTS = 5, 0.05, 3
# Combinations are counted one by one, the small ones first; all would take longer than they tell.
_MOST_COMBINATIONS, _MOST_RECORDS = 40, 5_000_000


@dataclass(frozen=True)
class Drafted:
    """Roles, hierarchies and efforts of a draft.

    ``subject`` is the identifier that says whose record it is, where people have several.
    ``is_tried``: models were trained to find the efforts; ``event``: the value of the target that
    says that it happened, where models predict the time until then; ``keep``: columns that
    must stay readable.
    """

    proposals: Sequence[Proposal]
    plans: dict[str, Plan]
    failed: dict[str, str]
    singled: list[tuple[tuple[str, ...], int]]
    efforts: list[dict[str, int]]
    subject: Proposal | None = None
    event: str | None = None
    is_tried: bool = False
    keep: tuple[str, ...] = ()

    @property
    def bounds(self) -> dict[str, int]:
        """Highest level of each quasi-identifier that must stay readable: below `*`."""
        return {name: self.plans[name].readable for name in self.keep if name in self.plans}

    @property
    def uncounted(self) -> tuple[int, int] | None:
        """From and to how many quasi-identifiers no combinations were counted, if so."""
        sizes = sorted({len(names) for names, _ in self.singled})
        most = sizes[-1] if sizes else 0
        first = next((size for size in range(1, most) if size not in sizes), most)
        return (first, most - 1) if first < most else None

    @property
    def measure(self) -> str:
        """The measure that fits the target; accuracy rewards guessing the most frequent class."""
        if self.time is not None:
            return "concordance_index"
        return "r2" if self.target is not None and is_amount(self.target.facts) else "roc_auc"

    @property
    def outer_share(self) -> float | None:
        """Share of the records that no hierarchy has seen the target of, where one has."""
        return OUTER_SHARE if any(one.reads_target for one in self.plans.values()) else None

    @property
    def time(self) -> Proposal | None:
        """The column with the time until the target happens."""
        return next((one for one in self.proposals if one.is_time), None)

    @property
    def target(self) -> Proposal | None:
        """The column that models predict."""
        return next((one for one in self.proposals if one.is_target), None)


def draft_table(
    warehouse: Warehouse,
    relation: Any,
    proposals: Sequence[Proposal],
    *,
    name: str,
    place: str,
    folder: str,
    efforts: int = EFFORTS,
    by_target: bool = False,
) -> Drafted:
    """Build hierarchies and so many efforts for the proposed roles; nothing is written.

    ``place`` is what the commands of the hierarchies read, ``folder`` where they write seeds;
    ``by_target``: categories merge by what they mean for it.
    """
    plans: dict[str, Plan] = {}
    failed: dict[str, str] = {}
    taken: set[str] = set()
    quasi = [one for one in proposals if one.role == "quasi_identifier"]
    inner = find_inner(warehouse, relation, proposals) if by_target else None
    for one in quasi:
        column = TableColumn.find(warehouse, relation, one.name)
        try:
            seed = seed_name(name, one.name, taken)
            plans[one.name] = plan(one.facts, column, seed, place, folder, inner=inner)
        except (HierarchyError, WarehouseError) as error:
            failed[one.name] = str(error)
    subject = propose_subject(proposals)
    found: list[dict[str, int]] = []
    if efforts and not failed:
        found = first_efforts(
            warehouse,
            relation,
            list(plans.values()),
            k=K,
            suppression_limit=SUPPRESSION_LIMIT,
            length=efforts,
            subject=subject.name if subject else None,
        )
    return Drafted(
        proposals=proposals,
        plans=plans,
        failed=failed,
        singled=_combinations(warehouse, relation, quasi),
        efforts=found,
        subject=subject,
    )


def with_event(warehouse: Warehouse, relation: Any, drafted: Drafted, event: str | None) -> Drafted:
    """Return a draft with the value of its target that says that it happened, if it has a time.

    Without an ``event`` the values say so themselves, or it is a `SpecError`.
    """
    if drafted.time is None or drafted.target is None:
        return drafted
    return replace(drafted, event=find_event(warehouse, relation, drafted.target.name, event))


def check_complete(relation: str, drafted: Drafted, *, needs_target: bool = True) -> None:
    """Raise a `SpecError` for a draft that nobody can take without deciding something."""
    if not any(one.role == KEY for one in drafted.proposals):
        raise SpecError(
            f"{relation}: must have a column that is unique and never NULL, the record key; it has "
            "none. Add one in a model, such as row_number() over a stable order."
        )
    if needs_target and drafted.target is None:
        raise SpecError(
            f"{relation}: must have a column that models predict; none was found. Name it: "
            "--predict <column>, or train no model: --purpose statistics."
        )
    if not drafted.plans:
        raise SpecError(
            f"{relation}: must have columns that others could know of people, such as age or "
            "place; none was found. Declare them: `dbt-anonymize init` drafts a spec to edit."
        )


def _combinations(
    warehouse: Warehouse, relation: Any, quasi: Sequence[Proposal]
) -> list[tuple[tuple[str, ...], int]]:
    """Return sets of quasi-identifiers with the records that each singles out, all last."""
    names = [one.name for one in quasi]
    sets: list[tuple[str, ...]] = []
    is_large = bool(quasi) and quasi[0].facts.records > _MOST_RECORDS
    for size in range(2, 2 if is_large else len(names)):
        if len(sets) + math.comb(len(names), size) > _MOST_COMBINATIONS:
            break
        sets += combinations(names, size)
    wanted = [*sets, *([tuple(names)] if len(names) > 1 else [])]
    return [
        *(((one.name,), one.facts.singled) for one in quasi),
        *((one, singled_out(warehouse, relation, one)) for one in wanted),
    ]
