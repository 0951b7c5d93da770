"""Base of privacy models: parameters, facts, and rules for classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from dbt_anonymize.arrays import Floats
from dbt_anonymize.privacy.compiler import Compiler
from dbt_anonymize.privacy.table import Table
from dbt_anonymize.validation import ColumnName, Strict

Share = Annotated[float, Field(gt=0, lt=1)]
Positive = Annotated[float, Field(gt=0)]
Probability = Annotated[float, Field(gt=0, le=1)]
# People in a class; 1 would protect nobody.
K = Annotated[int, Field(ge=2)]


class Weakest(NamedTuple):
    """The weakest valid value of a parameter, and the steps per unit towards it."""

    parameter: str
    value: float
    scale: int


@dataclass(frozen=True)
class Shares:
    """Facts about a sensitive attribute that bounds depend on.

    ``largest`` is the share of the most frequent value in the source, ``values`` the number of
    values there, ``class_people`` the people of the largest released class, ``levels`` the levels
    of the attribute's hierarchy, or 0.
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
    """Concerns single classes, so that an effort may declare more of it than others."""
    JUDGES_PARTS: ClassVar[bool] = False
    """Can judge a part of a class alone, so that joiners of a frozen effort can wait."""
    READS_SIZES_ALONE: ClassVar[bool] = False
    """Judges a class by its labels and size, before it is formed."""
    READS_LABELS: ClassVar[bool] = False
    """Weighs the loss of the labels of a class."""

    @property
    def measured(self) -> Sequence[str]:
        """Measures that these parameters need."""
        return tuple(self.MEASURES)

    @property
    def least_people(self) -> int:
        """Fewest people of a class, where a parameter names them."""
        return 1

    @classmethod
    def needed_population(cls, parameters: Mapping[str, Any]) -> Literal["table", "size"] | None:
        """Return the population data that the model needs: a table, a size, or None."""
        return "table" if parameters.get("attacker") == "journalist" else None

    @classmethod
    def recounted_size(cls, parameters: Mapping[str, Any]) -> int:
        """Return the class size that `verify` demands beside the rules, computed independently."""
        return 1

    @classmethod
    def recounted_losses(
        cls, classes: Any, generalizations: Mapping[str, Any], vectors: Sequence[Mapping[str, int]]
    ) -> Floats | None:
        """Return the loss of the labels of each class, 0 to 1, counted for `verify`.

        ``vectors`` are the levels that records may have (none: all). None if it reads no labels.
        """
        return None

    @abstractmethod
    def compile(self, compiler: Compiler) -> None:
        """Add the rules for classes and release to a compiler, and declare their monotonicity.

        Values of attributes are codes of the compiler's table. Problems are recorded, not raised.
        """

    def weakest(self, table: Table) -> Sequence[Weakest]:
        """Return the parameters by which the model can be weakened, the first to try first."""
        return self.WEAKEST


class Mechanism(PrivacyModel):
    """A privacy model whose release is a random sample of its own, at a price."""

    if TYPE_CHECKING:
        epsilon: float
        search_epsilon: float | None
        total_epsilon: float | None

    @property
    @abstractmethod
    def share(self) -> float:
        """Probability of each person to be in the sample."""

    @property
    @abstractmethod
    def k(self) -> int:
        """Least people of the sample in each class."""

    @property
    @abstractmethod
    def facts(self) -> dict[str, str]:
        """Facts that `<n>_about` tells of the price."""

    @abstractmethod
    def digest(self, spec: Any) -> str:
        """Return a digest that identifies the mechanism; its draws are stored under it."""

    @abstractmethod
    def budget(self, spec: Any) -> dict[str, object]:
        """Return the price, as the macros of the vault read it."""


class AttributeModel(PrivacyModel):
    """A privacy model of one sensitive attribute."""

    attribute: ColumnName
    """Sensitive column."""

    def share_bound(self, shares: Shares) -> float | None:
        """Return the largest share that one value may have in a class, or None if not bounded."""
        return None

    def compile(self, compiler: Compiler) -> None:
        """Add the rules, or record the problem that the attribute is missing."""
        if (position := compiler.position(self.attribute)) is not None:
            self._compile(compiler, position)

    @abstractmethod
    def _compile(self, compiler: Compiler, position: int) -> None: ...
