"""The search for identifiers in the cells of the release, and in what else its file says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from dbt_anonymize.spec import Spec
from dbt_anonymize.verification import forms
from dbt_anonymize.verification.identifier_values import IdentifierValues
from dbt_anonymize.verification.number_cells import Numbers, is_number, told_in_release
from dbt_anonymize.verification.places import BETWEEN, Hits, Place, encoded, joined
from dbt_anonymize.verification.relations import Released, as_text, stream
from dbt_anonymize.verification.warehouse_cells import is_text

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


def released_places(released: Released, spec: Spec) -> Iterator[Place]:
    """Yield every column of the release; its comments and defaults too, if it has any."""
    for name, data_type in released.columns.items():
        yield Place(
            f"{spec.name}_anonymized.{name}",
            _REMEDY,
            _Column(released, name, _kind(name, data_type, spec), is_text(data_type)),
        )
    texts = [text for (text,) in released.rows(_TEXTS_OF_THE_FILE) if text]
    if texts:

        def search(values: IdentifierValues, hits: Hits) -> None:
            patterns = values.patterns(forms.forms_in_cells)
            found = patterns.search.occur_in(joined(texts))
            hits.add(patterns, found, np.ones_like(found))

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
    return "number" if is_number(data_type) else "text"


class _Column:
    """The search in one released column."""

    def __init__(self, released: Released, name: str, kind: Kind, has_text: bool) -> None:
        self._released, self._kind, self._has_text = released, kind, has_text
        text = as_text(released.quoted(name))
        self._sql = f"select distinct {text} from {released.relation} where {text} is not null"  # noqa: S608

    def __call__(self, values: IdentifierValues, hits: Hits) -> None:
        if self._kind == "number":
            patterns, numbers = values.patterns(forms.forms_as_number), Numbers()
            found = patterns.search.occur_in_any(numbers.joined(self._cells()))
            hits.add(patterns, found, told_in_release(numbers, values, patterns))
            return
        is_token = self._kind == "token"
        patterns = values.patterns(forms.forms_as_cells if is_token else forms.forms_in_cells)
        found = np.zeros(len(patterns.lengths), dtype=bool)
        digits = values.patterns(forms.forms_as_digits)
        found_digits = np.zeros(len(digits.lengths), dtype=bool)
        for cells in self._cells():
            found |= patterns.search.occur_in(joined(cells))
            if self._kind == "text" and self._has_text:
                text = encoded(BETWEEN.join(map(forms.digits, cells)))
                found_digits |= digits.search.occur_in(text)
        # The bounds of a hierarchy may be anybody's number.
        is_bound = patterns.is_digits if self._kind == "interval" else np.zeros_like(found)
        hits.add(patterns, found & ~is_bound, np.ones_like(found))
        hits.add(digits, found_digits, np.ones_like(found_digits))

    def _cells(self) -> Iterator[list[str]]:
        for batch in stream(self._released.cursor, self._sql):
            yield [row[0] for row in batch]
