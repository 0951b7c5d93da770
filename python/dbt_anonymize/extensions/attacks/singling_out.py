"""Singling out: the attacker guesses that exactly one person of the source has certain values.

His predicates are the rarest released values of one column (univariate), or of several together
(multivariate). The naive attacker combines occurring values at random.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from dbt_anonymize.arrays import Ints
from dbt_anonymize.extensions.attacks.rates import Rate, with_rates
from dbt_anonymize.extensions.attacks.result import AttackResult
from dbt_anonymize.extensions.attacks.trial import Column, Trial

# Columns of a multivariate predicate, as in Giomi et al. 2023.
_WIDTH = 3
# Combinations of columns that are tried; more take time, and few people need more to be found.
_MOST_SETS = 60

Sets = Sequence[Sequence[Column]]
_NOTHING: Ints = np.zeros(0, dtype=np.int64)


def attack_singling_out(trial: Trial, guesses: int) -> list[AttackResult]:
    """Single out by one released column, and by up to three.

    At most ``guesses`` predicates each, the rarest first, drawn by the trial's seed. A guess is
    right if exactly one person of the trial has the values (main), or of those who were left out
    (control), who are as many.
    """
    rng = np.random.default_rng(trial.seed)
    results = []
    for measure, width in (("univariate", 1), ("multivariate", min(_WIDTH, len(trial.columns)))):
        if measure == "multivariate" and width == 1:
            break
        sets = list(itertools.combinations(trial.columns, width))
        if len(sets) > _MOST_SETS:
            chosen = sorted(rng.choice(len(sets), _MOST_SETS, replace=False))
            sets = [sets[place] for place in chosen]
        drawn = rarest(trial, sets, guesses)
        main, control = count_singled_out(trial, sets, drawn)
        naive, _ = count_singled_out(
            trial, sets, _random_predicates(trial, sets, main.guesses, rng)
        )
        column_text = "one released column" if width == 1 else f"{width} released columns"
        result = AttackResult(
            "singling_out",
            measure,
            None,
            f"values of {column_text} that fewest of {trial.records:,} rows of {trial.members:,} "
            "subjects have are taken for those of exactly one person.",
            subjects=trial.members,
        )
        results.append(with_rates(result, main, control, naive))
    return results


def rarest(trial: Trial, sets: Sets, guesses: int) -> str:
    """Choose the rarest combinations of released values.

    Returns a table: ``guess``, ``set_`` (the place of its columns), ``records``, ``l_1``, ...
    """
    listed = []
    for place, columns in enumerate(sets):
        values = ", ".join(column.row_name for column in columns)
        text = " || ', ' || ".join(
            f"coalesce(cast({column.row_name} as varchar), '')" for column in columns
        )
        listed.append(
            f"(select {place} as set_, {_values(trial, columns)}, count(*) as records, "
            f"md5('{trial.seed} {place} ' || {text}) as drawn from {trial.rows} group by {values} "
            f"order by records, drawn limit {guesses})"
        )
    return trial.knowledge.session.table(
        "rarest",
        "select row_number() over (order by records, drawn) as guess, * from "
        f"({' union all '.join(listed)}) order by guess limit {guesses}",
    )


def _values(trial: Trial, columns: Sequence[Column]) -> str:
    return ", ".join(
        column.row_name if column in columns else f"null as {column.row_name}"
        for column in trial.columns
    )


def _random_predicates(trial: Trial, sets: Sets, guesses: int, rng: np.random.Generator) -> str:
    """Draw random predicates: columns, and a value of each independently."""
    session, kinds = trial.knowledge.session, []
    used = {column.number: column for columns in sets for column in columns}
    places: dict[int, np.ndarray] = {}
    joins = []
    for number, column in used.items():
        name = column.row_name
        table = session.table(
            "distinct",
            f"select {name}, row_number() over (order by {name}) as place "
            f"from (select distinct {name} from {trial.rows})",
        )
        (count,) = session.row(f"select count(*) from {table}")
        places[number] = rng.integers(1, count + 1, guesses)
        joins.append(f"inner join {table} as d_{number} on g.place_{number} = d_{number}.place")
        kinds.append(f"d_{number}.{name}")
    of_guess = rng.integers(0, len(sets), guesses)
    rows = ", ".join(
        f"({guess}, {of_guess[guess]}, {', '.join(str(places[n][guess]) for n in places)})"
        for guess in range(guesses)
    )
    named = ", ".join(f"place_{number}" for number in places)
    return session.table(
        "random",
        f"select g.guess, g.set_, {', '.join(kinds)} from (values {rows}) as g(guess, set_, "
        f"{named}) {' '.join(joins)}",
    )


def count_singled_out(trial: Trial, sets: Sets, predicates: str) -> tuple[Rate, Rate]:
    """Count the predicates that exactly one member satisfies, and exactly one of the others."""
    rows = trial.knowledge.session.rows(f"select guess, set_ from {predicates}")
    satisfying = _satisfying(trial, sets, predicates)
    main, control = (
        sum(
            people.is_one(
                {c.number: satisfying[c.number].get(guess, _NOTHING) for c in sets[place]}
            )
            for guess, place in rows
        )
        for people in trial.groups
    )
    return Rate(main, len(rows)), Rate(control, len(rows))


def _satisfying(trial: Trial, sets: Sets, predicates: str) -> dict[int, dict[int, Ints]]:
    """Return the codes of known values that satisfy each predicate, by column."""
    cursor = trial.knowledge.session.cursor
    codes_of: dict[int, dict[int, Ints]] = {}
    for column in {column.number: column for columns in sets for column in columns}.values():
        if column.label is None:
            values, same = trial.values[column.number], "v.value is not distinct from"
        else:
            values, same = trial.fitting[column.number], "v.label ="
        cursor.execute(
            f"select g.guess, v.code from {predicates} as g inner join {values} as v "
            f"on {same} g.{column.row_name} order by g.guess"
        )
        pairs = cursor.fetchnumpy()
        guesses, starts = np.unique(np.asarray(pairs["guess"]), return_index=True)
        codes = np.split(np.asarray(pairs["code"]), starts[1:])
        codes_of[column.number] = dict(zip(guesses.tolist(), codes, strict=False))
    return codes_of
