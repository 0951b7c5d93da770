"""What every privacy model has: validated parameters, and how a search checks it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

from pydantic import Field

from dbt_anonymize.validation import Strict

if TYPE_CHECKING:
    from dbt_anonymize.privacy.compiler import Compiler
    from dbt_anonymize.privacy.table import Table

Share = Annotated[float, Field(gt=0, lt=1)]
Positive = Annotated[float, Field(gt=0)]
Probability = Annotated[float, Field(gt=0, le=1)]
# Of people in a class; with 1 nobody would be hidden.
K = Annotated[int, Field(ge=2)]


class Weakest(NamedTuple):
    """The weakest value of a parameter that is still its own, and steps per unit on the way."""

    parameter: str
    value: float
    scale: int


class PrivacyModel(Strict):
    """The parameters of a privacy model; `docs/models/` has a page for each.

    Attributes
    ----------
    MEASURES : mapping
        What `<n>_classes` has of a sensitive attribute by this model: end of the column's name, and
        what it says of the distribution in a class.
    """

    MEASURES: ClassVar[Mapping[str, str]] = {}

    @property
    def measured(self) -> Sequence[str]:
        """Return which of the measures these parameters need."""
        return tuple(self.MEASURES)

    @abstractmethod
    def compile(self, compiler: Compiler) -> None:
        """Add to a compiler what classes and release must keep, and whether that is monotone.

        Parameters
        ----------
        compiler : Compiler
            Of the table. Values of attributes are codes of it here. What is wrong is noted there,
            not raised.
        """

    @abstractmethod
    def weakest(self, table: Table) -> Sequence[Weakest]:
        """Return the parameters by which it can be weakened, the first to try first.

        Parameters
        ----------
        table : Table
            Whose classes are to keep it.
        """
