"""The release that stays where the last build released nothing: nothing can compute it again."""

from __future__ import annotations

from pathlib import Path

from dbt_anonymize.errors import VerificationError, WarehouseError
from dbt_anonymize.project.driver_errors import is_statement_error
from dbt_anonymize.project.engines import is_refused
from dbt_anonymize.project.register import RegisteredRelease, last_published
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.relations import attached_release, open_release


def kept_release(
    warehouse: Warehouse, spec: Spec, release: Path | None, content: str | None
) -> RegisteredRelease | None:
    """Return the last release of the register if it stays, as the results chose another one.

    ``content`` is the digest of the released rows in the warehouse; ``release`` the file, if it is
    one. None too if either has other rows than were registered: these must follow from the source.
    """
    if content is None:
        return None
    try:
        published, is_current = last_published(warehouse, spec.name)
        if published is None or is_current or published.content != content:
            return None
        is_same = release is None or _content_of_file(warehouse, spec, release) == content
    except (VerificationError, WarehouseError):  # the checks report it
        return None
    except Exception as error:
        if not is_refused(warehouse, error) and not is_statement_error(error):
            raise
        return None
    return published if is_same else None


def kept_finding(check: str, spec: Spec, kept: RegisteredRelease) -> Finding:
    """Return the finding that a release is not that of the last build."""
    message = (
        "the release must be that of the last build, to be computed again; the last build released "
        f"nothing, and {kept.title} stays. {spec.name}_anonymized has the rows that the register "
        "has of it. What they were made from is no longer in the warehouse, so whether they follow "
        "from it, and what attacks find, cannot be told. See `dbt-anonymize results "
        f"{spec.name}`, build until it publishes, and verify again."
    )
    return Finding(check, spec.name, False, message)


def _content_of_file(warehouse: Warehouse, spec: Spec, release: Path) -> str:
    """Return the digest of the rows of a release file, computed as for the register."""
    with open_release(spec, release) as alone:
        columns = alone.columns
    with attached_release(warehouse, spec, release, columns) as released:
        digest = warehouse.macro("_digest_of_relations", relations=[released.relation])
        return str(released.rows(f"select {digest}")[0][0])
