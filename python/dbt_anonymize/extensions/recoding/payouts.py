"""Local recoding as a game: records are generalized further only where the payout rises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.errors import RecodingError
from dbt_anonymize.extensions.recoding.judging import Judge
from dbt_anonymize.extensions.recoding.levels import Ladder, read_levels
from dbt_anonymize.extensions.recoding.records import Source
from dbt_anonymize.privacy.grouping import distinct_codes, sums
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.profitable import Profitable
from dbt_anonymize.privacy.registry import model_of
from dbt_anonymize.privacy.table import BoolArray, Classes, FloatArray, IntArray

if TYPE_CHECKING:
    import duckdb


def payout_recoding(
    source: Source, *, rounds: Sequence[Mapping[str, int]]
) -> duckdb.DuckDBPyRelation:
    """Return one row per record, at the levels where its publisher's payout is highest.

    All begin at the levels of the first round. In each further one every class that could be formed
    at its levels takes those of its records that are worth the least now, as many as bring the most
    together; a record that breaks a guarantee is worth nothing. All of them may move, or none, so
    the release brings at least what any of its rounds brings alone. Rounds must be a chain, each at
    least as coarse as the one before, so that a class moves as a whole.

    References
    ----------
    .. [1] Z. Wan et al., *A game theoretic framework for analyzing re-identification risk*, 2015.
    """
    _check(source)
    records, ladders = read_levels(source, rounds)
    judge = Judge.of(
        records.with_attributes(tuple(ladder.attribute() for ladder in ladders)), has_labels=True
    )
    (*_, declared) = (g for g in source.guarantees if g["model"] == "profitable")
    game = _Game(cast(Profitable, model_of(declared)), judge.guarantees, records.table.records)
    places = list(zip(ladders, records.key_of_row, source.names, strict=True))

    def shown(of_rows: IntArray) -> list[_Shown]:
        return [
            _Shown(ladder, keys, np.array([one[name] for one in rounds]), of_rows)
            for ladder, keys, name in places
        ]

    of_rows = np.zeros(len(records), dtype=np.int64)
    for number in range(1, len(rounds)):
        formed = np.full(len(records), number)
        of_rows = np.where(game.moves(shown(of_rows), shown(formed)), formed, of_rows)
    found = [one.ladder.labels(one.keys, one.levels[of_rows]) for one in shown(of_rows)]
    return records.recoded([labels for labels, _ in found], [ids for _, ids in found])


def _check(source: Source) -> None:
    """Refuse what may decide what a class is worth beside its records and labels."""
    models = [model_of(guarantee) for guarantee in source.guarantees]
    errors = [
        f"{guarantee['model']} cannot be kept by payouts per record, which know the size of a "
        "class and what its labels lose. Use rounds without payouts, or another guarantee."
        for guarantee, one in zip(source.guarantees, models, strict=True)
        if not one.READS_SIZES_ALONE
    ]
    if source.has_subject:
        errors.append(
            "payouts per record count records; a subject is declared. Use rounds without payouts."
        )
    if not any(isinstance(one, Profitable) for one in models):
        errors.append("payouts per record need the guarantee profitable; got none. Declare it.")
    if errors:
        raise RecodingError("\n".join(errors))


@dataclass(frozen=True)
class _Shown:
    """Labels of one quasi-identifier, each row at the level of its round; made when asked for."""

    ladder: Ladder
    keys: IntArray
    levels: IntArray  # of each round
    of_rows: IntArray

    @property
    def codes(self) -> IntArray:
        """Code of each row's label."""
        return self._of_rows(self.ladder.codes, np.int64)

    @property
    def shares(self) -> FloatArray:
        """Share of the domain that each row's label covers."""
        return self._of_rows(self.ladder.shares, np.float64)

    @property
    def leaves(self) -> int:
        """Leaves of the hierarchy."""
        return len(self.ladder.key.leaves)

    def _of_rows(self, by_level: Mapping[int, NDArray[Any]], kind: type) -> NDArray[Any]:
        found: NDArray[Any] = np.empty(len(self.keys), dtype=kind)
        for number, level in enumerate(self.levels.tolist()):
            rows = self.of_rows == number
            found[rows] = by_level[level][self.keys[rows]]
        return found


@dataclass(frozen=True)
class _Game:
    """The publisher's payouts of classes."""

    profitable: Profitable
    guarantees: Guarantees | None
    records: IntArray

    def moves(self, chosen: Sequence[_Shown], formed: Sequence[_Shown]) -> BoolArray:
        """Return which rows move from the labels they have to those of the round."""
        rows = len(self.records)
        if not rows:
            return np.zeros(0, dtype=np.bool_)
        now = distinct_codes((one.codes for one in chosen), rows)
        sizes = sums(now, self.records, int(now.max()) + 1)
        worth = self._worth(sizes, _losses(chosen, now))[now]
        then = distinct_codes((one.codes for one in formed), rows)
        order = np.lexsort((worth, then))
        of_class, ascending = then[order], worth[order]
        # All that are worth so much or less move together.
        last = np.flatnonzero(np.append((np.diff(of_class) != 0) | (np.diff(ascending) != 0), True))
        starts = np.searchsorted(of_class, np.arange(int(then.max()) + 1))
        records = self.records[order]
        members = _up_to(records, starts, of_class)[last]
        payouts = _up_to(records * ascending, starts, of_class)[last]
        classes, up_to = of_class[last], ascending[last]
        losses = _losses(formed, then)[classes]
        gains = members * self._worth(members, losses) - payouts
        # Of equal gains that of fewer records counts, up to rounding.
        rounding = self.profitable.publisher_benefit * 1e-12 * members
        most = np.maximum.reduceat(gains, np.searchsorted(classes, np.arange(len(starts))))[classes]
        rising = np.flatnonzero((gains > rounding) & (gains >= most - rounding))
        limits = np.full(len(starts), -np.inf)
        limits[classes[rising][::-1]] = up_to[rising][::-1]
        moves: BoolArray = worth <= limits[then]
        return moves

    def _worth(self, sizes: IntArray, losses: FloatArray) -> FloatArray:
        """Return what a record of each class brings: nothing where it is not released."""
        if self.guarantees is None:
            return np.zeros(len(sizes))
        classes = Classes(
            levels=(),
            codes=np.empty((len(sizes), 0), dtype=np.int64),
            records=sizes,
            people=sizes,
            first=np.arange(len(sizes)),
            losses=losses,
        )
        payouts = self.profitable.payouts(classes, losses)
        return np.where(self.guarantees.violating(classes), 0.0, payouts)


def _up_to(numbers: NDArray[Any], starts: IntArray, of_class: IntArray) -> NDArray[Any]:
    """Add up numbers of rows within each class."""
    total = np.cumsum(numbers)
    added: NDArray[Any] = total - (total - numbers)[starts][of_class]
    return added


def _losses(shown: Sequence[_Shown], class_of_row: IntArray) -> FloatArray:
    """Return what the labels of each class lose: the widest of each quasi-identifier."""
    count = int(class_of_row.max()) + 1
    domain = sum(np.log(max(one.leaves, 1)) for one in shown)
    losses = np.zeros(count)
    for one in shown:
        widest = np.zeros(count)
        np.maximum.at(widest, class_of_row, one.shares)
        losses += np.log(np.maximum(widest * one.leaves, 1.0))
    return losses / domain if domain else losses
