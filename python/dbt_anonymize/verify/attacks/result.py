"""What an attack gave: one number, what it is compared with, and whether a promise holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from dbt_anonymize.verify.finding import Finding

# Two ways to sum the same shares differ in the last digits.
_TOLERANCE = 1e-9
# Numbers that no declared limit judges, but everybody who publishes must have seen.
_TOLD = frozenset(
    {
        "auc",
        "highest_advantage",
        "share_right",
        "highest_confidence",
        "highest_success",
        "joint_classes_below_k",
        "classes_with_few_joined",
        "classes_with_few_left",
        "subjects_with_determined_value",
    }
)


@dataclass(frozen=True)
class AttackResult:
    """One row of ``<n>_attacks``; the fields are columns of that relation.

    - ``attack``: linkage, mapping, attribute_inference, membership_inference or composition.
    - ``against``: the attacked model or other release; None for the release alone.
    - ``attribute``: the inferred sensitive column.
    - ``value``: what ``measure`` came to; None where the attack could not be carried out.
    - ``baseline``: the same without the attack: by guessing or, in a composition, with this release
      alone.
    - ``standard_error``: of a mean over repetitions.
    - ``declared_limit``: what the spec promises, or what follows from it; ``holds``: whether the
      value keeps it. None where nothing is declared.
    - ``subjects``: how many the value is about; in classes,
      each counts once per class.
    - ``explanation``: the message of the finding; never a value of a person.
    - ``is_warning``: something else that is published takes away what this release promises, and
      nothing declared judges that.
    """

    attack: str
    measure: str
    value: float | None
    explanation: str
    against: str | None = None
    attribute: str | None = None
    baseline: float | None = None
    standard_error: float | None = None
    declared_limit: float | None = None
    holds: bool | None = None
    subjects: int | None = None
    is_warning: bool = False

    @property
    def subject(self) -> str:
        """What was attacked, as a finding names it."""
        parts = (self.attack, self.attribute, self.against, self.measure)
        return ", ".join(part for part in parts if part is not None)


def judged(result: AttackResult) -> AttackResult:
    """Judge a result by its limit, if it has one; of a broken promise it says what to do.

    Examples
    --------
    >>> broken = judged(AttackResult("linkage", "highest_success", 0.3, "so.", declared_limit=0.2))
    >>> broken.holds, broken.explanation
    (False, 'so. The release breaks its promise: withdraw it, and build it again.')
    """
    if result.value is None or result.declared_limit is None:
        return result
    holds = result.value <= result.declared_limit * (1 + _TOLERANCE) + 1e-15
    remedy = "" if holds else " The release breaks its promise: withdraw it, and build it again."
    return replace(result, holds=holds, explanation=result.explanation + remedy)


def findings(results: Iterable[AttackResult]) -> list[Finding]:
    """Return the results that a limit judges, that have no value, or that a publisher must see.

    Examples
    --------
    >>> found = findings([AttackResult("linkage", "highest_success", 0.5, "found.", holds=False)])
    >>> found[0].subject, found[0].holds
    ('linkage, highest_success', False)
    """
    return [
        Finding(
            "attacks",
            result.subject,
            result.holds,
            result.explanation,
            is_warning=result.is_warning,
        )
        for result in results
        if result.holds is not None or result.value is None or result.measure in _TOLD
    ]
