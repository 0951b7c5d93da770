"""Training on levels as they are released: of equal ones on the finest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from dbt_anonymize.evaluation.problem import EffortData
from dbt_anonymize.extensions.search.race import Candidate, Track
from dbt_anonymize.privacy.table import Node


@dataclass
class ReleasedLevels(Track):
    """Trainer of candidates with the levels that ``finest`` makes of theirs."""

    finest: Callable[[Node], Node] = field(kw_only=True)

    def effort(self, candidate: Candidate) -> EffortData:
        """Return the data of a candidate."""
        return super().effort(self.released(candidate))

    def released(self, candidate: Candidate) -> Candidate:
        """Return a candidate with the levels that are released; its classes are the same."""
        node = self.finest(candidate.checked.node)
        return replace(candidate, checked=replace(candidate.checked, node=node))
