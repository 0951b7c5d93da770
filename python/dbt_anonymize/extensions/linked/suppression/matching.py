"""Combinations of records that too few subjects have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dbt_anonymize.arrays import Ints
from dbt_anonymize.extensions.linked.suppression.memory import require_memory
from dbt_anonymize.extensions.linked.suppression.records import combined_codes
from dbt_anonymize.extensions.linked.suppression.sensitive import Held


class Items(NamedTuple):
    """Records in the order of their subjects and values.

    ``seen`` is what is known of the subject of each item, ``copy`` its place among equal records of
    the subject, from 0.
    """

    record: Ints
    subject: Ints
    seen: Ints
    value: Ints
    copy: Ints


def items_of(record: Ints, subject: Ints, seen: Ints, value: Ints) -> Items:
    """Return records, which have all of these, as items in order."""
    order = np.lexsort((record, value, subject))
    subject, value = subject[order], value[order]
    place = np.arange(len(order))
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (np.diff(subject) != 0) | (np.diff(value) != 0)
    copy = place - np.maximum.accumulate(np.where(is_new, place, 0))
    return Items(record[order], subject, seen[order], value, copy)


def rare_sets(
    items: Items, k: int, most: int, memory: int, held: Held | None = None, *, every: bool = False
) -> Iterator[Ints]:
    """Yield the smallest sets of items that fewer than k subjects of a class have.

    With the sensitive values that are ``held`` also those that tell one. Of equal items a set has
    the first. As in searches for frequent itemsets, sets of one item more are made of those that k
    subjects have, in classes of which nothing was yielded; with ``every`` in all classes, so that
    each subject who has any is of one. Those that do not fit into ``memory`` bytes are a
    `LinkError`.

    Yields
    ------
    array
        Places of items, a row per set of a subject and a column per item, 1 to ``most``.
    """
    places = np.flatnonzero(items.copy < most)
    copy, value, subject, seen = (
        one[places] for one in (items.copy, items.value, items.subject, items.seen)
    )
    end = np.searchsorted(subject, subject, side="right")
    last = np.flatnonzero(copy == 0)
    sets, known = last[:, None], combined_codes(seen[last], value[last])
    for number in range(1, most + 1):
        is_rare = np.bincount(known)[known] < k
        if held:
            is_rare |= held.tells(known, subject[last])
        if is_rare.any():
            yield places[sets[is_rare]]
        if number == most or not len(last):
            return
        is_left = ~is_rare if every else ~np.isin(seen[last], seen[last[is_rare]])
        sets, known, last = sets[is_left], known[is_left], last[is_left]
        following = end[last] - last - 1
        require_memory(int(following.sum()), number + 1, items.subject, memory)
        row = np.repeat(np.arange(len(last)), following)
        begin = np.repeat(np.cumsum(following) - following, following)
        added = last[row] + 1 + np.arange(len(row)) - begin
        is_next_copy = (added == last[row] + 1) & (copy[added] == copy[last[row]] + 1)
        row, added = (one[(copy[added] == 0) | is_next_copy] for one in (row, added))
        sets, known = np.column_stack([sets[row], added]), combined_codes(known[row], value[added])
        last = added


def subjects_with_rare_lists(items: Items, seen: Ints, k: int, held: Held | None = None) -> Ints:
    """Return subjects whose lists of records, with what else is known, fewer than k have.

    With the sensitive values that are ``held`` also those whose lists tell one. ``seen`` is what is
    known of each subject, -1 of those who are left out.
    """
    number = np.bincount(items.subject, minlength=len(seen))
    first = np.cumsum(number) - number
    place = np.arange(len(items.subject)) - first[items.subject]
    known = seen + 1
    for step in range(int(number.max(initial=0))):
        value = np.zeros(len(seen), dtype=np.int64)
        value[number > step] = items.value[place == step] + 1
        known = combined_codes(known, value)
    is_rare = np.bincount(known)[known] < k
    if held:
        is_rare |= held.tells(known, np.arange(len(seen)))
    rare: Ints = np.flatnonzero(is_rare & (seen >= 0))
    return rare
