"""The errors of dbt-anonymize; every message says who, which rule, what came, what to do."""

import re

_LONGEST_REASON = 300
# Beginnings of driver errors that name only relations, columns and files; conversion and
# constraint errors quote values. dbt may put a prefix before them.
_WITHOUT_VALUES = re.compile(
    r"((runtime|database) error\s+)*"
    r"(io error|catalog error|binder error|parser error|permission error|out of memory error"
    r"|resource in use error|corrupt database file"
    r"|transactioncontext error: (cannot checkpoint|failed to commit: could not write file)"
    r"|connection to server|connection refused|authentication failed)",
    re.IGNORECASE,
)


def safe_reason(error: Exception) -> str:
    """Return one printable line about an error of a driver or of the operating system.

    The message itself appears only if errors of its kind never quote cells of a table.

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
    """Models cannot be trained or scored on these data."""


class RecodingError(AnonymizeError, ValueError):
    """Records cannot be grouped as declared."""


class SearchError(AnonymizeError, ValueError):
    """The lattice cannot be searched as declared."""


class PublishError(AnonymizeError, RuntimeError):
    """A release could not be written; the earlier release is unchanged."""


class ProjectError(AnonymizeError, ValueError):
    """The dbt project is missing or malformed, or one of its files is in the way."""


class WarehouseError(AnonymizeError, RuntimeError):
    """A relation of the warehouse could not be read."""


class VaultError(AnonymizeError, RuntimeError):
    """The vault cannot be written, or others than custodians can read it."""


class VerificationError(AnonymizeError, RuntimeError):
    """A check could not be carried out and counts as failed."""


class RelinkingError(AnonymizeError, RuntimeError):
    """Re-linking released rows to people is refused."""
