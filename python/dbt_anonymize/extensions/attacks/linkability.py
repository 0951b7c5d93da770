"""Linkability: two sources know different columns of people, and the release joins them.

The attacker picks a random row among those that match the first set of columns, and one among those
that match the second. If both are the same row, the sources are linked. The naive attacker picks
any two rows.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

import numpy as np

from dbt_anonymize.extensions.attacks.rates import Rate, with_rates
from dbt_anonymize.extensions.attacks.result import AttackResult
from dbt_anonymize.extensions.attacks.trial import Trial


def attack_linkability(trial: Trial, guesses: int) -> list[AttackResult]:
    """Link two halves of the released columns that are not sensitive, for ``guesses`` people.

    Empty where there are fewer than two such columns.
    """
    if len([column for column in trial.columns if not column.is_sensitive]) < 2:
        return []
    chances = chances_of_links(trial, trial.targets(guesses))
    rng = np.random.default_rng([trial.seed, 1])
    main, control = (
        Rate(int((rng.random(len(chance)) < chance).sum()), len(chance)) for chance in chances
    )
    naive = Rate(int(rng.binomial(main.guesses, 1 / trial.records)), main.guesses)
    result = AttackResult(
        "linkability",
        "same_row",
        None,
        "two halves of what is known of a person each lead to a row, and to the same one.",
        subjects=trial.members,
    )
    return [with_rates(result, main, control, naive)]


def chances_of_links(trial: Trial, targets: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the chance that both picks are the same row, of members and of others.

    Of a rows that the first half of the columns allows and b of the second, both pick one of the c
    that all columns allow with a chance of c / (a b); 0 where there is none.
    """
    plain = [column for column in trial.columns if not column.is_sensitive]
    first, second, both = (
        trial.candidates(targets, columns) for columns in (plain[::2], plain[1::2], plain)
    )
    rows = trial.knowledge.session.rows(
        "select t.is_member, coalesce(cast(c.records as double) / (cast(a.records as double) * "
        f"cast(b.records as double)), 0) from {targets} as t "
        f"left join ({first}) as a on t.tuple = a.target "
        f"left join ({second}) as b on t.tuple = b.target "
        f"left join ({both}) as c on t.tuple = c.target order by t.tuple"
    )
    is_member = np.array([row[0] for row in rows], dtype=np.bool_)
    chance = np.array([row[1] for row in rows], dtype=np.float64)
    return chance[is_member], chance[~is_member]
