"""The alternatives of a trial side by side: figures with their uncertainty, and levels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dbt_anonymize.cli.common import SafeConsole, figures_table
from dbt_anonymize.extensions.trial.commands.tried import Tried

if TYPE_CHECKING:
    from dbt_anonymize.extensions.search.by_quality import WinnerScores
    from dbt_anonymize.extensions.trial.alternatives import Alternative, Trial

_ROOT = "*"


def print_alternatives(console: SafeConsole, tried: Tried, seconds: float) -> None:
    """Print figures and levels of the alternatives side by side, and what they mean."""
    alternatives = tried.trial.alternatives
    table = figures_table((), ["", *("\n".join(alternative.names) for alternative in alternatives)])
    table.add_row("k", *(str(alternative.checked.k) for alternative in alternatives))
    table.add_row(
        "left out", *(f"{alternative.checked.suppressed:,}" for alternative in alternatives)
    )
    table.add_row(tried.spec.shown_measure, *map(score_text, alternatives))
    if raced := [alternative for alternative in alternatives if alternative.raced]:
        table.add_row("untouched", *map(untouched_text, raced))
        table.add_row("kept", *map(_share_text, raced))
        table.add_row("detail", *(f"{alternative.detail:.0%}" for alternative in alternatives))
    table.add_section()
    starred = starred_columns(tried)
    for name, words in levels_in_words(tried).items():
        if name not in starred:
            table.add_row(name, *words)
    console.print(table)
    if starred:
        console.print(f"`*` in every alternative, not released: {', '.join(starred)}")
    console.print(_legend(tried, seconds))
    for line in (*less_than_wanted(tried.trial), *differ_by_chance(tried.trial)):
        console.print(line)


def score_text(alternative: Alternative) -> str:
    """Return the score of models with its uncertainty; without models that of the levels."""
    if alternative.raced is None:
        return f"{1 - alternative.checked.loss:.3f}"
    found = alternative.uncertainty
    return _with_uncertainty(alternative.raced.score, math.nan if found is None else found.score)


def untouched_text(alternative: Alternative) -> str:
    """Return the score of models of the untouched table on the same splits."""
    if alternative.raced is None:
        return ""
    found = alternative.uncertainty
    return _with_uncertainty(
        alternative.raced.untouched, math.nan if found is None else found.untouched
    )


def _with_uncertainty(score: float, half_width: float) -> str:
    """Return a score, with the half width of its interval if there are splits enough for one.

    Examples
    --------
    >>> _with_uncertainty(0.61, 0.0861), _with_uncertainty(0.61, math.nan)
    ('0.610 ± 0.086', '0.610')
    """
    return f"{score:.3f}" + (f" ± {half_width:.3f}" if math.isfinite(half_width) else "")


def _share_text(alternative: Alternative) -> str:
    share = alternative.raced and kept_share(alternative.raced)
    return "" if share is None else f"{share:.0%}"


def kept_share(scores: WinnerScores) -> float | None:
    """Return the kept share of the gain of the untouched table over the zero rule, 0 to 1.

    A score above that of the untouched table is luck: no more can be kept than is there.
    """
    gain = scores.untouched - scores.zero_rule
    return min(max((scores.score - scores.zero_rule) / gain, 0.0), 1.0) if gain > 0 else None


def levels_in_words(tried: Tried) -> dict[str, list[str]]:
    """Return, by quasi-identifier, its detail in each alternative, in words."""
    from dbt_anonymize.hierarchies.words import AS_IT_IS  # noqa: PLC0415 (keeps --help fast)

    return {
        name: [
            [AS_IT_IS, *words][alternative.checked.node[place]]
            for alternative in tried.trial.alternatives
        ]
        for place, (name, words) in enumerate(tried.words.items())
    }


def starred_columns(tried: Tried) -> list[str]:
    """Return the quasi-identifiers that are `*` in every alternative: none if all are."""
    levels = levels_in_words(tried)
    starred = [name for name, words in levels.items() if {*words} == {_ROOT}]
    return starred if len(starred) < len(levels) else []


def _legend(tried: Tried, seconds: float) -> str:
    from dbt_anonymize.spec.tested import NO_MODEL  # noqa: PLC0415 (keeps --help fast)

    first = tried.trial.alternatives[0].raced
    if first is None:
        return (
            f"{tried.spec.shown_measure} is the share of detail that is left, 1 where nothing is "
            f"missing or generalized; {NO_MODEL}. Searched in {seconds:.0f} s."
        )
    sample = len(tried.sampled.rows)
    used = "" if sample == tried.counted.table.total else f" on {sample:,} records"
    return (
        f"{tried.spec.measure} of models scored on untouched records, ± its 95% interval, beside "
        "the same columns untouched, on the same splits; kept: of what that adds to "
        f"{first.zero_rule:.3f} of the zero rule. Detail: of quasi-identifiers, "
        f"1 - loss. {tried.trial.trained} models{used} in {seconds:.0f} s."
    )


def less_than_wanted(trial: Trial) -> Iterator[str]:
    """Yield that alternatives keep less of what models learn than their names say."""
    from dbt_anonymize.extensions.trial.choice import SHARES  # noqa: PLC0415 (keeps --help fast)

    texts, best = [], 0.0
    for alternative in trial.alternatives:
        share = None if alternative.raced is None else kept_share(alternative.raced)
        wanted = max(SHARES[name] for name in alternative.names)
        # As they are printed.
        if share is None or round(100 * share) >= round(100 * wanted):
            continue
        texts.append(f"{alternative.names[0]} keeps {share:.0%}, below its {wanted:.0%}")
        if alternative.raced is not None:
            scores = alternative.raced
            best = max(best, share, trial.best_gain / (scores.untouched - scores.zero_rule))
    if texts:
        yield (
            f"Of what models learn untouched, {'; '.join(texts)}: shares count from the best "
            f"levels that were found, which keep {best:.0%}."
        )


def differ_by_chance(trial: Trial) -> Iterator[str]:
    """Yield which alternatives have scores that differ by less than their uncertainty."""
    names = [alternative.names[0] for alternative in trial.alternatives]
    if not trial.chance_pairs or any(
        alternative.raced is None for alternative in trial.alternatives
    ):
        return
    if len(names) > 2 and len(trial.chance_pairs) == len(names) * (len(names) - 1) // 2:
        text = "All scores"
    else:
        text = f"The scores of {_pairs_text(names, trial.chance_pairs)}"
    yield f"{text} differ by less than their uncertainty, so maybe by chance."


def _pairs_text(names: Sequence[str], pairs: Sequence[tuple[int, int]]) -> str:
    return ", and of ".join(f"{names[one]} and {names[other]}" for one, other in pairs)
