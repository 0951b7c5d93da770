"""Input of the checks of a release: its place, and everything it was built from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dbt_anonymize.project.engines import find_engine, is_refused
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.register import RegisteredRelease, digest_released
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.kept import kept_release


@dataclass(frozen=True)
class Checked:
    """A release to check, and the warehouse or its copy in which it is read.

    ``release`` is its file, or None where it is a table; ``content`` the digest of its rows.
    ``earlier`` are release files of the same people.
    """

    warehouse: Warehouse
    read: Warehouse
    project: Project
    spec: Spec
    release: Path | None
    content: str | None
    earlier: Sequence[Path] = ()

    @property
    def current(self) -> str | None:
        """The digest of the rows if they are still released; a server may have published others."""
        return current_content(self.warehouse, self.spec, self.content)

    @cached_property
    def kept(self) -> RegisteredRelease | None:
        """The release that stays, as the last build released nothing; else None."""
        return kept_release(self.warehouse, self.spec, self.release, self.content)


def content_of(warehouse: Warehouse, spec: Spec) -> str | None:
    """Return the digest of the released rows; None where this user may not read them."""
    if find_engine(warehouse.kind) is None:
        return None
    try:
        return digest_released(warehouse, spec.name)
    except Exception as error:
        if not is_refused(warehouse, error):
            raise
        return None


def current_content(warehouse: Warehouse, spec: Spec, content: str | None) -> str | None:
    """Return a digest of rows if they are still released; a server may have published others."""
    is_same = warehouse.is_duckdb or content == content_of(warehouse, spec)
    return content if is_same else None


def write_or_note(
    warehouse: Warehouse, spec: Spec, checks: Sequence[str], write: Callable[[], object]
) -> Iterator[Finding]:
    """Write findings; without the right to write, yield a finding that they are not stored."""
    try:
        write()
    except Exception as error:
        if not is_refused(warehouse, error):
            raise
        yield Finding(
            next(iter(checks), "recomputation"),
            "tables of findings",
            None,
            f"not run: {spec.name}_attacks and {spec.name}_verification were not written, since "
            "the server gives whoever verifies no right to. Read the findings here.",
            was_run=False,
        )
