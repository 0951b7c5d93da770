"""Distance to the closest record: whoever has a row close to her is taken for a member.

The distance of a person to a row is the mean over the released columns (Gower 1971): 0 where the
label can be hers; else 1, or of numbers and dates how far she is from the label, as a share of the
range of the source. Members and others are equally many; the half of all that is closest to a row
is taken for members, drawn among those who are equally close: a threshold would take nearly all
where labels cover everybody, and an excess over a control near 1 means nothing.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Floats
from dbt_anonymize.evaluation.data.relations import unmasked
from dbt_anonymize.extensions.attacks.rates import Rate, with_rates
from dbt_anonymize.extensions.attacks.result import AttackResult
from dbt_anonymize.extensions.attacks.trial import Column, Trial
from dbt_anonymize.extensions.external_efforts.nearness import AT_ONCE
from dbt_anonymize.literals import quote_text


def attack_closest(trial: Trial, guesses: int) -> AttackResult:
    """Take those for members who are closest to a row; at most ``guesses`` members and others."""
    is_member, distances = closest_distances(trial, trial.targets(guesses))
    ties = np.random.default_rng([trial.seed, 2]).random(len(distances))
    is_taken = np.zeros(len(distances), dtype=np.bool_)
    is_taken[np.lexsort((ties, distances))[: len(distances) // 2]] = True
    main, control = (
        Rate(int(is_taken[group].sum()), int(group.sum())) for group in (is_member, ~is_member)
    )
    result = AttackResult(
        "closest_record",
        "taken_for_members",
        None,
        "whoever has a row close to her is taken for a member.",
        subjects=trial.members,
    )
    return with_rates(result, main, control, Rate(main.guesses, 2 * main.guesses))


def closest_distances(trial: Trial, targets: str) -> tuple[NDArray[np.bool_], Floats]:
    """Return which targets are members, and the distance of each to the closest row."""
    columns = [_Compared(trial, column) for column in trial.columns]
    names = ", ".join(column.row_name for column in trial.columns)
    joins = " ".join(column.join for column in columns)
    people = _fetch(
        trial,
        f"select t.is_member, {', '.join(c.of_person for c in columns)} from {targets} as t "
        "order by t.tuple",
    )
    rows = _fetch(
        trial,
        f"select {', '.join(c.of_row for c in columns)} "
        f"from (select distinct {names} from {trial.rows}) as r {joins}",
    )
    size = len(next(iter(rows.values())))
    closest = np.empty(len(people["is_member"]))
    step = max(1, AT_ONCE // size)
    for start in range(0, len(closest), step):
        some = slice(start, start + step)
        total = np.zeros((len(closest[some]), size))
        for column in columns:
            total += column.distances(people, rows, some)
        closest[some] = total.min(axis=1) / len(columns)
    return people["is_member"].astype(bool), closest


def _fetch(trial: Trial, sql: str) -> dict[str, NDArray[Any]]:
    fetched = trial.knowledge.session.cursor.execute(sql).fetchnumpy()
    return {name: unmasked(array) for name, array in fetched.items()}


class _Compared:
    """One column: SQL of what is known of a person and of what a row shows, and their distance."""

    def __init__(self, trial: Trial, column: Column) -> None:
        session, number = trial.knowledge.session, column.number
        self.name, self.fits = f"c_{number}", None
        self.join, known, low, high = "", f"t.{column.known_name}", "", ""
        row = f"r.{column.row_name}"
        if column.label is None:
            ((self.is_number,),) = session.rows(
                f"select coalesce(bool_and(try_cast({column.known_name} as double) is not null), "
                f"false) from {trial.people} where {column.known_name} is not null"
            )
            known, low, high = (
                f"try_cast({sql} as double)" if self.is_number else f"hash({sql})"
                for sql in (known, row, row)
            )
        elif column.label.kind == "bounds":
            self.is_number = True
            values = trial.knowledge.values[number]
            known = (
                f"(select {_number('v.value', session.columns(values)['value'])} "
                f"from {values} as v where v.code = {known})"
            )
            self.join = f"inner join {column.labels} as a_{number} on {row} = a_{number}.label"
            kinds = session.columns(column.labels)
            low, high = (
                f"case when a_{number}.shown = '*' then cast({quote_text(end)} as double) "
                f"else {_number(f'a_{number}.{bound}', kinds[bound])} end"
                for end, bound in (("-inf", "c_2"), ("inf", "c_3"))
            )
        else:
            self.is_number, low, high = False, row, row
            pairs = session.rows(f"select code, label from {trial.fitting[number]}")
            codes, labels = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
            (largest,) = session.row(f"select max(label) from {column.labels}")
            (last,) = session.row(f"select max(code) from {trial.knowledge.values[number]}")
            self.fits = np.zeros((last + 1, largest + 1), dtype=np.bool_)
            self.fits[codes, labels] = True
        self.of_person = f"{known} as {self.name}"
        self.of_row = f"{low} as {self.name}, {high} as {self.name}_high"

    def distances(
        self, people: dict[str, NDArray[Any]], rows: dict[str, NDArray[Any]], some: slice
    ) -> Floats:
        """Return the distance of some people to each row, 0 to 1."""
        known, low, high = people[self.name], rows[self.name], rows[f"{self.name}_high"]
        value = known[some, None]
        if self.fits is not None:
            return np.asarray(1.0 - self.fits[value, low])
        if not self.is_number:
            return np.asarray(value != low, dtype=np.float64)
        present = known[~np.isnan(known)]
        width = float(np.ptp(present)) if len(present) else 0.0
        with np.errstate(invalid="ignore"):
            far = np.maximum(np.maximum(low - value, value - high), 0) / (width or 1.0)
        far = np.where(np.isnan(far), 1.0, np.minimum(far, 1.0))
        is_alike = (np.isinf(low) & np.isinf(high)) | (np.isnan(value) & np.isnan(low))
        return np.where(is_alike, 0.0, far)


def _number(sql: str, kind: str) -> str:
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        return f"epoch(cast({sql} as timestamp)) / 86400.0"
    return f"cast({sql} as double)"
