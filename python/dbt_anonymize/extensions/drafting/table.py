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
from dbt_anonymize.extensions.drafting.names import name_indicates
from dbt_anonymize.extensions.drafting.plans import Plan, plan_hierarchy, seed_name
from dbt_anonymize.extensions.drafting.proposal import KEY, Proposal, is_amount
from dbt_anonymize.extensions.drafting.subjects import propose_subject
from dbt_anonymize.extensions.drafting.survival import find_event
from dbt_anonymize.extensions.hierarchy_builders.table_column import TableColumn
from dbt_anonymize.literals import jinja, quote_name
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.validation import Source

K, SUPPRESSION_LIMIT, EFFORTS = 5, 0.05, 3
# Share of records with a value of their own from which a column was meant to be a key.
_NEAR_KEY = 0.95
# Most combinations of columns, which are counted one by one, the small ones first.
_MOST_COMBINATIONS, _MOST_RECORDS = 40, 5_000_000


@dataclass(frozen=True)
class Draft:
    """Roles, hierarchies and efforts of a draft.

    ``subject`` is the identifier of persons with several records. ``is_tried``: models were trained
    to find the efforts; ``event``: the value of the target for which the event happened, if models
    predict the time until then; ``keep``: columns that must stay readable; ``k``: fewest people of
    a class.
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
    k: int = K

    @property
    def bounds(self) -> dict[str, int]:
        """Highest level of each quasi-identifier that must stay readable: below `*`."""
        return {name: self.plans[name].readable for name in self.keep if name in self.plans}

    @property
    def uncounted(self) -> tuple[int, int] | None:
        """Smallest and largest size of combinations that were not counted, if any."""
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
        """Share of outer records, if a hierarchy was built from targets."""
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
) -> Draft:
    """Build hierarchies and ``efforts`` efforts for the proposed roles; nothing is written.

    ``place`` is the relation option of the commands of the hierarchies, ``folder`` their folder of
    seeds; ``by_target``: categories merge by target.
    """
    plans: dict[str, Plan] = {}
    failed: dict[str, str] = {}
    taken: set[str] = set()
    quasi = [proposal for proposal in proposals if proposal.role == "quasi_identifier"]
    inner = find_inner(warehouse, relation, proposals) if by_target else None
    for proposal in quasi:
        column = TableColumn.find(warehouse, relation, proposal.name)
        try:
            seed = seed_name(name, proposal.name, taken)
            plans[proposal.name] = plan_hierarchy(
                proposal.facts, column, seed, place, folder, inner=inner
            )
        except (HierarchyError, WarehouseError) as error:
            failed[proposal.name] = str(error)
    subject = propose_subject(proposals)
    level_sets: list[dict[str, int]] = []
    if efforts and not failed:
        level_sets = first_efforts(
            warehouse,
            relation,
            list(plans.values()),
            k=K,
            suppression_limit=SUPPRESSION_LIMIT,
            length=efforts,
            subject=subject.name if subject else None,
        )
    return Draft(
        proposals=proposals,
        plans=plans,
        failed=failed,
        singled=_combinations(warehouse, relation, quasi),
        efforts=level_sets,
        subject=subject,
    )


def with_event(warehouse: Warehouse, relation: Any, drafted: Draft, event: str | None) -> Draft:
    """Return a draft with the value of its event, if models predict the time until it.

    Without ``event`` the values of the target must settle it, else it is a `SpecError`.
    """
    if drafted.time is None or drafted.target is None:
        return drafted
    return replace(drafted, event=find_event(warehouse, relation, drafted.target.name, event))


def _remedy_without_key(relation: Any, declared: Source, proposals: Sequence[Proposal]) -> str:
    """Say where a key is nearly there, which more often means doubled records than a missing one.

    Examples
    --------
    >>> from dbt_anonymize.extensions.drafting.facts import ColumnFacts
    >>> facts = ColumnFacts("id", "BIGINT", "number", 3005, 3005, 3000)
    >>> print(_remedy_without_key(None, Source(ref="visits"), [Proposal(facts, "identifier", "")]))
    id has 3,000 values in 3,005 records: remove doubled records in a model before.
    """
    near = [
        column
        for column in (proposal.facts for proposal in proposals)
        if name_indicates(column.name, "key") and _NEAR_KEY < column.distinct / column.records < 1
    ]
    if near:
        column = max(near, key=lambda one: one.distinct)
        return (
            f"{column.name} has {column.distinct:,} values in {column.records:,} records: remove "
            "doubled records in a model before."
        )
    return (
        "Add one in a model, made of columns that tell records apart and are not released as they "
        "are (person_no || '-' || visit_no). Without such columns number the records, which get "
        f"other keys once others come in between: write models/{relation.identifier}_numbered.sql, "
        f"`{_numbering_model(relation, declared, proposals)}`, and "
        f"`dbt run --select {relation.identifier}_numbered`."
    )


def _numbering_model(relation: Any, declared: Source, proposals: Sequence[Proposal]) -> str:
    """Return a model that numbers records where they lie, by columns not released as they are."""
    hidden = [one.name for one in proposals if not one.is_unchanged]
    order = f"order by {', '.join(map(quote_name, hidden))}" if hidden else ""
    place = f", database={jinja(relation.database)}" if relation.database else ""  # Spark has none
    names = [declared.ref] if declared.ref else declared.source or ()
    call = f"{'ref' if declared.ref else 'source'}({', '.join(map(jinja, names))})"
    return (
        f"{{{{ config(materialized='table'{place}) }}}} "  # noqa: S608 (for the user)
        f"select row_number() over ({order}) as record_no, * from {{{{ {call} }}}}"
    )


def check_complete(
    relation: Any, declared: Source, drafted: Draft, *, needs_target: bool = True
) -> None:
    """Raise a `SpecError` for a draft that still needs decisions."""
    table = relation.identifier
    if not any(proposal.role == KEY for proposal in drafted.proposals):
        raise SpecError(
            f"{table}: must have a column that is unique and never NULL, the record key; it has "
            f"none. {_remedy_without_key(relation, declared, drafted.proposals)}"
        )
    if needs_target and drafted.target is None:
        raise SpecError(
            f"{table}: must have a column that models predict; none was found. Name it: "
            "--predict <column>, or train no model: --purpose statistics."
        )
    if not drafted.plans:
        raise SpecError(
            f"{table}: must have columns that others could know of people, such as age or "
            "place; none was found. Declare them: `dbt-anonymize init` drafts a spec to edit."
        )


def _combinations(
    warehouse: Warehouse, relation: Any, quasi: Sequence[Proposal]
) -> list[tuple[tuple[str, ...], int]]:
    """Return sets of quasi-identifiers with the records that each singles out; all come last."""
    names = [proposal.name for proposal in quasi]
    sets: list[tuple[str, ...]] = []
    is_large = bool(quasi) and quasi[0].facts.records > _MOST_RECORDS
    for size in range(2, 2 if is_large else len(names)):
        if len(sets) + math.comb(len(names), size) > _MOST_COMBINATIONS:
            break
        sets += combinations(names, size)
    all_sets = [*sets, *([tuple(names)] if len(names) > 1 else [])]
    return [
        *(((proposal.name,), proposal.facts.singled) for proposal in quasi),
        *((proposal, singled_out(warehouse, relation, proposal)) for proposal in all_sets),
    ]
