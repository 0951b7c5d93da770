"""Releases that may be drafts are warned of once."""

from __future__ import annotations

from dbt_anonymize.extensions.attacks.earlier import _with_one_warning
from dbt_anonymize.extensions.attacks.result import AttackResult
from dbt_anonymize.release.composition import UNNAMED_DRAFTS


def test_warnings_about_releases_that_may_be_drafts_are_one() -> None:
    def result(release: int, measure: str, main: float, *, is_warning: bool) -> AttackResult:
        against = f"release {release}"
        return AttackResult("composition", measure, main, "", against, is_warning=is_warning)

    found = [
        result(number, measure, float(number), is_warning=number > 1)
        for number in range(1, 10)
        for measure in ("joint_classes_below_k", "classes_with_few_joined")
    ]
    merged = _with_one_warning(found, 9)
    (warning,) = [one for one in merged if one.is_warning]
    assert len(merged) == len(found) + 1
    assert warning.main == 9
    assert "8 of 9 releases that the vault remembers" in warning.explanation
    assert "the most with release 9: 9 such classes" in warning.explanation
    assert warning.explanation.endswith(UNNAMED_DRAFTS)
    sound = [one for one in found if not one.is_warning]
    assert _with_one_warning(sound, 1) == sound
