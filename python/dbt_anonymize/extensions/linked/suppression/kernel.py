"""Linked records raised, hidden or left out step by step until k subjects match each of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from dbt_anonymize.arrays import Bools, Ints
from dbt_anonymize.extensions.linked.suppression.matching import (
    Items,
    items_of,
    rare_sets,
    subjects_with_rare_lists,
)
from dbt_anonymize.extensions.linked.suppression.memory import memory_by_default
from dbt_anonymize.extensions.linked.suppression.records import (
    LinkError,
    Links,
    combined_codes,
    lowest_of_groups,
)
from dbt_anonymize.extensions.linked.suppression.sensitive import Held, Sensitive

STATUSES = ("released", "raised", "hidden", "left out")
RELEASED, RAISED, HIDDEN, LEFT_OUT = range(len(STATUSES))
# A raised record loses a part of what a hidden one loses, half of it by convention.
COSTS = np.array([0.0, 0.5, 1.0, 1.0])
# Of so many subjects who have all hidden one more is hidden at a time: one by one takes long.
_SHARE_OF_MORE = 8


@dataclass
class Suppression:
    """The records that are raised, hidden and left out so far.

    A raised record shows its labels one level up. A record goes up alone: released, raised (in a
    process that ``raises``), hidden, left out; what would change nothing is skipped.

    Classes of own values are independent: after a step only those in which it changed something
    are counted again, which are ``is_open``. No subject is left out, but all her records if their
    number is rare. Each class must hold k subjects, who match at the latest when nobody of them has
    records left; with fewer it is a `LinkError`, as are combinations that do not fit into
    ``memory`` bytes.
    """

    links: Links
    k: int
    known: int | str
    known_count: bool
    memory: int = field(default_factory=memory_by_default)
    sensitive: Sensitive | None = None
    raises: bool = field(init=False, default=False)
    status: Ints = field(init=False)
    is_open: Bools = field(init=False)

    def __post_init__(self) -> None:
        own = self.links.own
        self.status = np.full(len(self.links.subject), RELEASED)
        self.is_open = np.ones(int(own.max(initial=-1)) + 1, dtype=bool)
        sizes = np.bincount(own)
        if few := int(((sizes > 0) & (sizes < self.k)).sum()):
            raise LinkError(
                f"each class of released subjects must hold {self.k} or more; {few} hold fewer. "
                "Build the effort again."
            )
        if self.sensitive is not None:
            self._check_own_values(self.sensitive)

    def _check_own_values(self, sensitive: Sensitive) -> None:
        """Require that no own value is told by own values, which no record makes up for."""
        is_own = sensitive.record < 0
        class_ = self.links.own[sensitive.subject[is_own]]
        holders = combined_codes(class_, sensitive.value[is_own])
        if (
            np.bincount(holders)[holders] * sensitive.diversity
            > np.bincount(self.links.own)[class_]
        ).any():
            raise LinkError(
                f"of people with the same own values at most 1 of {sensitive.diversity} may have "
                "the same sensitive value; some classes have more. Demand alpha_k_anonymity of "
                f"each sensitive column, with alpha at most 1 / {sensitive.diversity}."
            )

    def run(self) -> None:
        """Raise, hide and leave out records until nothing is rare.

        What must be hidden where none is raised tells which records to raise: then each of them has
        the most others that are raised to the same labels. A class in which that loses no less has
        none raised.
        """
        while self.step():
            pass
        can_rise = (self.status != RELEASED) & self.links.can_be_raised
        if not can_rise.any():
            return
        class_ = self.links.own[self.links.subject]
        raising = replace(self)
        raising.raises = True
        raising.status = np.where(can_rise, RAISED, self.status)
        raising.is_open = np.bincount(class_[can_rise], minlength=len(self.is_open)) > 0
        try:
            while raising.step():
                pass
        except LinkError:  # their combinations do not fit into memory, while those of hiding do
            return
        of_hiding, of_raising = (
            np.bincount(class_, COSTS[status], len(self.is_open))
            for status in (self.status, raising.status)
        )
        self.status = np.where((of_raising < of_hiding)[class_], raising.status, self.status)

    def step(self) -> bool:
        """Raise, hide or leave out what tells a subject; tell if there was anything."""
        self._leave_out_followers()
        seen = self._seen()
        if (few := self._in_small_class(seen)).any():
            self._leave_out(few)
            return True
        held = self._held()
        if held and self._leave_out_holders(held, seen):
            return True
        is_open = self.is_open[self.links.own]
        record = np.flatnonzero((self.status != LEFT_OUT) & is_open[self.links.subject])
        subject = self.links.subject[record]
        items = items_of(record, subject, seen[subject], self._values()[record])
        self.is_open[:] = False
        if self.known == "all":
            return self._suppress_one_record_each(
                items, subjects_with_rare_lists(items, np.where(is_open, seen, -1), self.k, held)
            )
        chosen = [
            self._items_to_suppress(items, sets)
            for sets in rare_sets(items, self.k, int(self.known), self.memory, held)
        ]
        if chosen:
            self._suppress(items.record[np.concatenate(chosen)])
        return bool(chosen)

    def _held(self) -> Held | None:
        """Return the sensitive values that subjects hold, if none may be told."""
        if self.sensitive is None:
            return None
        return self.sensitive.held(self.status != LEFT_OUT, len(self.links.own))

    def _leave_out_holders(self, held: Held, seen: Ints) -> bool:
        """Leave out records with values that what is ``seen`` alone tells; say if there were any.

        So many subjects lose theirs as hold too many, those first who have the fewest. A value of
        their own is not lost: of those who hold it so many lose all records that, where numbers are
        known, the others have another one.
        """
        own, sensitive = self.links.own, self.sensitive
        pair = combined_codes(seen[held.subject], held.value)
        size = np.bincount(seen)[seen[held.subject]]
        excess = np.bincount(pair)[pair] - size // held.diversity
        if sensitive is None or not (excess > 0).any():
            return False
        width = int(held.value.max()) + 1
        is_there = np.append(self.status != LEFT_OUT, True)[sensitive.record]
        place = np.searchsorted(
            held.subject * width + held.value, sensitive.subject * width + sensitive.value
        )
        records = np.bincount(place[is_there], minlength=len(pair))
        is_own = np.zeros(len(pair), dtype=bool)
        is_own[place[sensitive.record < 0]] = True
        others = np.flatnonzero(~is_own & (excess > 0))
        chosen = np.zeros(len(pair), dtype=bool)
        chosen[lowest_of_groups(others, pair, records, excess)] = True
        # Values of records that are left out may have no place.
        of_records = np.flatnonzero(is_there & (sensitive.record >= 0))
        lost = sensitive.record[of_records[chosen[place[of_records]]]]
        self.status[lost] = LEFT_OUT
        self.is_open[own[self.links.subject[lost]]] = True
        # Each who loses all is one holder less, and one less of those with as many records.
        too_many = np.bincount(pair, is_own)[pair].astype(np.int64) * held.diversity - size
        holders = np.flatnonzero(is_own & (too_many > 0))
        number = np.bincount(self.links.subject[self.status != LEFT_OUT], minlength=len(own))
        most = -(-too_many // (held.diversity - 1))
        is_told = np.zeros(len(own), dtype=bool)
        is_told[held.subject[lowest_of_groups(holders, pair, number[held.subject], most)]] = True
        self._leave_out(is_told)
        return True

    def _leave_out_followers(self) -> None:
        """Leave out records that lead over records that are left out."""
        has_parent = self.links.parent >= 0
        for table in range(self.links.tables):
            here = has_parent & (self.links.table == table)
            self.status[here & (self.status[self.links.parent] == LEFT_OUT)] = LEFT_OUT

    def _seen(self) -> Ints:
        """Return what is known of each subject beside the values of her records."""
        seen = self.links.own.copy()
        if self.known_count:
            is_kept = self.status != LEFT_OUT
            for table in range(self.links.tables):
                of_table = self.links.subject[is_kept & (self.links.table == table)]
                seen = combined_codes(seen, np.bincount(of_table, minlength=len(seen)))
        return seen

    def _in_small_class(self, seen: Ints) -> Bools:
        is_few: Bools = np.bincount(seen)[seen] < self.k
        return is_few

    def _shown(self) -> Ints:
        """Return the number of the labels of each record, as released; 0 if they are all roots."""
        links = self.links
        visible = np.where(self.status == RAISED, links.raised, links.value)
        shown: Ints = np.where(self.status < HIDDEN, visible, 0)
        return shown

    def _values(self) -> Ints:
        """Return a number per record for its values and those that it leads over, as released."""
        links, own = self.links, self._shown()
        values = np.zeros(len(own), dtype=np.int64)
        for table in range(links.tables):
            here = links.table == table
            parent = np.where(links.parent[here] >= 0, values[links.parent[here]] + 1, 0)
            after = int(values.max(initial=-1)) + 1
            values[here] = combined_codes(own[here], parent) + after
        return values

    def _items_to_suppress(self, items: Items, sets: Ints) -> Ints:
        """Choose one item per rare set: visible first, then in the most rare sets, then rarest.

        Those come last of which nothing more can be hidden. Equals of the same subject go with an
        item, except those that the set itself leaves.
        """
        alone = combined_codes(items.seen, items.value)
        of_sets = np.bincount(sets.ravel(), minlength=len(items.record))
        hidden = (self._shown() == 0).astype(np.int64)
        if self.known_count:
            hidden += self._is_wholly_hidden()
        rank = np.empty(len(items.record), dtype=np.int64)
        order = np.lexsort((np.bincount(alone)[alone], -of_sets, hidden[items.record]))
        rank[order] = np.arange(len(rank))
        choice = sets[np.arange(len(sets)), rank[sets].argmin(axis=1)]
        place = np.arange(len(rank))
        group = place - items.copy  # the first of equal ones
        is_equal = group[sets] == group[choice][:, None]
        kept = np.full(len(rank), len(rank))
        np.minimum.at(kept, group[choice], np.where(is_equal, items.copy[sets], 0).max(axis=1))
        chosen: Ints = np.flatnonzero(items.copy >= kept[group])
        return chosen

    def _suppress_one_record_each(self, items: Items, rare: Ints) -> bool:
        """Suppress one record of each rare subject.

        For those who have none others of their class lose theirs, once these are not rare by
        records of their own, which they may lose as well.
        """
        if not len(rare):
            return False
        alone = combined_codes(items.seen, items.value)
        is_hidden = self._shown()[items.record] == 0
        order = np.lexsort((np.bincount(alone)[alone], is_hidden, items.subject))
        subjects, first = np.unique(items.subject[order], return_index=True)
        is_rare = np.isin(subjects, rare)
        self._suppress(items.record[order][first[is_rare]])
        has_none = np.zeros(len(self.links.own), dtype=bool)
        has_none[np.setdiff1d(rare, subjects)] = True
        self._leave_out(has_none & ~self.is_open[self.links.own])
        return True

    def _suppress(self, records: Ints) -> None:
        """Raise or hide records; leave out hidden ones, or hide more where numbers are known.

        Hidden ones wait while others of their class are raised or hidden, whom they may match.
        """
        class_ = self.links.own[self.links.subject[records]]
        is_visible = self._shown()[records] != 0
        self.is_open[class_] = True
        waits = np.zeros(len(self.is_open), dtype=bool)
        waits[class_[is_visible]] = True
        hidden = records[~is_visible & ~waits[class_]]
        if self.known_count:
            self._hide_more(hidden)
        else:
            self.status[hidden] = LEFT_OUT
        visible = records[is_visible]
        is_raised = (
            self.raises & (self.status[visible] == RELEASED) & self.links.can_be_raised[visible]
        )
        self.status[visible] = np.where(is_raised, RAISED, HIDDEN)

    def _is_wholly_hidden(self) -> Bools:
        """Tell of each record whether it is hidden and all that it leads over."""
        is_hidden: Bools = self._shown() == 0
        for table in range(self.links.tables):
            here = (self.links.table == table) & (self.links.parent >= 0)
            is_hidden[here] &= is_hidden[self.links.parent[here]]
        return is_hidden

    def _hide_more(self, records: Ints) -> None:
        """Hide what hidden records lead over, or else all records of k subjects with as many.

        Of these it takes those who have the most hidden already, and some more where a sensitive
        value tells k. They match everybody with as many records, so that nobody need lose one that
        is hidden.
        """
        subject, parent = self.links.subject, self.links.parent
        is_whole, is_visible = self._is_wholly_hidden()[records], self._shown() != 0
        over = parent[records[~is_whole]]
        while len(over := over[over >= 0]):
            self.status[over[is_visible[over]]] = HIDDEN
            over = parent[over]
        seen = self._seen()
        alike = np.flatnonzero(np.isin(seen, seen[subject[records[is_whole]]]))
        is_visible = self._shown() != 0
        visible = np.bincount(subject[is_visible], minlength=len(seen))
        hidden = np.bincount(seen, visible == 0)[seen].astype(np.int64)
        most = np.where(hidden < self.k, self.k, hidden + 1 + hidden // _SHARE_OF_MORE)
        is_chosen = np.zeros(len(seen), dtype=bool)
        is_chosen[lowest_of_groups(alike, seen, visible, most)] = True
        self.status[is_chosen[subject] & is_visible] = HIDDEN

    def _leave_out(self, subjects: Bools) -> None:
        """Leave out all records of subjects.

        For those who have none others of their class lose theirs, the fewest first, until enough
        have none; before, those of their class who are to lose theirs anyway.
        """
        own = self.links.own
        owner = self.links.subject[self.status != LEFT_OUT]
        records = np.bincount(owner, minlength=len(own))
        emptied = subjects & (records > 0)
        waits = np.zeros(len(self.is_open), dtype=bool)
        waits[own[emptied]] = True
        alone = subjects & (records == 0) & ~waits[own]
        wanted = np.zeros(len(self.is_open), dtype=np.int64)
        # One more where k have none, whom a sensitive value still tells.
        wanted[own[alone]] = np.maximum(1, self.k - np.bincount(own[records == 0])[own[alone]])
        others = np.flatnonzero((records > 0) & (wanted[own] > 0))
        emptied[lowest_of_groups(others, own, records, wanted[own])] = True
        self.status[emptied[self.links.subject]] = LEFT_OUT
        self.is_open[own[emptied]] = True
