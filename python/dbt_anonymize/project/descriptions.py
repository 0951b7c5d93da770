"""What generated files say of efforts."""

from __future__ import annotations

from dbt_anonymize.spec import Effort


def effort_description(number: int, effort: Effort) -> str:
    """Return what an effort does, as dbt docs show it."""
    if number == 0:
        return (
            "Effort 0, the untouched baseline that every other effort is compared with; "
            "one row per source record. Never released."
        )
    return f"Effort {number}: {_recoding(effort)}; one row per source record."


def _recoding(effort: Effort) -> str:
    k = f", with at least {effort.k} subjects in each class" if effort.k else ""
    if effort.levels is not None:
        if effort.recoding == "cell_suppression":
            k = f", single cells suppressed as `*` (cell suppression){k}"
        shown = ", ".join(f"{name} at level {level}" for name, level in effort.levels.items())
        return f"{shown} of its hierarchy (0 is the raw value){k}"
    if effort.rounds is not None:
        rounds = f"{len(effort.rounds)} rounds" if len(effort.rounds) > 1 else "1 round"
        chosen = "chosen by payout" if effort.maximize else "chosen"
        return f"levels that differ per record, {chosen} in {rounds} (local recoding){k}"
    if effort.is_grouped:
        return (
            f"groups of similar records ({effort.group_method}), each with the "
            f"{effort.group_numbers} of its numbers"
            f"{' and the mode of its categories' if effort.has_modes else ''} "
            f"({effort.recoding}){k}"
        )
    kind = "strict" if effort.is_strict else "relaxed"
    return f"groups cut along one attribute after the other ({kind} multidimensional recoding){k}"
