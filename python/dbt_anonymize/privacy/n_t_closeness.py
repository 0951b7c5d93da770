"""(n, t)-closeness: see ``docs/models/n_t_closeness.md``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from dbt_anonymize.arrays import Bools
from dbt_anonymize.privacy.compiler import Compiler
from dbt_anonymize.privacy.distances import Distribution
from dbt_anonymize.privacy.guarantees import TOLERANCE
from dbt_anonymize.privacy.model import AttributeModel, Probability, Weakest
from dbt_anonymize.privacy.t_closeness import Distance, closeness


class NTCloseness(AttributeModel):
    """Every class of fewer than n people is distributed almost as in the whole table."""

    MEASURES: ClassVar[Mapping[str, str]] = {
        "n_t": (
            "distance, 0 to 1, of its distribution from that of the nearest superset of n people "
            "((n, t)-closeness); NULL stands for infinite"
        ),
    }
    WEAKEST = (Weakest("t", 1, 1000), Weakest("n", 2, 1))
    COMPARES_WITH_TABLE = True
    MAY_DIFFER_BY_EFFORT = True
    JUDGES_PARTS = True

    n: Annotated[int, Field(ge=2)]
    """Classes of at least this many people may be distributed as they are."""
    t: Probability
    """Largest distance between the distribution in a class and that in the whole table."""
    distance: Distance = "equal"
    """Distance of two values: equal for all, by their order, or along the hierarchy of the column.
    """

    def _compile(self, compiler: Compiler, position: int) -> None:
        rule = closeness(compiler, position, self.distance)
        if rule is None:
            return
        if compiler.people < self.n:
            compiler.problem(f"must have n <= {compiler.people}, all people", self.n, "Lower n")
            return
        (cost, measure), limit = rule, self.t + TOLERANCE

        def is_far(values: Distribution) -> Bools:
            assert values.people is not None  # classes always have people
            return (values.people < self.n) & (measure(values) > limit)

        compiler.add_rule(cost, position, is_far)
        # A merged class has n people if a part has, and else all parts are close: this is convex.
        compiler.declare_convex()
