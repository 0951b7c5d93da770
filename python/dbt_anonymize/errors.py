"""The errors of dbt-anonymize; every message says who, which rule, what came, what to do."""

import re

_LONGEST_REASON = 300
# How errors start that name relations, columns and files only; those of conversions and of
# constraints quote values. What dbt puts before the words of a driver says nothing of its own.
_WITHOUT_VALUES = re.compile(
    r"((runtime|database) error\s+)*"
    r"(io error|catalog error|binder error|parser error|permission error|out of memory error"
    r"|resource in use error|corrupt database file"
    r"|transactioncontext error: (cannot checkpoint|failed to commit: could not write file)"
    r"|connection to server|connection refused|authentication failed)",
    re.IGNORECASE,
)


def safe_reason(error: Exception) -> str:
    """Return what may be shown of an error of a driver or of the operating system, on one line.

    Its words appear only if they are of a kind that quotes no cell of a table.

    Examples
    --------
    >>> safe_reason(RuntimeError("IO Error: Could not write file"))
    'RuntimeError: IO Error: Could not write file'
    >>> safe_reason(ValueError("Conversion Error: Could not convert string 'IO Error: Sofia'"))
    'ValueError'
    >>> safe_reason(PermissionError(13, "Permission denied", "/home/sofia"))
    'PermissionError: Permission denied'
    """
    kind = type(error).__name__
    if isinstance(error, OSError):  # the text of a number, out of a fixed list
        return f"{kind}: {error.strerror}" if error.strerror else kind
    reason = " ".join(str(error).split())[:_LONGEST_REASON]
    return f"{kind}: {reason}" if _WITHOUT_VALUES.match(reason) else kind


class AnonymizeError(Exception):
    """Base of all errors of this package."""


class SpecError(AnonymizeError, ValueError):
    """An anonymization is declared wrongly."""


class HierarchyError(AnonymizeError, ValueError):
    """A generalization hierarchy is malformed."""


class EvaluationError(AnonymizeError, ValueError):
    """Models cannot be trained or scored on what was given."""


class RecodingError(AnonymizeError, ValueError):
    """Records cannot be grouped as was declared."""


class SearchError(AnonymizeError, ValueError):
    """The lattice cannot be searched for what was declared."""


class PublishError(AnonymizeError, RuntimeError):
    """A release could not be written; the earlier release is unchanged."""


class ProjectError(AnonymizeError, ValueError):
    """The dbt project is not as it must be: missing, or a file of its own is in the way."""


class WarehouseError(AnonymizeError, RuntimeError):
    """A relation of the warehouse could not be read."""


class VaultError(AnonymizeError, RuntimeError):
    """The vault is not where only custodians can read it, or cannot be written."""


class VerificationError(AnonymizeError, RuntimeError):
    """A check could not be carried out, so what it checks does not hold."""


class RelinkingError(AnonymizeError, RuntimeError):
    """Re-linking released rows to people is refused."""
