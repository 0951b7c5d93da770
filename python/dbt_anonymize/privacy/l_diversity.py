"""l-diversity: see ``docs/models/l_diversity.md``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from dbt_anonymize.privacy import distances
from dbt_anonymize.privacy.compiler import Compiler
from dbt_anonymize.privacy.distances import Distribution
from dbt_anonymize.privacy.guarantees import TOLERANCE
from dbt_anonymize.privacy.model import AttributeModel, Positive, Weakest
from dbt_anonymize.privacy.table import BoolArray, Table
from dbt_anonymize.validation import rule_error


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

    l: Annotated[float, Field(gt=1)]  # noqa: E741 (the parameter's name in the literature)
    """Fewest well-represented values in a class."""
    variant: Literal["distinct", "entropy", "grassberger", "recursive"] = "distinct"
    """How values are counted."""
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
        """Return which of the measures these parameters need."""
        return ("recursive_c" if self.variant == "recursive" else f"{self.variant}_l",)

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
        fails: dict[str, Callable[[Distribution], BoolArray]] = {
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
        """Return what an infeasible declaration may weaken."""
        is_whole = self.variant in {"distinct", "recursive"}
        return [Weakest("l", 1, 1) if is_whole else Weakest("l", 1.01, 100)]
