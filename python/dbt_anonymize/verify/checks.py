"""Checks of `verify`: those of the core, and those that extensions add."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.extension import Check, Reads, extensions
from dbt_anonymize.verify.finding import Finding

_ON_ROWS = ("recomputation", "guarantees")


def check_names() -> tuple[str, ...]:
    """Return the names of all checks, in the order in which they run."""
    sources, vault = checks_that_read(Reads.sources), checks_that_read(Reads.vault)
    return (*(c.name for c in sources), *names_on_rows(), *(c.name for c in vault))


def names_on_rows() -> tuple[str, ...]:
    """Return the names of the checks that read released rows."""
    return (*_ON_ROWS, *(check.name for check in checks_that_read(Reads.release)))


def checks_that_read(reads: Reads) -> list[Check]:
    """Return the checks of extensions that read sources, released rows or the vault."""
    return [check for added in extensions() for check in added.checks if check.reads is reads]


def run_check(check: Check, *args: Any, **kwargs: Any) -> list[Finding]:
    """Run a check of an extension, which is imported only here: a broken one breaks no other."""
    extension = next(added for added in extensions() if check in added.checks)
    try:
        function: Callable[..., list[Finding]] = extension.load(check.function)
    except (ImportError, AttributeError) as error:
        raise VerificationError(
            f"the check {check.name} must be there to be run; the extension {extension.name} is "
            f"broken ({type(error).__name__}: {check.function}). Install dbt-anonymize again."
        ) from error
    return function(*args, **kwargs)
