"""The search for identifiers in the bytes of the files that others read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dbt_anonymize.project import Project
from dbt_anonymize.spec import Spec
from dbt_anonymize.verification import forms
from dbt_anonymize.verification.byte_search import pieces
from dbt_anonymize.verification.chance import BY_CHANCE, Seen, as_day, days_in
from dbt_anonymize.verification.identifier_values import IdentifierValues, Patterns
from dbt_anonymize.verification.places import Hits, Place, Written
from dbt_anonymize.verification.relations import Released

if TYPE_CHECKING:
    from numpy.typing import NDArray

_REMEDY = (
    "Raw identifiers were in this file. Load the source into the vault, delete the file, and build "
    "again. If the values are ordinary words that other columns use too, give the identifier "
    "another role."
)


def file_places(
    project: Project,
    release: Path,
    database: Path | None,
    public: Public,
) -> Iterator[Place]:
    """Yield the files of release and warehouse, those that a build left behind as well."""
    # What a build that was killed left beside the release is as readable as the release.
    beside = sorted(release.parent.glob(f".{release.name}.*"))
    files = [(path, True) for path in (release, *beside)]
    files += [(path, False) for path in _files_of(database)]
    for path, has_no_keys in files:
        if path.is_file():
            resolved = path.resolve()
            root = project.root.resolve()
            name = resolved.relative_to(root) if resolved.is_relative_to(root) else resolved
            yield Place(str(name), _REMEDY, partial(_search, path, public, has_no_keys))


# Characters of a day.
_DAY = 10


@dataclass(frozen=True)
class Public:
    """What files hold that nobody can tell from an identifier: public numbers, random tokens."""

    written: Written
    tokens: int

    @classmethod
    def of(cls, written: Written, released: Released, spec: Spec) -> Public:
        """Count the bytes of the tokens."""
        if spec.mapping != "token" or "token" not in released.columns:
            return cls(written, 0)
        sql = f"select coalesce(sum(length(token)), 0) from {released.relation}"  # noqa: S608
        return cls(written, int(released.rows(sql)[0][0]))


def _files_of(database: Path | None) -> Iterator[Path]:
    """Yield a database file with its log and what was spilled from memory."""
    if database is None:
        return
    yield database
    yield Path(f"{database}.wal")
    yield from sorted(Path(f"{database}.tmp").glob("*"))


def _search(
    path: Path,
    public: Public,
    has_no_keys: bool,
    values: IdentifierValues,
    hits: Hits,
) -> None:
    patterns = values.patterns(forms.forms_in_bytes)
    is_looked_for = has_no_keys | ~values.is_key[patterns.owners]
    told = _are_told(patterns, path.stat().st_size, public.tokens)
    told &= ~public.written.digits(values, forms.forms_in_bytes)
    if (told & is_looked_for).any():
        found = patterns.search.occur_in_file(path)
    else:
        found = np.zeros_like(told)
    hits.add(patterns, found & is_looked_for, told | ~is_looked_for)
    if days := values.entries(as_day, keys=has_no_keys):
        hits.judge(days, _days_in(path), public=public.written.days_in_files)


def _days_in(path: Path) -> Seen:
    seen = Seen.days()
    with path.open("rb") as file:
        for piece in pieces(file, _DAY):
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
