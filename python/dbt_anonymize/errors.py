"""The errors of dbt-anonymize; every message says who, which rule, what came, what to do."""


class AnonymizeError(Exception):
    """Base of all errors of this package."""


class SpecError(AnonymizeError, ValueError):
    """An anonymization is declared wrongly."""


class HierarchyError(AnonymizeError, ValueError):
    """A generalization hierarchy is malformed."""


class EvaluationError(AnonymizeError, ValueError):
    """Models cannot be trained or scored on what was given."""


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
    """A proof could not be carried out, so nothing is proved."""


class RelinkingError(AnonymizeError, RuntimeError):
    """The way back from released rows to people is refused."""
