"""The search for identifiers in the cells of the release, and in what else its file says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.identifiers import text_variants as forms
from dbt_anonymize.verify.identifiers.coincidence import Seen, as_day, as_short_number, days_in
from dbt_anonymize.verify.identifiers.number_cells import Numbers, told_in_release
from dbt_anonymize.verify.identifiers.search_targets import (
    BETWEEN,
    Hits,
    Place,
    Written,
    encoded,
    joined,
)
from dbt_anonymize.verify.identifiers.values import IdentifierValues
from dbt_anonymize.verify.relations import Released, as_text, stream

Kind = Literal["text", "interval", "token", "number"]

_REMEDY = (
    "Remove the column from the release (role identifier), or clean it in a model before. If the "
    "values are ordinary words that many people share, they do not name a person: give that "
    "column another role, or rename the labels that repeat them."
)
_TEXTS_OF_THE_FILE = (
    "select comment from duckdb_tables() union all select comment from duckdb_views() "
    "where not internal union all select comment from duckdb_columns() where not internal "
    "union all select column_default from duckdb_columns() where not internal"
)


def released_places(released: Released, spec: Spec, written: Written) -> Iterator[Place]:
    """Yield every column of the release; its comments and defaults too, if it has any."""
    for name, data_type in released.columns.items():
        kind = _kind(name, data_type, spec)
        labels = written if name in spec.quasi_identifiers else None
        column = _Column(released, name, kind, forms.is_text(data_type), labels)
        yield Place(f"{spec.name}_anonymized.{name}", _REMEDY, column)
    texts = [text for (text,) in released.rows(_TEXTS_OF_THE_FILE) if text]
    if texts:

        def search(values: IdentifierValues, hits: Hits) -> None:
            patterns = values.patterns(forms.forms_in_cells)
            text, days = joined(texts), Seen.days()
            found = patterns.search.occur_in(text)
            hits.add(patterns, found, np.ones_like(found))
            days.add(days_in(text))
            hits.judge(values.entries(as_day, keys=True), days)

        remedy = "Release the table without comments and defaults."
        yield Place(f"{spec.name}_anonymized (comments and defaults)", remedy, search)


def _kind(name: str, data_type: str, spec: Spec) -> Kind:
    if name == "token" and spec.mapping == "token":
        return "token"
    for attribute, hierarchy in spec.quasi_identifiers.items():
        bounds = {f"{attribute}_lower", f"{attribute}_upper"}
        if hierarchy.kind == "interval" and name in {attribute, *bounds}:
            return "interval"
        if name == attribute:
            return "text"
    if name == "cqi":
        return "interval"
    return "number" if forms.is_number(data_type) else "text"


class _Column:
    """The search in one released column."""

    def __init__(
        self, released: Released, name: str, kind: Kind, has_text: bool, labels: Written | None
    ) -> None:
        self._released, self._kind, self._has_text = released, kind, has_text
        text = as_text(released.quoted(name))
        self._sql = f"select distinct {text} from {released.relation} where {text} is not null"  # noqa: S608
        self._count = f"select count({text}) from {released.relation}"  # noqa: S608
        # What a hierarchy writes is public where its labels are.
        self._numbers = None if labels is None else labels.numbers
        self._days = None if labels is None else labels.days

    def __call__(self, values: IdentifierValues, hits: Hits) -> None:
        if self._kind == "number":
            patterns, numbers = values.patterns(forms.forms_as_number), Numbers()
            found = patterns.search.occur_in_any(numbers.joined(self._cells()))
            hits.add(patterns, found, told_in_release(numbers, values, patterns))
            self._judge(values, hits, numbers.short, numbers.days)
        else:
            self._search_texts(values, hits)

    def _search_texts(self, values: IdentifierValues, hits: Hits) -> None:
        is_token = self._kind == "token"
        patterns = values.patterns(forms.forms_as_cells if is_token else forms.forms_in_cells)
        found = np.zeros(len(patterns.lengths), dtype=bool)
        digits = values.patterns(forms.forms_as_digits)
        found_digits = np.zeros(len(digits.lengths), dtype=bool)
        short, days = Seen(), Seen.days()
        has_short = bool(values.entries(as_short_number, keys=True))
        has_days = bool(values.entries(as_day, keys=True))
        for cells in self._cells():
            text = joined(cells)
            found |= patterns.search.occur_in(text)
            if self._kind == "text" and has_days:
                days.add(days_in(text))
            if self._kind == "text" and has_short:
                short.add_digits(number for cell in cells if (number := forms.whole(cell)))
            if self._kind == "text" and self._has_text:
                text = encoded(BETWEEN.join(map(forms.digits, forms.readings(cells))))
                found_digits |= digits.search.occur_in(text)
        # The bounds of a hierarchy may be anybody's number.
        is_bound = patterns.is_digits if self._kind == "interval" else np.zeros_like(found)
        hits.add(patterns, found & ~is_bound, np.ones_like(found))
        hits.add(digits, found_digits, np.ones_like(found_digits))
        if self._kind == "text":
            self._judge(values, hits, short, days)

    def _judge(self, values: IdentifierValues, hits: Hits, short: Seen, days: Seen) -> None:
        entries = values.entries(as_short_number, keys=True)
        hits.judge(entries, short, public=self._numbers, rows=self._rows)
        hits.judge(values.entries(as_day, keys=True), days, public=self._days)

    def _rows(self) -> int:
        return int(self._released.rows(self._count)[0][0])

    def _cells(self) -> Iterator[list[str]]:
        for batch in stream(self._released.cursor, self._sql):
            yield [row[0] for row in batch]
