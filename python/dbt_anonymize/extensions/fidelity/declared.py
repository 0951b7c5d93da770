"""Keys of a spec that are about fidelity."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from dbt_anonymize.validation import BESIDE_RESULTS, Strict


class Fidelity(Strict):
    """Limits of `<n>_fidelity`: at most so many pairs, with so many queries of each."""

    pairs: Annotated[int, Field(ge=0, le=500)] = 20
    """Most pairs of columns that are compared."""
    queries: Annotated[int, Field(ge=1, le=1000)] = 100
    """Random range queries of each pair of quasi-identifiers."""
    random_state: Annotated[int, Field(ge=0, le=2**31 - 1)] = 1
    """Seed of the queries."""

    def pairs_of(self, quasi_identifiers: Sequence[str], columns: Sequence[str]) -> list[list[str]]:
        """Return the pairs to compare, those of two quasi-identifiers first.

        Examples
        --------
        >>> Fidelity(pairs=2).pairs_of(["age", "zip"], ["illness"])
        [['age', 'zip'], ['age', 'illness']]
        """
        pairs = sorted(
            itertools.combinations([*quasi_identifiers, *columns], 2),
            key=lambda pair: sum(name in columns for name in pair),
        )
        return [list(pair) for pair in pairs[: self.pairs]]


class Keys(Strict):
    """Keys of the spec."""

    fidelity: Annotated[Fidelity | None, BESIDE_RESULTS] = None
    """Measure how far efforts are from the original, without any model; {} takes the defaults."""
