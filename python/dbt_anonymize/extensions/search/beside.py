"""Levels of other tables that a search finds beside those of the quasi-identifiers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from dbt_anonymize.arrays import Ints
from dbt_anonymize.extension import searched
from dbt_anonymize.privacy.table import Node
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec


class TableOutcome(Protocol):
    """Shares of the records of a table that are raised, hidden and left out, and its loss."""

    @property
    def raised(self) -> float: ...  # noqa: D102 (see the class)
    @property
    def hidden(self) -> float: ...  # noqa: D102
    @property
    def left_out(self) -> float: ...  # noqa: D102
    @property
    def loss(self) -> float: ...  # noqa: D102


class Found(Protocol):
    """Levels by table, what they lose by table, and the sum of losses."""

    @property
    def nodes(self) -> tuple[Node, ...]: ...  # noqa: D102 (see the class)
    @property
    def outcomes(self) -> Sequence[TableOutcome]: ...  # noqa: D102
    @property
    def loss(self) -> float: ...  # noqa: D102


class LevelSearch(Protocol):
    """A search of the levels beside one node, step by step.

    ``bound`` is a lower bound of the sum of losses of what is not settled, infinite at the end.
    ``is_estimate``: a part was counted.
    """

    bound: float
    best: Any  # Found or None
    is_estimate: bool

    def begin(self) -> None:
        """Prepare steps."""

    def step(self, most: float = ...) -> None:
        """Settle what promises the least, of what loses less than ``most``."""

    def descend(self, is_over: Callable[[], bool], start: tuple[Node, ...] | None = None) -> None:
        """Find good levels soon, from a start if it is given and within the limits."""

    def rest(self) -> None:
        """Free memory until the next step."""


class Beside(Protocol):
    """Tables whose levels are searched, too.

    ``key`` is that of an effort that declares their levels, ``columns`` their quasi-identifiers,
    ``size`` the number of combinations of levels, which may be too large to search through them.
    """

    @property
    def key(self) -> str: ...  # noqa: D102 (see the class)
    @property
    def columns(self) -> Mapping[str, Sequence[str]]: ...  # noqa: D102
    @property
    def size(self) -> int: ...  # noqa: D102
    @property
    def is_large(self) -> bool: ...  # noqa: D102

    def search(self, classes: Ints, k: int) -> LevelSearch:
        """Return a search beside classes of the records, in the order of the bytes of their keys.

        -1 is that of records that are left out; of others a class holds ``k`` or more.
        """

    def levels(self, nodes: Sequence[Node]) -> Any:
        """Return levels as an effort declares them."""


def read_beside(warehouse: Warehouse, spec: Spec) -> Beside | None:
    """Return the tables whose levels are searched beside those of the spec, if there are any."""
    found = (read(warehouse, spec) for read in searched())
    return next((beside for beside in found if beside is not None), None)
