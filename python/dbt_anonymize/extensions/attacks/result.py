"""Result of an attack: one number, its baseline, and its judgement by a declared limit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from dbt_anonymize.verify.finding import Finding

# The order of a sum changes its last digits.
_TOLERANCE = 1e-9
# Measures that are always reported, since publishers must see them.
_PUBLISHED_MEASURES = frozenset(
    {
        "auc",
        "taken_for_members",
        "univariate",
        "multivariate",
        "same_row",
        "share_right",
        "share_right_knowing_the_rest",
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

    - ``attack`` and ``measure``: names of the attack, and of the meaning of ``main``.
    - ``main``: success of the attacker with the release; None where he cannot try.
    - ``control``: the same about people who were left out; ``naive``: without the release or, in a
      composition, with this release alone. ``risk``: (main - control) / (1 - control).
    - ``.._lower``, ``.._upper``: 95 % interval, where it is a rate of so many ``guesses``.
    - ``against``: the attacked model or other release; None for the release alone.
    - ``attribute``: the inferred sensitive column.
    - ``standard_error``: of a mean over repetitions: ``main``, less ``control`` if there is one.
    - ``declared_limit``: limit that the spec declares or implies; ``holds``: ``main`` keeps it.
      None where nothing is declared.
    - ``subjects``: number of attacked subjects; in classes, each counts once per class.
    - ``explanation``: the message of the finding; never a value of a person.
    - ``is_warning``: another publication weakens the promise of this release, and no declared limit
      judges that.
    - ``content`` and ``spec``: digests of the attacked rows and of the spec, as in
      ``<n>_register``; NULL where unknown.
    """

    attack: str
    measure: str
    main: float | None
    explanation: str
    against: str | None = None
    attribute: str | None = None
    main_lower: float | None = None
    main_upper: float | None = None
    control: float | None = None
    control_lower: float | None = None
    control_upper: float | None = None
    naive: float | None = None
    naive_lower: float | None = None
    naive_upper: float | None = None
    risk: float | None = None
    risk_lower: float | None = None
    risk_upper: float | None = None
    guesses: int | None = None
    standard_error: float | None = None
    declared_limit: float | None = None
    holds: bool | None = None
    is_warning: bool = False
    subjects: int | None = None
    content: str | None = None
    spec: str | None = None

    @property
    def subject(self) -> str:
        """Name of the attacked property, as a finding shows it."""
        parts = (self.attack, self.attribute, self.against, self.measure)
        return ", ".join(part for part in parts if part is not None)


def judge(result: AttackResult) -> AttackResult:
    """Judge a result by its limit, if it has one; a broken promise gets a remedy.

    Examples
    --------
    >>> broken = judge(AttackResult("linkage", "highest_success", 0.3, "so.", declared_limit=0.2))
    >>> broken.holds, broken.explanation
    (False, 'so. The release breaks its promise: withdraw it, and build it again.')
    """
    if result.main is None or result.declared_limit is None:
        return result
    holds = result.main <= result.declared_limit * (1 + _TOLERANCE) + 1e-15
    remedy = "" if holds else " The release breaks its promise: withdraw it, and build it again."
    return replace(result, holds=holds, explanation=result.explanation + remedy)


def findings(results: Iterable[AttackResult]) -> list[Finding]:
    """Return findings on results that have a limit or no value, or that publishers must see.

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
        if result.holds is not None or result.main is None or result.measure in _PUBLISHED_MEASURES
    ]
