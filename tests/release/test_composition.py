"""Differences of two releases show who joined and left, as counted by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.release.composition import Composition, Remainders, compare_releases
from tests.projects import REPOSITORY

pytestmark = pytest.mark.costly

Interval = tuple[str, int, int]
Row = tuple[Interval, str, str, int]  # age, zip, value, token

ROOT = ("*", 0, 40)
ZIPS = {0: lambda zip_: zip_, 1: lambda zip_: f"{zip_[0]}*", 2: lambda _: "*"}


def interval(age: int | None, width: int) -> Interval:
    if age is None or width == 40:
        return ROOT
    if width == 0:
        return (str(age), age, age)
    lower = age // width * width
    return (f"[{lower}, {lower + width})", lower, lower + width)


def compared(
    earlier: Sequence[Row],
    later: Sequence[Row],
    k: int,
    *,
    has_tokens: bool = False,
    without_stars: bool = False,
) -> Remainders:
    with duckdb.connect(config={"threads": 1}) as engine:
        for name, rows in {"earlier": earlier, "later": later}.items():
            engine.execute(
                f"create table {name} (age text, age_lower int, age_upper int, zip text, "
                "value text, token int, cqi text)"
            )
            for (shown, lower, upper), zip_, value, token in rows:
                engine.execute(
                    f"insert into {name} values (?, ?, ?, ?, ?, ?, ?)",
                    [shown, lower, upper, zip_, value, token, f"{shown}|{zip_}"],
                )
            if not has_tokens:
                engine.execute(f"alter table {name} drop column token")
            if without_stars and all(row[0] == ROOT for row in rows):
                for column in ("age", "age_lower", "age_upper"):
                    engine.execute(f"alter table {name} drop column {column}")
        return compare_releases(engine, "earlier", "later", Composition(["age", "zip"], k))


def by_hand(
    earlier: Sequence[Row], later: Sequence[Row], k: int, *, has_tokens: bool
) -> Remainders:
    if has_tokens and {row[3] for row in earlier} & {row[3] for row in later}:
        old, new = ({row[3] for row in rows} for rows in (earlier, later))
        joined = Counter(row[:2] for row in later if row[3] not in old)
        left = Counter(row[:2] for row in earlier if row[3] not in new)
        return few(joined, left, k)
    ages = common([r[0] for r in earlier], [r[0] for r in later], joined_intervals)
    zips = common([r[1] for r in earlier], [r[1] for r in later], one_sided_texts)
    found = []
    for age_of, zip_of in ((lambda age: age, lambda zip_: zip_), (ages, zips)):
        old, new = (
            Counter((age_of(age), zip_of(zip_), value) for age, zip_, value, _ in rows)
            for rows in (earlier, later)
        )
        joined, left = Counter(), Counter()
        for (age, zip_, _), records in (new - old).items():
            joined[age, zip_] += records
        for (age, zip_, _), records in (old - new).items():
            left[age, zip_] += records
        found.append(few(joined, left, k))
    return max(found, key=lambda one: one.joined_classes + one.left_classes)


def few(joined: Counter, left: Counter, k: int) -> Remainders:
    numbers = []
    for counted in (joined, left):
        small = [records for records in counted.values() if records < k]
        numbers += [len(small), sum(small)]
    return Remainders(*numbers)


def common(
    old: Sequence[Hashable], new: Sequence[Hashable], merge: Callable
) -> Callable[[Hashable], Hashable]:
    """Return which label of both releases stands for a label of one."""
    if set(old) == set(new):
        return lambda label: label
    if any(all(shown(label) == "*" for label in labels) for labels in (old, new)):
        return lambda label: None
    return merge(set(old), set(new))


def shown(label: Hashable) -> str:
    return label[0] if isinstance(label, tuple) else str(label)


def one_sided_texts(old: set, new: set) -> Callable:
    return lambda label: label if label in old & new else None


def joined_intervals(old: set, new: set) -> Callable:
    """Merge what overlaps until nothing does: by the ages that the labels can be."""
    groups = [({label}, ages(label)) for label in old | new if label != ROOT]
    while True:
        for one in groups:
            other = next((g for g in groups if g is not one and g[1] & one[1]), None)
            if other is not None:
                groups = [g for g in groups if g is not one and g is not other]
                groups.append((one[0] | other[0], one[1] | other[1]))
                break
        else:
            break
    return lambda label: next((frozenset(g[0]) for g in groups if label in g[0]), label)


def ages(label: Interval) -> set[int]:
    return set(range(label[1], label[2])) or {label[1]}


person = st.tuples(
    st.one_of(st.none(), st.integers(0, 39)),
    st.sampled_from(["01", "02", "11"]),
    st.sampled_from("ab"),
)
levels = st.tuples(st.sampled_from([0, 5, 10, 15, 40]), st.sampled_from(sorted(ZIPS)))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[Row], list[Row]]:
    """Draw two releases of overlapping groups of people, at levels of their own."""
    people = draw(st.lists(person, min_size=1, max_size=12))
    releases = []
    for _ in range(2):
        width, level = draw(levels)
        present = draw(st.lists(st.sampled_from(range(len(people))), unique=True, max_size=12))
        releases.append(
            [
                (interval(people[n][0], width), ZIPS[level](people[n][1]), people[n][2], n)
                for n in present
            ]
        )
    return releases[0], releases[1]


@settings(deadline=None)
@given(pairs(), st.integers(2, 4), st.booleans(), st.booleans())
def test_remainders_are_those_that_are_counted_by_hand(
    pair: tuple[list[Row], list[Row]], k: int, has_tokens: bool, without_stars: bool
) -> None:
    found = compared(*pair, k, has_tokens=has_tokens, without_stars=without_stars)
    assert found == by_hand(*pair, k, has_tokens=has_tokens)


def release(*groups: tuple[int, int, str], width: int = 10) -> list[Row]:
    """Return so many rows of an age with a value."""
    rows: list[Row] = []
    for count, age, value in groups:
        rows += [(interval(age, width), "0*", value, 100 * age + n) for n in range(count)]
    return rows


BEFORE = release((3, 1, "flu"), (2, 2, "cold"), (4, 11, "flu"))


def test_an_unchanged_release_raises_no_alarm() -> None:
    assert compared(BEFORE, BEFORE[::-1], 3) == Remainders(0, 0, 0, 0)


def test_the_person_who_joined_and_the_one_who_left_are_found() -> None:
    joined = [*BEFORE, (interval(3, 10), "0*", "cancer", 1)]
    assert compared(BEFORE, joined, 3) == Remainders(1, 1, 0, 0)
    assert compared(joined, BEFORE, 3) == Remainders(0, 0, 1, 1)


def test_k_records_that_joined_hide_each_other() -> None:
    two = [*BEFORE, *release((2, 5, "cancer"))]
    assert compared(BEFORE, two, 3) == Remainders(1, 2, 0, 0)
    assert compared(BEFORE, two, 2) == Remainders(0, 0, 0, 0)
    new_class = [*BEFORE, *release((3, 25, "cancer"))]
    assert compared(BEFORE, new_class, 3) == Remainders(0, 0, 0, 0)


def test_a_changed_value_is_one_who_left_and_one_who_joined() -> None:
    changed = [*BEFORE[:-1], (*BEFORE[-1][:2], "cancer", BEFORE[-1][3])]
    assert compared(BEFORE, changed, 3) == Remainders(1, 1, 1, 1)
    # With tokens it is seen that nobody joined.
    assert compared(BEFORE, changed, 3, has_tokens=True) == Remainders(0, 0, 0, 0)


def test_who_joined_is_found_although_the_labels_changed() -> None:
    groups = (3, 1, "flu"), (2, 2, "cold"), (4, 11, "flu")
    coarser = release(*groups, (1, 15, "cancer"), width=20)
    assert compared(BEFORE, coarser, 3) == Remainders(1, 1, 0, 0)
    assert compared(coarser, BEFORE, 3) == Remainders(0, 0, 1, 1)


def test_tokens_tell_who_joined_where_the_values_do_not() -> None:
    """One with flu left and one with flu joined."""
    swapped = [(*BEFORE[0][:3], 7), *BEFORE[1:]]
    assert compared(BEFORE, swapped, 3) == Remainders(0, 0, 0, 0)
    assert compared(BEFORE, swapped, 3, has_tokens=True) == Remainders(1, 1, 1, 1)
    rotated = [(*row[:3], -row[3] - 1) for row in [*BEFORE, BEFORE[0]]]
    assert compared(BEFORE, rotated, 3, has_tokens=True) == Remainders(1, 1, 0, 0)


def test_who_left_is_found_by_a_label_that_is_not_released_any_more() -> None:
    later = [(ROOT, *row[1:]) for row in BEFORE[:-1] if row[3] != BEFORE[0][3]]
    given = {"has_tokens": True, "without_stars": True}
    assert compared(BEFORE, later, 2, **given) == Remainders(0, 0, 2, 2)
    assert compared(later, BEFORE, 2, **given) == Remainders(2, 2, 0, 0)


@pytest.mark.needs("attacks")
def test_the_example_of_the_page_is_what_is_counted() -> None:
    page = (REPOSITORY / "docs" / "extensions" / "attacks.md").read_text(encoding="utf-8")
    releases: list[list[Row]] = [[], []]
    joined, left = Counter(), Counter()
    for line in page.splitlines():
        cells = [cell.strip().replace("*", "") for cell in line.strip("|").split("|")]
        if len(cells) != 5 or not cells[0].startswith("`["):
            continue
        lower = int(cells[0][2:4])
        for rows, values in zip(releases, cells[1:3], strict=True):
            rows += [(interval(lower, 10), "0*", value, 0) for value in values.split(", ")]
        joined[lower], left[lower] = (len(cell.split(", ")) if cell else 0 for cell in cells[3:])
    assert (len(joined), sum(joined.values()), sum(left.values())) == (3, 4, 1)
    found = compared(*releases, 3)
    assert found == few(+joined, +left, 3) == Remainders(1, 1, 1, 1)
