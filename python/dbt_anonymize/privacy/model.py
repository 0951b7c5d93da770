"""What every privacy model has: validated parameters, and how a search checks it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from dbt_anonymize.privacy.compiler import Compiler
from dbt_anonymize.privacy.table import Table
from dbt_anonymize.validation import ColumnName, Strict

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

    ``MEASURES``: columns of `<n>_classes` for a sensitive attribute, suffix to description.
    """

    MEASURES: ClassVar[Mapping[str, str]] = {}
    WEAKEST: ClassVar[tuple[Weakest, ...]] = ()

    @property
    def measured(self) -> Sequence[str]:
        """Return which of the measures these parameters need."""
        return tuple(self.MEASURES)

    @abstractmethod
    def compile(self, compiler: Compiler) -> None:
        """Add the rules of classes and release to a compiler, and whether they are monotone.

        Values of attributes are codes of the compiler's table. Problems are noted, not raised.
        """

    def weakest(self, table: Table) -> Sequence[Weakest]:
        """Return the parameters by which the model can be weakened, the first to try first."""
        return self.WEAKEST


class AttributeModel(PrivacyModel):
    """A privacy model of one sensitive attribute."""

    attribute: ColumnName
    """Sensitive column."""

    def compile(self, compiler: Compiler) -> None:
        """Add the rules, or note the problem that there is no such attribute."""
        if (position := compiler.position(self.attribute)) is not None:
            self._compile(compiler, position)

    @abstractmethod
    def _compile(self, compiler: Compiler, position: int) -> None: ...
