"""t-closeness: see ``docs/models/t_closeness.md``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Literal

from dbt_anonymize.arrays import Floats
from dbt_anonymize.privacy import distances
from dbt_anonymize.privacy.compiler import Compiler
from dbt_anonymize.privacy.distances import Distribution
from dbt_anonymize.privacy.guarantees import TOLERANCE
from dbt_anonymize.privacy.model import AttributeModel, Probability, Shares, Weakest

Distance = Literal["equal", "ordered", "hierarchical"]
_MEASURES = {"equal": "t", "ordered": "ordered_t", "hierarchical": "hierarchical_t"}

# Above the rounding error of sums of shares.
_ROUNDING = 1e-9


class TCloseness(AttributeModel):
    """In every class the attribute is distributed almost as in the whole table."""

    MEASURES: ClassVar[Mapping[str, str]] = {
        name: f"{distance} distance, 0 to 1, of its distribution from that of the whole table "
        "(t-closeness)"
        for distance, name in _MEASURES.items()
    }
    WEAKEST = (Weakest("t", 1, 1000),)
    PROMISE = "In each group {attribute} is distributed as in the whole table, up to {t}."
    COMPARES_WITH_TABLE = True
    MAY_DIFFER_BY_EFFORT = True
    JUDGES_PARTS = True

    t: Probability
    """Largest distance between the distribution in a class and that in the whole table."""
    distance: Distance = "equal"
    """Distance of two values: equal for all, by their order, or along the hierarchy of the column.
    """

    @property
    def measured(self) -> Sequence[str]:
        """Measures that these parameters need."""
        return (_MEASURES[self.distance],)

    def share_bound(self, shares: Shares) -> float:
        """Return the largest share P in the whole table plus t times the steps that mass moves.

        Half of the sum of |q - p| is the sum of all positive q - p. In order, no mass moves less
        than one of m - 1 steps; along a hierarchy, less than one of its levels.
        """
        steps = {"equal": 1, "ordered": shares.values - 1, "hierarchical": shares.levels}
        return shares.largest + self.t * max(1, steps[self.distance])

    def _compile(self, compiler: Compiler, position: int) -> None:
        rule = closeness(compiler, position, self.distance)
        if rule is None:
            return
        (cost, measure), limit = rule, self.t + TOLERANCE
        compiler.add_rule(cost, position, lambda values: measure(values) > limit)
        compiler.declare_convex()
        if self.distance == "equal":
            # The union of parts of a class is no further away than the furthest part.
            p, t = compiler.global_shares(position), self.t + _ROUNDING
            compiler.add_record_limit(
                position, lambda values: distances.max_records_within_equal_distance(values, p, t)
            )


def closeness(
    compiler: Compiler, position: int, distance: Distance
) -> tuple[int, Callable[[Distribution], Floats]] | None:
    """Return the cost and the distance of a sensitive attribute from the whole table.

    Without the hierarchy that the distance needs, record a problem and return None.
    """
    p, tree = compiler.global_shares(position), compiler.table.sensitive[position][0].tree
    if distance == "equal":
        return 3, lambda values: distances.equal_distance(values, p)
    if distance == "ordered":
        return 4, lambda values: distances.ordered_distance(values, p)
    if tree:
        return 4, lambda values: distances.hierarchical_distance(values, p, tree)
    compiler.problem(
        "with the hierarchical distance needs a categorical hierarchy of the attribute",
        "none",
        "Declare its hierarchy, or choose another distance",
    )
    return None
