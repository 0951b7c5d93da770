"""Linked records hidden or left out until nobody is found, for Python models of dbt."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dbt_anonymize.extensions.linked.matching import (
    Items,
    items_of,
    rare_sets,
    subjects_with_rare_lists,
)
from dbt_anonymize.extensions.linked.records import (
    SUBJECTS,
    Booleans,
    Integers,
    LinkError,
    Links,
    combined_codes,
    keys_of,
    read_links,
)

if TYPE_CHECKING:
    import pandas as pd

STATUSES = ("released", "hidden", "left out")
_RELEASED, _HIDDEN, _LEFT_OUT = range(3)


def suppress_linked(
    subjects: Mapping[str, Any],
    tables: Mapping[str, Mapping[str, Any]],
    *,
    k: int,
    known_records: int | str = 2,
    known_count: bool = False,
    most_lost: float = 0.2,
) -> pd.DataFrame:
    """Decide which linked records are hidden or left out, so that nobody is found by them.

    For every subject and every combination of her own quasi-identifiers and up to ``known_records``
    of her linked records, at least k released subjects have these, too: (k, k^m)-anonymity. The
    values of a record are hidden first, all quasi-identifiers of it; then it is left out, with
    those that lead over it; a subject is left out whose own values too few have. Others are counted
    again after each step.

    Parameters
    ----------
    subjects : mapping
        ``rows`` (a table with a row per subject), its ``key`` and ``quasi_identifiers``, columns,
        of which there may be none. Values are compared as they are: generalize them before.
    tables : mapping
        The same of each linked table by its name, and ``to_subject``: its column with the key of
        the subject, or one such column by the name of another table. A record is known with those
        that it leads over.
    k : int
        Subjects who must match, >= 2.
    known_records : int or str, optional
        Most records that are known of a subject, >= 1, or ``all``: then that there are no others is
        known as well.
    known_count : bool, optional
        Whether the number of her records in each table is known. Then records are not left out, but
        subjects.
    most_lost : float, optional
        Largest share, 0 to 1, of the subjects, and of the records of each table, that may be hidden
        or left out.

    Returns
    -------
    pandas.DataFrame
        A row per subject and linked record: ``linked_table`` (its name; ``subjects``), ``record``
        (its key as text), ``status`` (``released``, ``hidden`` or ``left out``) and
        ``released_key``, a new one, random, NULL where it is left out. Equal keys of a table get
        new ones each time. It leads back to people: keep it from readers of the release.

    Raises
    ------
    LinkError
        For keys that are missing, repeated or lead nowhere, and where more than ``most_lost`` would
        be lost.

    Examples
    --------
    Only one of three has been in two wards:

    >>> import pandas as pd
    >>> patients = pd.DataFrame({"patient": [1, 2, 3], "age": ["old"] * 3})
    >>> stays = pd.DataFrame({"stay": [4, 5, 6], "patient": [1, 2, 3], "ward": ["a", "a", "b"]})
    >>> decisions = suppress_linked(
    ...     {"rows": patients, "key": "patient", "quasi_identifiers": ["age"]},
    ...     {
    ...         "stays": {
    ...             "rows": stays,
    ...             "key": "stay",
    ...             "to_subject": "patient",
    ...             "quasi_identifiers": ["ward"],
    ...         }
    ...     },
    ...     k=2,
    ...     most_lost=0.5,
    ... )
    >>> decisions[["linked_table", "record", "status"]].to_csv(index=False).split()
    ['linked_table,record,status', 'subjects,1,released', 'subjects,2,released', \
'subjects,3,released', 'stays,4,released', 'stays,5,released', 'stays,6,left', 'out']
    """
    _check_rule(tables, k, known_records, most_lost)
    links, order = read_links(subjects, tables)
    state = _State(links, k, known_records, known_count=known_count)
    while state.step():
        pass
    import pandas as pd  # noqa: PLC0415 (a second, which other commands need not wait for)

    parts = [(SUBJECTS, subjects, np.where(state.is_out, _LEFT_OUT, _RELEASED))]
    parts += [(name, tables[name], state.status[links.table == n]) for n, name in enumerate(order)]
    for name, _, status in parts:
        _check_lost(name, status, most_lost)
    return pd.concat([_decisions_of(*part) for part in parts], ignore_index=True)


@dataclass
class _State:
    """The records that are hidden and left out so far.

    Classes of own values are independent: after a step only those in which it changed something
    are counted again, which are ``is_open``.
    """

    links: Links
    k: int
    known: int | str
    known_count: bool
    status: Integers = field(init=False)
    is_out: Booleans = field(init=False)
    is_open: Booleans = field(init=False)

    def __post_init__(self) -> None:
        self.status = np.full(len(self.links.subject), _RELEASED)
        self.is_out = np.zeros(len(self.links.own), dtype=bool)
        self.is_open = np.ones(int(self.links.own.max(initial=0)) + 1, dtype=bool)

    def step(self) -> bool:
        """Hide or leave out what tells a subject; tell if there was anything."""
        self._leave_out_followers()
        seen = self._seen()
        if (few := self._in_small_class(seen)).any():
            self.is_out |= few
            return True
        is_open = self.is_open[self.links.own]
        record = np.flatnonzero((self.status != _LEFT_OUT) & is_open[self.links.subject])
        subject = self.links.subject[record]
        items = items_of(record, subject, seen[subject], self._values()[record])
        self.is_open[:] = False
        if self.known == "all":
            return self._suppress_one_record_each(
                items, subjects_with_rare_lists(items, np.where(is_open, seen, -1), self.k)
            )
        chosen = [
            self._items_to_suppress(items, sets)
            for sets in rare_sets(items, self.k, int(self.known))
        ]
        for places in chosen:
            self._hide(items.record[places])
        return bool(chosen)

    def _leave_out_followers(self) -> None:
        """Leave out records of subjects, and over records, that are left out."""
        self.status[self.is_out[self.links.subject]] = _LEFT_OUT
        has_parent = self.links.parent >= 0
        for table in range(self.links.tables):
            here = has_parent & (self.links.table == table)
            self.status[here & (self.status[self.links.parent] == _LEFT_OUT)] = _LEFT_OUT

    def _seen(self) -> Integers:
        """Return what is known of each subject beside her records; -1 if she is left out."""
        seen = self.links.own.copy()
        if self.known_count:
            for table in range(self.links.tables):
                of_table = self.links.subject[self.links.table == table]
                seen = combined_codes(seen, np.bincount(of_table, minlength=len(seen)))
        seen[self.is_out] = -1
        return seen

    def _in_small_class(self, seen: Integers) -> Booleans:
        is_few: Booleans = np.bincount(seen + 1)[seen + 1] < self.k
        return is_few & ~self.is_out

    def _values(self) -> Integers:
        """Return a number per record for its values and those that it leads over, as released."""
        links = self.links
        own = np.where(self.status == _HIDDEN, 0, links.value + 1)
        values = np.zeros(len(own), dtype=np.int64)
        for table in range(links.tables):
            here = links.table == table
            parent = np.where(links.parent[here] >= 0, values[links.parent[here]] + 1, 0)
            after = int(values.max(initial=-1)) + 1
            values[here] = combined_codes(own[here], parent) + after
        return values

    def _items_to_suppress(self, items: Items, sets: Integers) -> Integers:
        """Choose one item per rare set: visible first, then in the most rare sets, then rarest.

        Its equals of the same subject go with it, except those that the set itself leaves.
        """
        alone = combined_codes(items.seen, items.value)
        of_sets = np.bincount(sets.ravel(), minlength=len(items.record))
        is_hidden = self.status[items.record] == _HIDDEN
        rank = np.empty(len(items.record), dtype=np.int64)
        rank[np.lexsort((np.bincount(alone)[alone], -of_sets, is_hidden))] = np.arange(len(rank))
        choice = sets[np.arange(len(sets)), rank[sets].argmin(axis=1)]
        place = np.arange(len(rank))
        group = place - items.copy  # the first of equal ones
        is_equal = group[sets] == group[choice][:, None]
        kept = np.full(len(rank), len(rank))
        np.minimum.at(kept, group[choice], np.where(is_equal, items.copy[sets], 0).max(axis=1))
        chosen: Integers = np.flatnonzero(items.copy >= kept[group])
        return chosen

    def _suppress_one_record_each(self, items: Items, rare: Integers) -> bool:
        """Suppress one record of each rare subject, or the subject if she has none left."""
        if not len(rare):
            return False
        alone = combined_codes(items.seen, items.value)
        is_hidden = self.status[items.record] == _HIDDEN
        order = np.lexsort((np.bincount(alone)[alone], is_hidden, items.subject))
        subjects, first = np.unique(items.subject[order], return_index=True)
        is_rare = np.isin(subjects, rare)
        self.is_out[np.setdiff1d(rare, subjects)] = True
        self._hide(items.record[order][first[is_rare]])
        return True

    def _hide(self, records: Integers) -> None:
        """Hide records; leave out those that are hidden, or their subjects."""
        is_hidden = self.status[records] == _HIDDEN
        self.is_open[self.links.own[self.links.subject[records]]] = True
        self.status[records[~is_hidden]] = _HIDDEN
        if self.known_count:
            self.is_out[self.links.subject[records[is_hidden]]] = True
        else:
            self.status[records[is_hidden]] = _LEFT_OUT


def _check_rule(
    tables: Mapping[str, Any], k: int, known_records: int | str, most_lost: float
) -> None:
    if not _is_whole(k, 2):
        raise LinkError(f"k must be a whole number >= 2; got {k!r}. Correct the arguments.")
    if known_records != "all" and not _is_whole(known_records, 1):
        raise LinkError(
            f"known_records must be all or a whole number >= 1; got {known_records!r}. "
            "Correct the arguments."
        )
    if not isinstance(most_lost, int | float) or not 0 <= most_lost <= 1:
        raise LinkError(f"most_lost must be from 0 to 1; got {most_lost!r}. Correct the arguments.")
    if not isinstance(tables, Mapping):
        raise LinkError(f"tables must be a mapping by name; got {type(tables).__name__}.")
    for name in tables:
        if not isinstance(name, str) or name in {SUBJECTS, ""}:
            raise LinkError(f"no linked table may be called {name!r}; one is. Rename it.")


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _check_lost(name: str, status: Integers, most_lost: float) -> None:
    hidden, out = (int((status == one).sum()) for one in (_HIDDEN, _LEFT_OUT))
    if hidden + out > most_lost * len(status):
        raise LinkError(
            f"at most {most_lost:.0%} of {name} may be hidden or left out; of {len(status)}, "
            f"{hidden} would be hidden and {out} left out. Generalize the quasi-identifiers "
            "further, lower known_records or k, or raise most_lost."
        )


def _decisions_of(name: str, table: Mapping[str, Any], status: Integers) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415 (as above)

    return pd.DataFrame(
        {
            "linked_table": name,
            "record": keys_of(table).to_numpy(),
            "status": np.array(STATUSES)[status],
            "released_key": pd.arrays.IntegerArray(_random_keys(len(status)), status == _LEFT_OUT),
        }
    )


def _random_keys(number: int) -> Integers:
    """Return different whole numbers from 0 to 2^63 - 1, drawn by the operating system.

    Of two runs no keys are the same, so that tables of one do not join those of another.
    """
    keys = np.empty(0, dtype=np.int64)
    while len(keys) < number:
        drawn = np.frombuffer(os.urandom(8 * number), dtype=np.uint64) >> np.uint64(1)
        keys = np.unique(np.concatenate([keys, drawn.astype(np.int64)]))[:number]
    return keys[np.argsort(np.frombuffer(os.urandom(8 * number), dtype=np.uint64))]
