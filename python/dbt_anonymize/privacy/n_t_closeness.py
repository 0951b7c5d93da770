"""(n, t)-closeness: see ``docs/models/n_t_closeness.md``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from dbt_anonymize.privacy.distances import Distribution
from dbt_anonymize.privacy.guarantees import TOLERANCE
from dbt_anonymize.privacy.model import PrivacyModel, Probability, Weakest
from dbt_anonymize.privacy.t_closeness import Distance, closeness
from dbt_anonymize.validation import ColumnName

if TYPE_CHECKING:
    from dbt_anonymize.privacy.compiler import Compiler
    from dbt_anonymize.privacy.table import BoolArray, Table


class NTCloseness(PrivacyModel):
    """Every class of fewer than n people is distributed almost as in the whole table."""

    MEASURES: ClassVar[Mapping[str, str]] = {
        "n_t": (
            "distance, 0 to 1, of its distribution from that of the nearest superset of n people "
            "((n, t)-closeness); NULL stands for infinite"
        ),
    }

    attribute: ColumnName
    n: Annotated[int, Field(ge=2)]
    t: Probability
    distance: Distance = "equal"

    def compile(self, compiler: Compiler) -> None:
        """Say what classes and release must keep."""
        found = closeness(compiler, self.attribute, self.distance)
        if found is None:
            return
        if compiler.people < self.n:
            compiler.problem(f"must have n <= {compiler.people}, all people", self.n, "Lower n")
            return
        (cost, position, measure), limit = found, self.t + TOLERANCE

        def is_far(values: Distribution) -> BoolArray:
            assert values.people is not None  # as it is of classes
            return (values.people < self.n) & (measure(values) > limit)

        compiler.add_rule(cost, position, is_far)
        # A merged class has n people if a part has, and else all parts are close: this is convex.
        compiler.declare_convex()

    def weakest(self, table: Table) -> Sequence[Weakest]:
        """Return what an infeasible declaration may weaken."""
        return [Weakest("t", 1, 1000), Weakest("n", 2, 1)]
