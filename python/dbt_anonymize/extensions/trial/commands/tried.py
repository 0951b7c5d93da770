"""All that a trial knows of a table; nothing of it is written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from dbt_anonymize.extensions.drafting.commands.aim import Aim

if TYPE_CHECKING:
    from dbt_anonymize.extensions.drafting.counted import Counted
    from dbt_anonymize.extensions.drafting.table import Drafted
    from dbt_anonymize.extensions.trial.alternatives import Alternative, Trial
    from dbt_anonymize.extensions.trial.sample import Drawn
    from dbt_anonymize.project.descriptions import Words
    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Source, Spec


def count(warehouse: Warehouse, relation: Any, spec: Spec, drafted: Drafted) -> Counted:
    """Count the combinations of a drafted table, within the levels that keep columns readable."""
    from dbt_anonymize.extensions.drafting.counted import count_combinations  # noqa: PLC0415

    limited = [str(one["attribute"]) for one in spec.guarantees.resolved if "attribute" in one]
    return count_combinations(
        warehouse,
        relation,
        [drafted.plans[one] for one in spec.quasi_identifiers],
        subject=spec.subject,
        sensitive=list(dict.fromkeys(limited)),
        highest=drafted.bounds,
    )


@dataclass(frozen=True)
class Tried:
    """A table with drafted roles and hierarchies, and the alternatives that were found."""

    name: str
    source: Source
    aim: Aim
    drafted: Drafted
    spec: Spec
    counted: Counted
    sampled: Drawn
    trial: Trial
    copies: list[tuple[str, str, int]]
    times: list[tuple[str, str]]

    @cached_property
    def words(self) -> Words:
        """Words for the levels of each quasi-identifier."""
        from dbt_anonymize.hierarchies.words import level_words  # noqa: PLC0415 (keeps --help fast)

        return {plan.column: level_words(plan.hierarchy) for plan in self.counted.plans}

    def reason(self, one: Alternative) -> str:
        """Say what an alternative keeps and gives up, and what that would add."""
        from dbt_anonymize.extensions.search.reasons import given_up  # noqa: PLC0415 (as above)
        from dbt_anonymize.project.descriptions import in_words  # noqa: PLC0415 (as above)
        from dbt_anonymize.spec import Effort  # noqa: PLC0415 (as above)

        effort = Effort(levels=dict(zip(self.words, one.checked.node, strict=True)))
        if not self.spec.is_tested:
            return in_words(effort, self.spec.quasi_identifiers, self.words)
        said = partial(given_up, given=one.given, measure=self.spec.measure, feasible="")
        return in_words(effort, self.spec.quasi_identifiers, self.words, said)
