"""Aggregates from month to month: no two of them tell the value of few people."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import duckdb
import pytest

from tests.extensions.recoding import wages
from tests.oracle.aggregates import Member, aggregate, narrowest
from tests.projects import Project, copy_consumer

pytestmark = pytest.mark.sampled_tests(group="builds")

MONTHS = 24
LEVEL = 2
AGES = {key: 30 if key < 18 else 50 for key in range(40)}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return copy_consumer(tmp_path_factory.mktemp("compared") / "project")


@pytest.fixture(scope="module")
def compared(project: Project) -> dict[bool, str]:
    """Give the compiled comparison of classes with earlier ones, of records and of subjects."""
    return {
        has_subject: _comparison(project, wages.K, has_subject) for has_subject in (False, True)
    }


def _comparison(project: Project, k: int, has_subject: bool) -> str:
    name = f"compared_{k}_{has_subject}".lower()
    shown = '[{"name": "age", "show": "mean", "p_percent": 10}]'
    macro = f'_compared_members("aggregated", {k}, {str(has_subject).lower()}, {shown})'
    (project.folder / "models" / f"{name}.sql").write_text(
        f"select 1 as one /* {{{{ dbt_anonymize.{macro} }}}} */"
    )
    outcome = project.dbt("compile", "--select", name)
    assert outcome.succeeded, outcome.messages
    (file,) = (project.folder / "target" / "compiled").rglob(f"{name}.sql")
    return file.read_text("utf-8").partition("/*")[2].removesuffix("*/")


@dataclass
class Company:
    """People with an age who join, leave, and change their age."""

    chance: random.Random
    ages: dict[int, int] = field(default_factory=dict)
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    def live(self) -> None:
        """Let a month pass: mostly few people of a class change, sometimes many."""
        many = self.chance.random() < 0.4
        joiners = self.chance.randint(0, 12 if many else 2)
        low = self.chance.choice((20, 40, 60))
        for _ in range(joiners):
            self.ages[next(self.numbers)] = self.chance.randrange(low, low + 20)
        for key in self.chance.sample(sorted(self.ages), self.chance.randint(0, 2)):
            del self.ages[key]
        if self.chance.random() < 0.3:
            self.ages[self.chance.choice(sorted(self.ages))] = self.chance.randrange(20, 80)

    def classes(self) -> dict[str, list[int]]:
        """Return the people of each class that is released."""
        classes = defaultdict(list)
        for key, age in self.ages.items():
            classes[f"n8:{wages.label('age', age, LEVEL)}"].append(key)
        return {text: keys for text, keys in classes.items() if len(keys) >= wages.K}

    def mean(self, text: str, keys: list[int]) -> Fraction | None:
        """Return the mean of a class, if it may be told."""
        low = int(text[4:6])
        members = [Member(key, Fraction(self.ages[key])) for key in keys]
        told = aggregate(members, "mean", (low, low + 20), (low, low + 19))
        assert not isinstance(told, str)
        return told


@dataclass(frozen=True)
class Shown:
    """A class of a release with a mean."""

    text: str
    ages: dict[int, int]
    mean: Fraction
    is_shown: bool

    @property
    def keys(self) -> set[int]:
        """Keys of the members."""
        return set(self.ages)


def shown_by_month(compared: str, seed: int) -> list[list[Shown]]:
    """Release every month what may be shown; return all classes that have a mean."""
    company = Company(random.Random(seed))
    company.ages |= {next(company.numbers): company.chance.randrange(20, 80) for _ in range(30)}
    months = []
    with duckdb.connect(":memory:") as connection:
        connection.execute(
            "create table aggregated "
            "(release int, record_key text, person text, cqi text, aggregates text)"
        )
        for month in range(MONTHS):
            classes = company.classes()
            means = {text: company.mean(text, keys) for text, keys in classes.items()}
            close, repeated = _compare(connection, compared, classes, means, company.ages)
            months.append(
                [
                    Shown(text, {k: company.ages[k] for k in keys}, mean, text not in close)
                    for text, keys in classes.items()
                    if (mean := means[text]) is not None
                ]
            )
            connection.executemany(
                "insert into aggregated values (?, ?, null, ?, ?)",
                [
                    (month, str(key), shown.text, str(shown.mean))
                    for shown in months[-1]
                    if shown.is_shown and shown.text not in repeated
                    for key in shown.keys
                ]
                or [(-1, "nobody", "none", "none")],
            )
            company.live()
    return months


def _compare(
    connection: duckdb.DuckDBPyConnection,
    compared: str,
    classes: dict[str, list[int]],
    means: dict[str, Fraction | None],
    ages: Mapping[int, int],
) -> tuple[set[str], set[str]]:
    members = [
        (text, str(key), key, ages[key], int(text[4:6]))
        for text, keys in classes.items()
        for key in keys
    ]
    told = [(text, str(mean), str(mean)) for text, mean in means.items() if mean is not None]
    connection.execute(
        "create or replace table m (equivalence_class text, record_key text, holder int, "
        "value_1 int, lower_1 int, upper_1 int, lowest_1 int, highest_1 int)"
    )
    connection.execute(
        "create or replace table t (equivalence_class text, aggregates text, aggregate_1 text)"
    )
    connection.executemany(
        "insert into m values ($1, $2, $3, $4, $5, $5 + 20, $5, $5 + 19)", members
    )
    connection.executemany("insert into t values (?, ?, ?)", told)
    rows = connection.execute(
        f"with members as (from m), told as (from t), {compared} "
        "select equivalence_class, is_close, is_repeated from compared"
    ).fetchall()
    return {t for t, close, _ in rows if close}, {t for t, _, same in rows if same}


def telling(months: list[list[Shown]], *, all_means: bool) -> list[Fraction | int]:
    """Return what any two means and counts tell of fewer than k people, or of one too closely."""
    told: list[Fraction | int] = []
    classes = [shown for month in months for shown in month if all_means or shown.is_shown]
    for one, other in itertools.combinations(classes, 2):
        differing = one.keys ^ other.keys
        if not differing and one.mean != other.mean:
            told.append(0)  # somebody's value changed
        elif differing and not (len(differing) >= wages.K and tells_little(one, other)):
            told.append(one.mean * len(one.keys) - other.mean * len(other.keys))
    return told


def tells_little(one: Shown, other: Shown) -> bool:
    """Tell whether everybody's value stays open by a tenth of the interval, if it is the same."""
    if one.text != other.text:
        return True
    low = int(one.text[4:6])
    joined = [Fraction(other.ages[key]) for key in other.keys - one.keys]
    gone = [Fraction(one.ages[key]) for key in one.keys - other.keys]
    return narrowest(joined, gone, (low, low + 19)) >= 2


@pytest.mark.parametrize("seed", range(8))
def test_no_two_means_of_24_months_tell_who_joined(compared: dict[bool, str], seed: int) -> None:
    months = shown_by_month(compared[False], seed)
    assert telling(months, all_means=True)  # or nothing would be hidden
    assert not telling(months, all_means=False)
    later = [shown.is_shown for month in months[1:] for shown in month]
    assert any(later)
    assert not all(later)


def test_of_subjects_the_larger_of_those_who_joined_and_left_counts(
    compared: dict[bool, str],
) -> None:
    now = {"n8:[20, 40)": [1, 2, 3, 4, 7, 8]}
    means: dict[str, Fraction | None] = {"n8:[20, 40)": Fraction(30)}
    for has_subject, is_close in ((False, False), (True, True)):
        with duckdb.connect(":memory:") as connection:
            connection.execute(
                "create table aggregated as select 1 as release, cast(k as text) as record_key, "
                "cast(k as text) as person, 'n8:[20, 40)' as cqi, '31' as aggregates "
                "from (values (1), (2), (3), (4), (5), (6)) as keys(k)"
            )
            close, _ = _compare(connection, compared[has_subject], now, means, AGES)
            assert bool(close) == is_close


def test_classes_of_other_labels_that_share_k_people_are_close(compared: dict[bool, str]) -> None:
    with duckdb.connect(":memory:") as connection:
        connection.execute(
            "create table aggregated as select 1 as release, cast(k as text) as record_key, "
            "cast(null as text) as person, 'n8:[20, 60)' as cqi, '31' as aggregates "
            "from range(20) as keys(k)"
        )
        classes = {"n8:[20, 40)": [*range(8)], "n8:[40, 60)": [18, 19, *range(30, 40)]}
        means: dict[str, Fraction | None] = dict.fromkeys(classes, Fraction(30))
        close, _ = _compare(connection, compared[False], classes, means, AGES)
        assert close == {"n8:[20, 40)"}


@pytest.mark.parametrize(("joined", "is_close"), [(1, True), (2, True), (3, False)])
def test_two_who_join_where_k_is_two_do_not_learn_of_each_other(
    project: Project, joined: int, is_close: bool
) -> None:
    """Each of the two would subtract the earlier class and herself."""
    with duckdb.connect(":memory:") as connection:
        connection.execute(
            "create table aggregated as select 1 as release, cast(k as text) as record_key, "
            "cast(null as text) as person, 'n8:[20, 40)' as cqi, '31' as aggregates "
            "from range(8) as keys(k)"
        )
        classes = {"n8:[20, 40)": [*range(8 + joined)]}
        means: dict[str, Fraction | None] = dict.fromkeys(classes, Fraction(30))
        close, _ = _compare(connection, _comparison(project, 2, False), classes, means, AGES)
        assert bool(close) == is_close


@pytest.mark.parametrize(
    ("ages", "is_close"),
    [
        ([20, 20, 20], True),
        ([39, 39, 39], True),
        ([20, 20, 39], True),
        ([39, 20, 39], True),
        ([20, 30, 39], False),
        ([22, 22, 22], False),
        ([], True),
    ],
)
def test_who_joined_keeps_the_p_rule(
    compared: dict[bool, str], ages: list[int], is_close: bool
) -> None:
    """Of eight aged 30 and three aged 20 two means tell the age of each of the three."""
    joined = dict(enumerate(ages, start=8))
    if ages:
        assert (narrowest([*map(Fraction, ages)], [], (20, 39)) < 2) == is_close
    gone = 0 if ages else 3
    with duckdb.connect(":memory:") as connection:
        connection.execute(
            "create table aggregated as select 1 as release, cast(k as text) as record_key, "
            "cast(null as text) as person, 'n8:[20, 40)' as cqi, '31' as aggregates "
            f"from range({8 + gone}) as keys(k)"
        )
        classes = {"n8:[20, 40)": [*range(8 + len(ages))]}
        means: dict[str, Fraction | None] = dict.fromkeys(classes, Fraction(30))
        close, _ = _compare(connection, compared[False], classes, means, AGES | joined)
        assert bool(close) == is_close
