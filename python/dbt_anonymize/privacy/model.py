"""The contract of a privacy model: parameters, facts, and how classes are checked."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

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


@dataclass(frozen=True)
class Shares:
    """Shares of a sensitive attribute that bounds depend on.

    ``largest`` is that of the most frequent value over all records of the source, ``values`` how
    many occur there, ``class_people`` the people of the largest released class, ``levels`` those of
    the attribute's hierarchy, or 0.
    """

    largest: float
    values: int
    class_people: int
    levels: int = 0


class PrivacyModel(Strict):
    """The parameters and facts of a privacy model; `docs/models/` has a page for each."""

    MEASURES: ClassVar[Mapping[str, str]] = {}
    """Columns of `<n>_classes` for a sensitive attribute, suffix to description."""
    WEAKEST: ClassVar[tuple[Weakest, ...]] = ()
    """Parameters by which it can be weakened, the first to try first."""
    PROMISE: ClassVar[str | None] = None
    """The guarantee in words for the report, with its parameters in braces."""
    COMPARES_WITH_TABLE: ClassVar[bool] = False
    """Compares the values of a class with those of the whole table."""
    MAY_DIFFER_BY_EFFORT: ClassVar[bool] = False
    """Is about single classes, so that an effort may keep more of it than the others."""
    JUDGES_PARTS: ClassVar[bool] = False
    """Judges some records of a class by themselves, so that joiners of a frozen effort can wait."""
    READS_SIZES_ALONE: ClassVar[bool] = False
    """Judges a class by its labels and size, before it is formed."""
    READS_LABELS: ClassVar[bool] = False
    """Weighs what the labels of a class lose; `<n>_privacy` then shows payouts."""

    @property
    def measured(self) -> Sequence[str]:
        """Return which of the measures these parameters need."""
        return tuple(self.MEASURES)

    @property
    def least_people(self) -> int:
        """Fewest people of a class, where a parameter names them."""
        return 1

    @classmethod
    def needed_population(cls, parameters: Mapping[str, Any]) -> Literal["table", "size"] | None:
        """Return what must be known of the population: its table, its size, or nothing."""
        return "table" if parameters.get("attacker") == "journalist" else None

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

    def share_bound(self, shares: Shares) -> float | None:
        """Return the largest share that one value may have in a class, or None if not bounded."""
        return None

    def compile(self, compiler: Compiler) -> None:
        """Add the rules, or note the problem that there is no such attribute."""
        if (position := compiler.position(self.attribute)) is not None:
            self._compile(compiler, position)

    @abstractmethod
    def _compile(self, compiler: Compiler, position: int) -> None: ...
