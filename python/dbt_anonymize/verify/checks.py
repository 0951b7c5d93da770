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
    sources, vault = (one.name for one in of_sources()), (one.name for one in of_vault())
    return (*sources, *names_on_rows(), *vault)


def names_on_rows() -> tuple[str, ...]:
    """Return the names of the checks that read released rows."""
    return (*_ON_ROWS, *(one.name for one in of_release()))


def of_sources() -> list[Check]:
    """Return the checks of extensions that follow columns, before the warehouse is read."""
    return _added(Reads.sources)


def of_release() -> list[Check]:
    """Return the checks of extensions that read released rows."""
    return _added(Reads.release)


def of_vault() -> list[Check]:
    """Return the checks of extensions that read what the vault keeps of releases."""
    return _added(Reads.vault)


def _added(reads: Reads) -> list[Check]:
    return [check for one in extensions() for check in one.checks if check.reads is reads]


def run_check(check: Check, *given: Any, **named: Any) -> list[Finding]:
    """Carry out a check of an extension, which is imported here: a broken one breaks no other."""
    of = next(one for one in extensions() if check in one.checks)
    try:
        function: Callable[..., list[Finding]] = of.load(check.function)
    except (ImportError, AttributeError) as error:
        raise VerificationError(
            f"the check {check.name} must be there to be run; the extension {of.name} is broken "
            f"({type(error).__name__}: {check.function}). Install dbt-anonymize again."
        ) from error
    return function(*given, **named)
