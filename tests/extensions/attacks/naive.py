"""An attacker who looks at one row after the other: slow, and nothing can be wrong about him."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tests.extensions.attacks.linkable import ZIPS, Label, Record, World


def can_hold(label: Label, record: Record) -> bool:
    """Tell whether a label does not contradict the raw quasi-identifiers of somebody."""
    (text, lower, upper), zip_ = label
    if text != "*":
        if record.age is None:
            return False
        if not (record.age == lower if lower == upper else lower <= record.age < upper):
            return False
    return zip_ == "*" or (record.zip is not None and zip_ in (record.zip, *ZIPS[record.zip]))


def candidates(world: World, release: int, target: Record) -> list[Record]:
    """Return the records whose released rows can be those of a target."""
    return [row for row in world.rows(release) if can_hold(row.label(release), target)]


def linkage(world: World) -> tuple[Fraction, Fraction, Fraction]:
    """Return the highest and the average success, and the average over all people."""
    in_classes: dict[tuple[int, Label], Fraction] = defaultdict(Fraction)
    of_people = dict.fromkeys((world.person(record) for record in world.records), Fraction(0))
    for target in world.rows(0):
        found = candidates(world, 0, target)
        people = {world.person(row) for row in found}
        success = Fraction(1, len(people)) if target in found else Fraction(0)
        person = world.person(target)
        unit = (person, target.label(0))
        in_classes[unit] = max(in_classes[unit], success)
        of_people[person] = max(of_people[person], success)
    return max(in_classes.values()), mean(in_classes.values()), mean(of_people.values())


def mean(values: Iterable[Fraction]) -> Fraction:
    listed = list(values)
    return sum(listed, Fraction(0)) / len(listed)


def smallest_group(world: World) -> int:
    """Return to how few people a group of the vault leads."""
    return min(map(len, classes(world).values()))


def classes(world: World) -> Mapping[Label, set[int]]:
    """Return the people of each released class."""
    found: dict[Label, set[int]] = defaultdict(set)
    for row in world.rows(0):
        found[row.label(0)].add(world.person(row))
    return found


def guess(rows: Iterable[Record]) -> str:
    """Return the most frequent value, of several the first in the order of text."""
    counts = Counter(row.value for row in rows)
    return min(counts, key=lambda value: (-counts[value], value))


def singled_out(world: World, columns: Sequence[str]) -> tuple[int, int, int]:
    """Return predicates of a trial's rows, and how many single out a member, and another."""
    predicates = {tuple(_shown(row, name) for name in columns) for row in trial_rows(world)}
    found = {True: 0, False: 0}
    for predicate in predicates:
        for is_member in found:
            people = {
                world.person(record)
                for record in world.records
                if is_in_trial(world, record) is is_member
                and all(map(_agrees, columns, predicate, [record] * len(columns)))
            }
            found[is_member] += len(people) == 1
    return len(predicates), found[True], found[False]


def chance_of_link(world: World, target: Record) -> Fraction:
    """Return the chance that a row by age and a row by postcode are the same."""
    rows = trial_rows(world)
    by_age = [row for row in rows if _agrees("age", _shown(row, "age"), target)]
    by_zip = [row for row in rows if _agrees("zip", _shown(row, "zip"), target)]
    both = [row for row in by_age if row in by_zip]
    return Fraction(len(both), len(by_age) * len(by_zip)) if both else Fraction(0)


def inferred(world: World, target: Record) -> str:
    """Return the value that is guessed from a trial, or that most rows have if none fits."""
    rows = trial_rows(world)
    return guess([row for row in rows if can_hold(row.label(0), target)] or rows)


def is_in_trial(world: World, record: Record) -> bool:
    """Tell whether a record is anonymized in the trial: people with odd numbers are."""
    return world.person(record) % 2 == 1


def trial_rows(world: World) -> list[Record]:
    return [row for row in world.rows(0) if is_in_trial(world, row)]


def _shown(row: Record, column: str) -> object:
    age, zip_ = row.label(0)
    return {"age": age, "zip": zip_, "value": row.value}[column]


def _agrees(column: str, shown: object, record: Record) -> bool:
    if column == "value":
        return shown == record.value
    anybody: dict[str, Any] = {"age": ("*", 0, 0), "zip": "*"}
    label = anybody | {column: shown}
    return can_hold((label["age"], label["zip"]), record)


def confidence(world: World) -> Fraction:
    """Return the largest share of a value in a class, people counting once for each value."""
    found: dict[Label, set[tuple[int, str]]] = defaultdict(set)
    for row in world.rows(0):
        found[row.label(0)].add((world.person(row), row.value))
    return max(
        Fraction(max(Counter(value for _, value in pairs).values()), len(pairs))
        for pairs in found.values()
    )


def joint(world: World, k: int, *, knows_origin: bool = True) -> tuple[int, int, int, int]:
    """Return joint classes, those below k, the people in them, and the smallest."""
    own = [{row.number: row.label(release) for row in world.rows(release)} for release in (0, 1)]
    if not knows_origin:
        own[1] = _narrowest(world)
    groups: dict[tuple[Label | None, Label | None], set[int]] = defaultdict(set)
    for record in world.records:
        both = (own[0].get(record.number), own[1].get(record.number))
        if any(both):
            groups[both].add(world.person(record))
    sizes = [len(people) for people in groups.values()]
    below = [size for size in sizes if size < k]
    return len(sizes), len(below), sum(below), min(sizes)


def _narrowest(world: World) -> dict[int, Label]:
    """Return for each record the class of release 1 that can hold the fewest known records."""
    covered = {
        label: sum(can_hold(label, record) for record in world.records)
        for label in {row.label(1) for row in world.rows(1)}
    }
    chosen = {}
    for record in world.records:
        possible = [label for label in covered if can_hold(label, record)]
        if possible:
            chosen[record.number] = min(possible, key=lambda label: (covered[label], label))
    return chosen


def determined(world: World) -> tuple[int, int]:
    """Return people whose value is certain by both releases but by neither, and by the first."""
    together, alone = set(), set()
    other = {row.number for row in world.rows(1)}
    for target in world.rows(0):
        first = {row.value for row in candidates(world, 0, target)}
        second = {row.value for row in candidates(world, 1, target)}
        if first == {target.value}:
            alone.add(world.person(target))
        elif target.number in other and first & second == {target.value} and len(second) > 1:
            together.add(world.person(target))
    return len(together), len(alone)
