"""Where identifiers are searched for, and what is counted there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.identifiers.coincidence import Entries, Seen, beyond_chance, days_in
from dbt_anonymize.verify.identifiers.text_variants import (
    LONG_NUMBER,
    Forms,
    folded,
    is_number,
    readings,
)
from dbt_anonymize.verify.identifiers.values import IdentifierValues, Patterns
from dbt_anonymize.verify.relations import source_relation, stream, text_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Stands between cells: no identifier contains it.
BETWEEN = "\x00"
_NUMBER = re.compile(rb"[0-9]+")

Search = Callable[[IdentifierValues, "Hits"], None]


class Hits:
    """What one place shows of some values: which occur, and which cannot be told from chance."""

    def __init__(self, values: IdentifierValues) -> None:
        number = len(values.texts)
        self.occur = np.zeros(number, dtype=bool)
        self._told = np.zeros(number, dtype=bool)
        self._untold = np.zeros(number, dtype=bool)

    def add(self, patterns: Patterns, found: NDArray[Any], is_told: NDArray[Any]) -> None:
        """Note the patterns that were found; those that are not told from chance do not count."""
        self.occur |= patterns.values_of(found & is_told)
        self._told |= patterns.values_of(is_told)
        self._untold |= patterns.values_of(~is_told)

    def judge(
        self,
        entries: Iterable[Entries],
        seen: Seen,
        *,
        public: NDArray[Any] | None = None,
        rows: Callable[[], int] | None = None,
    ) -> None:
        """Note the numbers or days that were seen, where they are no chance and not public."""
        for of_identifier in entries:
            found = seen.which(of_identifier.numbers)
            counts = beyond_chance(of_identifier, seen, rows)
            if public is not None:
                counts &= ~np.isin(of_identifier.numbers, public)
            self.occur[of_identifier.owners[counts[of_identifier.places]]] = True
            self._told[of_identifier.owners[counts[of_identifier.places]]] = True
            self._untold[of_identifier.owners[(found & ~counts)[of_identifier.places]]] = True

    @property
    def left_out(self) -> int:
        """Values none of whose forms counts."""
        return int((self._untold & ~self._told).sum())


@dataclass
class Tally:
    """Distinct values of each column that occur in one place, and those left out."""

    found: dict[str, int] = field(default_factory=dict)
    common: dict[str, int] = field(default_factory=dict)
    left_out: int = 0

    def add(self, values: IdentifierValues, hits: Hits) -> None:
        """Count what was found of some values."""
        self.left_out += hits.left_out
        for place, name in enumerate(values.columns):
            here = hits.occur & (values.column_of == place)
            self.found[name] = self.found.get(name, 0) + int(here.sum())
            self.common[name] = self.common.get(name, 0) + int((here & values.is_common).sum())

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found."""
        return not any(self.found.values())

    def __str__(self) -> str:
        listed = []
        for name, number in self.found.items():
            common = f" ({self.common[name]} of many people)" if self.common[name] else ""
            listed += [f"{number} of {name}{common}"] if number else []
        return ", ".join(listed)


@dataclass(frozen=True)
class Place:
    """Somewhere to search.

    Parameters
    ----------
    subject : str
        How it is called.
    remedy : str
        What to do if something is found.
    search : callable
        Reads the place once and marks what it shows.
    """

    subject: str
    remedy: str
    search: Search


class Written:
    """What the hierarchies of the spec write: labels, values and bounds, that everybody knows."""

    def __init__(self, warehouse: Warehouse, spec: Spec) -> None:
        hierarchies = (*spec.quasi_identifiers.values(), *spec.sensitive_hierarchies.values())
        self._texts = []
        for reference in sorted({hierarchy.ref for hierarchy in hierarchies}):
            relation = warehouse.relation_of_ref(reference)
            for name, _ in warehouse.columns(relation):
                text = text_of(warehouse, name)
                sql = f"select distinct {text} from {relation} where {text} is not null"  # noqa: S608
                self._texts.append(joined([row[0] for row in warehouse.rows(sql)]))
        texts = b"\x00".join(self._texts)
        short = {int(number) for number in _NUMBER.findall(texts) if len(number) < LONG_NUMBER}
        # As numbers and as days.
        self.numbers = np.array(sorted(short), dtype=np.int64)
        self.days = days_in(texts)
        # Raw quasi-identifiers are the warehouse's own; no release has them.
        self.days_in_warehouse = np.union1d(self.days, _days_of_quasi_identifiers(warehouse, spec))
        self._last: tuple[IdentifierValues, dict[Forms, NDArray[Any]]] | None = None

    def digits(self, values: IdentifierValues, forms: Forms) -> NDArray[Any]:
        """Tell which patterns are digits that a hierarchy writes."""
        if self._last is None or self._last[0] is not values:
            self._last = values, {}
        known = self._last[1]
        if forms not in known:
            patterns = values.patterns(forms)
            known[forms] = patterns.search.occur_in_any(self._texts) & patterns.is_digits
        return known[forms]


def _days_of_quasi_identifiers(warehouse: Warehouse, spec: Spec) -> NDArray[Any]:
    """Return the days of raw quasi-identifiers that are texts; as many as people may differ."""
    relation = source_relation(warehouse, spec.source)
    days = np.array([], dtype=np.int64)
    for name, data_type in warehouse.columns(relation):
        if name in spec.quasi_identifiers and not is_number(data_type):
            text = text_of(warehouse, name)
            sql = f"select distinct {text} from {relation} where {text} is not null"  # noqa: S608
            for batch in stream(warehouse.cursor(), sql):
                days = np.union1d(days, days_in(joined([row[0] for row in batch])))
    return days


def joined(cells: Sequence[str]) -> bytes:
    """Put cells one after the other, as they are compared."""
    return encoded(folded(BETWEEN.join(readings(cells))))


def encoded(text: str) -> bytes:
    """Return a text as bytes, also one that is no Unicode."""
    return text.encode("utf-8", "surrogatepass")
