"""Local recoding as a game: records are generalized further only where the payout rises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.errors import RecodingError
from dbt_anonymize.extensions.recoding.judging import Judge
from dbt_anonymize.extensions.recoding.levels import Ladder, read_levels
from dbt_anonymize.extensions.recoding.records import Source
from dbt_anonymize.extensions.recoding.runs import running_sums
from dbt_anonymize.privacy.grouping import distinct_codes, sums
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.registry import model_of
from dbt_anonymize.privacy.table import Classes

if TYPE_CHECKING:
    import duckdb

# The guarantee that has the amounts; without its extension no spec can declare it.
PROFITABLE = "profitable"


class _Profitable(Protocol):
    """The guarantee `PROFITABLE`."""

    publisher_benefit: float

    def payouts(self, classes: Classes, losses: Floats) -> Floats:
        """Return the payout of one record of each class, less the loss of its labels."""


def payout_recoding(
    source: Source, *, rounds: Sequence[Mapping[str, int]]
) -> duckdb.DuckDBPyRelation:
    """Return one row per record, at the levels where its publisher's payout is highest.

    All records begin at the levels of the first round. In each further round, every class that
    could be formed takes the records that are worth least now, as many as maximize the payout; a
    record that breaks a guarantee is worth nothing. All may move, or none, so the release is worth
    at least as much as any of its rounds alone. Rounds must be a chain, each at least as coarse as
    the one before, so that a class moves as a whole.

    References
    ----------
    .. [1] Z. Wan et al., *A game theoretic framework for analyzing re-identification risk*, 2015.
    """
    _check(source)
    records, ladders = read_levels(source, rounds)
    judge = Judge.of(
        records.with_attributes(tuple(ladder.attribute() for ladder in ladders)), has_labels=True
    )
    (*_, declared) = (g for g in source.guarantees if g["model"] == PROFITABLE)
    game = _Game(cast(_Profitable, model_of(declared)), judge.guarantees, records.table.records)
    places = list(zip(ladders, records.key_of_row, source.names, strict=True))

    def shown(of_rows: Ints) -> list[_RowLabels]:
        return [
            _RowLabels(ladder, keys, np.array([one[name] for one in rounds]), of_rows)
            for ladder, keys, name in places
        ]

    of_rows = np.zeros(len(records), dtype=np.int64)
    for number in range(1, len(rounds)):
        formed = np.full(len(records), number)
        of_rows = np.where(game.moves(shown(of_rows), shown(formed)), formed, of_rows)
    labelled = [one.ladder.labels(one.keys, one.levels[of_rows]) for one in shown(of_rows)]
    return records.recoded([labels for labels, _ in labelled], [ids for _, ids in labelled])


def _check(source: Source) -> None:
    """Refuse guarantees that depend on more than the size and the labels of a class."""
    models = [model_of(guarantee) for guarantee in source.guarantees]
    errors = [
        f"{guarantee['model']} cannot be kept by payouts per record, which know the size of a "
        "class and what its labels lose. Use rounds without payouts, or another guarantee."
        for guarantee, model in zip(source.guarantees, models, strict=True)
        if not model.READS_SIZES_ALONE
    ]
    if source.has_subject:
        errors.append(
            "payouts per record count records; a subject is declared. Use rounds without payouts."
        )
    if not any(guarantee["model"] == PROFITABLE for guarantee in source.guarantees):
        errors.append("payouts per record need the guarantee profitable; got none. Declare it.")
    if errors:
        raise RecodingError("\n".join(errors))


@dataclass(frozen=True)
class _RowLabels:
    """Labels of one quasi-identifier, each row at the level of its round; computed lazily."""

    ladder: Ladder
    keys: Ints
    levels: Ints  # of each round
    of_rows: Ints

    @property
    def codes(self) -> Ints:
        """Code of each row's label."""
        return self._of_rows(self.ladder.codes, np.int64)

    @property
    def shares(self) -> Floats:
        """Share of the domain that each row's label covers."""
        return self._of_rows(self.ladder.shares, np.float64)

    @property
    def leaves(self) -> int:
        """Leaves of the hierarchy."""
        return len(self.ladder.key.leaves)

    def _of_rows(self, by_level: Mapping[int, NDArray[Any]], kind: type) -> NDArray[Any]:
        values: NDArray[Any] = np.empty(len(self.keys), dtype=kind)
        for number, level in enumerate(self.levels.tolist()):
            rows = self.of_rows == number
            values[rows] = by_level[level][self.keys[rows]]
        return values


@dataclass(frozen=True)
class _Game:
    """The publisher's payouts of classes."""

    profitable: _Profitable
    guarantees: Guarantees | None
    records: Ints

    def moves(self, chosen: Sequence[_RowLabels], formed: Sequence[_RowLabels]) -> Bools:
        """Return a mask of the rows that move from their labels to those of the round."""
        rows = len(self.records)
        if not rows:
            return np.zeros(0, dtype=np.bool_)
        now = distinct_codes((attribute.codes for attribute in chosen), rows)
        sizes = sums(now, self.records, int(now.max()) + 1)
        worth = self._worth(sizes, _losses(chosen, now))[now]
        then = distinct_codes((attribute.codes for attribute in formed), rows)
        order = np.lexsort((worth, then))
        of_class, ascending = then[order], worth[order]
        # Records of equal worth move together.
        last = np.flatnonzero(np.append((np.diff(of_class) != 0) | (np.diff(ascending) != 0), True))
        starts = np.searchsorted(of_class, np.arange(int(then.max()) + 1))
        records = self.records[order]
        members = running_sums(records, starts, of_class)[last]
        payouts = running_sums(records * ascending, starts, of_class)[last]
        classes, up_to = of_class[last], ascending[last]
        losses = _losses(formed, then)[classes]
        gains = members * self._worth(members, losses) - payouts
        # Of gains that are equal up to rounding, the one with fewer records counts.
        rounding = self.profitable.publisher_benefit * 1e-12 * members
        most = np.maximum.reduceat(gains, np.searchsorted(classes, np.arange(len(starts))))[classes]
        rising = np.flatnonzero((gains > rounding) & (gains >= most - rounding))
        limits = np.full(len(starts), -np.inf)
        limits[classes[rising][::-1]] = up_to[rising][::-1]
        moves: Bools = worth <= limits[then]
        return moves

    def _worth(self, sizes: Ints, losses: Floats) -> Floats:
        """Return the payout of a record of each class; 0 if it is not released."""
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


def _losses(attributes: Sequence[_RowLabels], class_of_row: Ints) -> Floats:
    """Return the information loss of each class, by its widest label per quasi-identifier."""
    count = int(class_of_row.max()) + 1
    domain = sum(np.log(max(attribute.leaves, 1)) for attribute in attributes)
    losses = np.zeros(count)
    for attribute in attributes:
        widest = np.zeros(count)
        np.maximum.at(widest, class_of_row, attribute.shares)
        losses += np.log(np.maximum(widest * attribute.leaves, 1.0))
    return losses / domain if domain else losses
