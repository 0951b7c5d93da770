"""The search for identifiers in the bytes of the files that others read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dbt_anonymize.project.layout import Project
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.identifiers import text_variants as forms
from dbt_anonymize.verify.identifiers.byte_search import pieces
from dbt_anonymize.verify.identifiers.coincidence import BY_CHANCE, Seen, as_day, days_in
from dbt_anonymize.verify.identifiers.search_targets import Hits, Place, Written
from dbt_anonymize.verify.identifiers.values import IdentifierValues, Patterns
from dbt_anonymize.verify.relations import Released

if TYPE_CHECKING:
    from numpy.typing import NDArray

_REMEDY = (
    "Raw identifiers were in this file. Load the source into the vault, delete the file, and build "
    "again. If the values are ordinary words that other columns use too, give the identifier "
    "another role."
)
# As they are written with separators.
_BYTES_OF_A_DAY = 10


@dataclass(frozen=True)
class _File:
    """A file to search.

    Parameters
    ----------
    path : Path
    written : Written
        What hierarchies write.
    tokens : int
        Bytes of tokens that it may have.
    is_release : bool
        Whether it is a release, which has neither record keys nor days of raw quasi-identifiers.
    """

    path: Path
    written: Written
    tokens: int
    is_release: bool

    def search(self, values: IdentifierValues, hits: Hits) -> None:
        """Mark what the bytes show."""
        patterns = values.patterns(forms.forms_in_bytes)
        is_looked_for = self.is_release | ~values.is_key[patterns.owners]
        told = _are_told(patterns, self.path.stat().st_size, self.tokens)
        told &= ~self.written.digits(values, forms.forms_in_bytes)
        if (told & is_looked_for).any():
            found = patterns.search.occur_in_file(self.path)
        else:
            found = np.zeros_like(told)
        hits.add(patterns, found & is_looked_for, told | ~is_looked_for)
        if days := values.entries(as_day, keys=self.is_release):
            public = self.written.days if self.is_release else self.written.days_in_warehouse
            hits.judge(days, _days_in(self.path), public=public)


def file_places(
    project: Project, release: Path, database: Path | None, written: Written, tokens: int
) -> Iterator[Place]:
    """Yield the files of release and warehouse, those that a build left behind as well."""
    # What a build that was killed left beside the release is as readable as the release.
    beside = sorted(release.parent.glob(f".{release.name}.*"))
    files = [_File(path, written, tokens, is_release=True) for path in (release, *beside)]
    files += [_File(path, written, tokens, is_release=False) for path in _files_of(database)]
    for file in files:
        if file.path.is_file():
            resolved = file.path.resolve()
            root = project.root.resolve()
            name = resolved.relative_to(root) if resolved.is_relative_to(root) else resolved
            yield Place(str(name), _REMEDY, file.search)


def bytes_of_tokens(released: Released, spec: Spec) -> int:
    """Count the bytes of the tokens, in which short texts are found by chance."""
    if spec.mapping != "token" or "token" not in released.columns:
        return 0
    sql = f"select coalesce(sum(length(token)), 0) from {released.relation}"  # noqa: S608
    return int(released.rows(sql)[0][0])


def _files_of(database: Path | None) -> Iterator[Path]:
    """Yield a database file with its log and what was spilled from memory."""
    if database is None:
        return
    yield database
    yield Path(f"{database}.wal")
    yield from sorted(Path(f"{database}.tmp").glob("*"))


def _days_in(path: Path) -> Seen:
    seen = Seen.days()
    with path.open("rb") as file:
        for piece in pieces(file, _BYTES_OF_A_DAY):
            seen.add(days_in(piece))
    return seen


def _are_told(patterns: Patterns, size: int, tokens: int) -> NDArray[Any]:
    """Tell which patterns are too long to be in random bytes, or random tokens, by chance."""
    number = len(patterns.lengths)
    lengths = patterns.lengths.astype(np.float64)
    chance = number * size / 256.0**lengths
    if tokens:
        chance += np.where(patterns.is_hexadecimal, number * tokens / 16.0**lengths, 0.0)
    told: NDArray[Any] = chance < BY_CHANCE
    return told
