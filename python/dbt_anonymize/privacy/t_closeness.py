"""t-closeness: see ``docs/models/t_closeness.md``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from dbt_anonymize.privacy import distances
from dbt_anonymize.privacy.guarantees import TOLERANCE
from dbt_anonymize.privacy.model import PrivacyModel, Probability, Weakest
from dbt_anonymize.validation import ColumnName

if TYPE_CHECKING:
    from dbt_anonymize.privacy.compiler import Compiler
    from dbt_anonymize.privacy.table import Table


class TCloseness(PrivacyModel):
    """In every class the attribute is distributed almost as in the whole table."""

    attribute: ColumnName
    t: Probability
    distance: Literal["equal", "ordered", "hierarchical"] = "equal"

    def compile(self, compiler: Compiler) -> None:
        """Say what classes and release must keep."""
        position = compiler.position(self.attribute)
        if position is None:
            return
        distance = self.distance
        p, limit = compiler.global_shares(position), self.t + TOLERANCE
        tree = compiler.table.sensitive[position][0].tree
        if distance == "equal":
            compiler.add_rule(
                3, position, lambda values: distances.equal_distance(values, p) > limit
            )
        elif distance == "ordered":
            compiler.add_rule(
                4, position, lambda values: distances.ordered_distance(values, p) > limit
            )
        elif not tree:
            compiler.problem(
                "with the hierarchical distance needs a categorical hierarchy of the attribute",
                "none",
                "Declare its hierarchy, or choose another distance",
            )
        else:
            compiler.add_rule(
                4, position, lambda values: distances.hierarchical_distance(values, p, tree) > limit
            )
        compiler.declare_convex()

    def weakest(self, table: Table) -> Sequence[Weakest]:
        """Return what an infeasible declaration may weaken."""
        return [Weakest("t", 1, 1000)]
