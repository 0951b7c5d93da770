"""State of a trial, which stays in memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from dbt_anonymize.extensions.drafting.commands.aim import Aim
from dbt_anonymize.literals import quote_name

if TYPE_CHECKING:
    from dbt_anonymize.extensions.drafting.equal_levels import DistinctLevels
    from dbt_anonymize.extensions.drafting.table import Draft
    from dbt_anonymize.extensions.trial.alternatives import Alternative, Trial
    from dbt_anonymize.extensions.trial.sample import Drawn
    from dbt_anonymize.project.descriptions import Words
    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Source, Spec


def count(warehouse: Warehouse, relation: Any, spec: Spec, drafted: Draft) -> DistinctLevels:
    """Count the combinations of a drafted table, within levels that keep columns readable."""
    from dbt_anonymize.extensions.drafting.coded_table import count_combinations  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.extensions.drafting.equal_levels import with_distinct_levels  # noqa: PLC0415

    limited = [
        str(guarantee["attribute"])
        for guarantee in spec.guarantees.resolved
        if "attribute" in guarantee
    ]
    counted = count_combinations(
        warehouse,
        relation,
        [drafted.plans[name] for name in spec.quasi_identifiers],
        subject=spec.subject,
        sensitive=list(dict.fromkeys(limited)),
        highest=drafted.bounds,
    )
    return with_distinct_levels(warehouse, relation, counted)


def guessed_text(aim: Aim, drafted: Draft) -> str:
    """Say that the target was guessed, and what could be named instead; "" where it was named."""
    from dbt_anonymize.extensions.drafting.guessed_target import guess_text  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.extensions.drafting.proposal import KEY  # noqa: PLC0415 (as above)
    from dbt_anonymize.extensions.drafting.roles import propose_role  # noqa: PLC0415 (as above)

    if aim.predict is not None or drafted.target is None:
        return ""
    # Without a target no column follows from it, nor is one left out for what it tells.
    plain = [
        propose_role(one.facts)
        for one in drafted.proposals
        if one.role != KEY and one.reason != "left out by --drop"
    ]
    return guess_text(drafted.target, plain)


def open_identifiers(warehouse: Warehouse, relation: Any, spec: Spec) -> list[str]:
    """Return the identifiers of a table in the warehouse file, which `dbt build` warns of, too."""
    stored = warehouse.find(relation) if warehouse.is_duckdb else None
    if stored is None or stored.is_view:
        return []
    is_open = relation.database == warehouse.adapter.config.credentials.database
    return [
        name for name, column in spec.columns.items() if is_open and column.role == "identifier"
    ]


def singled_by_sensitive(warehouse: Warehouse, relation: Any, spec: Spec) -> tuple[int, int]:
    """Return how many columns are sensitive, and the records that alone have their values."""
    names = [name for name, column in spec.columns.items() if column.role == "sensitive"]
    columns = ", ".join(map(quote_name, names))
    if len(names) < 2:
        return len(names), 0
    sql = f"select {columns} from {relation} group by {columns} having count(*) = 1"  # noqa: S608
    return len(names), int(warehouse.rows(f"select count(*) from ({sql}) as alone")[0][0])  # noqa: S608


@dataclass(frozen=True)
class Tried:
    """A table with drafted roles and hierarchies, and its alternatives.

    ``open_identifiers`` lie where analysts can read them. ``singled`` has the number of sensitive
    columns, and of records that alone have their values.
    """

    name: str
    source: Source
    aim: Aim
    drafted: Draft
    spec: Spec
    counted: DistinctLevels
    sampled: Drawn
    trial: Trial
    copies: list[tuple[str, str, int]]
    times: list[tuple[str, str]]
    open_identifiers: list[str]
    singled: tuple[int, int]

    @cached_property
    def guessed(self) -> str:
        """Sentence on a guessed target, or ""."""
        return guessed_text(self.aim, self.drafted)

    @cached_property
    def words(self) -> Words:
        """Words for the levels of each quasi-identifier."""
        from dbt_anonymize.hierarchies.words import level_words  # noqa: PLC0415 (keeps --help fast)

        return {plan.column: level_words(plan.hierarchy) for plan in self.counted.plans}

    def reason(self, alternative: Alternative) -> str:
        """Describe the columns that an alternative keeps and gives up, and their gains."""
        from dbt_anonymize.extensions.search.reasons import given_up  # noqa: PLC0415 (as above)
        from dbt_anonymize.project.descriptions import in_words  # noqa: PLC0415 (as above)
        from dbt_anonymize.spec import Effort  # noqa: PLC0415 (as above)

        effort = Effort(levels=dict(zip(self.words, alternative.checked.node, strict=True)))
        if not self.spec.is_tested:
            return in_words(effort, self.spec.quasi_identifiers, self.words)
        given_up_text = partial(
            given_up, columns=alternative.given, measure=self.spec.measure, feasible=""
        )
        return in_words(effort, self.spec.quasi_identifiers, self.words, given_up_text)
