"""l-diversity: see ``docs/models/l_diversity.md``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from dbt_anonymize.arrays import Bools
from dbt_anonymize.privacy import distances
from dbt_anonymize.privacy.compiler import Compiler
from dbt_anonymize.privacy.distances import Distribution
from dbt_anonymize.privacy.guarantees import TOLERANCE
from dbt_anonymize.privacy.model import AttributeModel, Positive, Shares, Weakest
from dbt_anonymize.privacy.table import Table
from dbt_anonymize.validation import rule_error

_STEPS = 200


class LDiversity(AttributeModel):
    """The attribute has at least l (well-represented) values in every class."""

    MEASURES: ClassVar[Mapping[str, str]] = {
        "distinct_l": "number of distinct values (distinct l-diversity)",
        "entropy_l": "exponential of the Shannon entropy of the values (entropy l-diversity)",
        "grassberger_l": "exponential of Grassberger's estimate of the entropy",
        "recursive_c": (
            "count of the most frequent value per count of the values from the l-th on (recursive"
            " l-diversity); NULL stands for infinite"
        ),
    }
    PROMISE = "Each group holds at least {l} different values of {attribute} ({variant})."
    MAY_DIFFER_BY_EFFORT = True
    JUDGES_PARTS = True

    l: Annotated[float, Field(gt=1)]  # noqa: E741 (the parameter's name in the literature)
    """Fewest well-represented values in a class."""
    variant: Literal["distinct", "entropy", "grassberger", "recursive"] = "distinct"
    """Kind of diversity."""
    c: Positive | None = None
    """Of the variant recursive: the most frequent value is less than c times as frequent as those
    from the l-th on together.
    """

    @model_validator(mode="after")
    def _parameters_of_the_variant(self) -> LDiversity:
        if (self.variant == "recursive") != (self.c is not None):
            raise rule_error(
                "must have c if and only if the variant is recursive",
                "Add c, or remove it.",
            )
        if self.variant in {"distinct", "recursive"} and not math.isclose(self.l, round(self.l)):
            raise rule_error(
                f"must have a whole number l >= 2 where the variant is {self.variant}",
                "Write a whole number, or choose the variant entropy.",
            )
        return self

    @property
    def measured(self) -> Sequence[str]:
        """Measures that these parameters need."""
        return ("recursive_c" if self.variant == "recursive" else f"{self.variant}_l",)

    def share_bound(self, shares: Shares) -> float:
        """Return the largest share q of one value among n people.

        - distinct: (n - l + 1) / n, as l - 1 other values have one person each; it grows with n
        - entropy: the largest q for which q and equal shares of the others have entropy ln l
        - recursive: c / (1 + c), since r1 < c (r_l + ...) <= c (n - r1), as l >= 2
        - grassberger: as distinct; the estimated entropy itself bounds nothing
        """
        if self.variant == "entropy":
            return _largest_share_of_entropy(self.l, shares.values)
        if self.c is not None:
            return self.c / (1 + self.c)
        return (shares.class_people - math.ceil(self.l) + 1) / shares.class_people

    def _compile(self, compiler: Compiler, position: int) -> None:
        diversity, variant = self.l, self.variant
        least = math.ceil(diversity - TOLERANCE)
        size = compiler.table.sensitive[position][0].size
        if least > size:
            compiler.problem(
                f"must have l <= {size}, the number of values that occur",
                f"{diversity:g}",
                "Lower l",
            )
            return
        # A person may have several values, so that l values need not be l people.
        if compiler.table.subject is None:
            compiler.require_size(least)
        # Grassberger's estimate may reach ln l with fewer values.
        compiler.add_rule(
            0, position, lambda values: (values.distinct > 0) & (values.distinct < least)
        )
        floor = math.log(diversity) - TOLERANCE
        limit = (self.c or 0.0) * (1.0 - TOLERANCE)
        fails: dict[str, Callable[[Distribution], Bools]] = {
            "entropy": lambda values: distances.entropy(values) < floor,
            "grassberger": lambda values: distances.grassberger_entropy(values) < floor,
            "recursive": lambda values: distances.recursive_ratio(values, least) >= limit,
        }
        if fail := fails.get(variant):
            compiler.add_rule(2, position, lambda values: (values.distinct > 0) & fail(values))
            compiler.declare_convex()
        if variant == "grassberger":
            # The correction falls with the size of a class: a merged class may have less entropy.
            compiler.is_monotone_in_generalization = False

    def weakest(self, table: Table) -> Sequence[Weakest]:
        """Return the parameters that an infeasible declaration may weaken."""
        is_whole = self.variant in {"distinct", "recursive"}
        return [Weakest("l", 1, 1) if is_whole else Weakest("l", 1.01, 100)]


def _largest_share_of_entropy(needed: float, values: int) -> float:
    """Return the largest share with which an entropy of ln(needed) is possible.

    With a share q of one value, the entropy is at most that of equal shares of the others. It falls
    as q grows from 1 / values to 1.

    Examples
    --------
    >>> round(_largest_share_of_entropy(2, 2), 6), round(_largest_share_of_entropy(1, 3), 6)
    (0.5, 1.0)
    """
    if values < 2:
        return 1.0
    low, high = 1 / values, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        rest = 1 - middle
        entropy = -middle * math.log(middle)
        if rest > 0:
            entropy -= rest * math.log(rest / (values - 1))
        low, high = (middle, high) if entropy >= math.log(needed) else (low, middle)
    return high
