"""Aggregates from month to month: however they are combined, they tell nobody's value."""

from __future__ import annotations

import itertools
import random
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import duckdb
import numpy as np
import pytest

from tests.extensions.recoding import wages
from tests.oracle.aggregates import Member, aggregate
from tests.projects import Project, copy_consumer

pytestmark = pytest.mark.sampled_tests(group="builds")

MONTHS = 24
LEVEL = 2
NUMBER = (
    '{"name": "age", "show": "mean", "p_percent": 10, '
    '"hierarchy": ref("customers_hierarchy_birth_date")}'
)
MODE = '{"name": "job", "show": "mode"}'
YOUNG = "n8:[20, 40)"


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Give the compiled comparison with earlier releases, by what is shown."""
    project = copy_consumer(tmp_path_factory.mktemp("compared") / "project")
    return {
        "mean": _comparison(project, "mean", NUMBER, wages.K),
        "mode": _comparison(project, "mode", MODE, wages.K),
        "pairs": _comparison(project, "pairs", NUMBER, 2),
        "people": _comparison(project, "people", NUMBER, wages.K, people=True),
    }


def _comparison(project: Project, name: str, shown: str, k: int, *, people: bool = False) -> str:
    source = '{"source": "source", "column": "name"}' if people else "none"
    macros = (
        f"{{{{ dbt_anonymize._repeated_classes('aggregated') }}}},"
        f"{{{{ dbt_anonymize._open_classes({k}, [{shown}], {source}, 'id', false) }}}}"
    )
    (project.folder / "models" / f"{name}.sql").write_text(f"select 1 as one /* {macros} */")
    outcome = project.dbt("compile", "--select", name)
    assert outcome.succeeded, outcome.messages
    (file,) = (project.folder / "target" / "compiled").rglob(f"{name}.sql")
    sql = file.read_text("utf-8").partition("/*")[2].removesuffix("*/")
    return re.sub(r'[\w."]*customers_hierarchy_birth_date"?', "ages", sql)


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
        for key in self.chance.sample(sorted(self.ages), self.chance.randint(0, 4)):
            self.ages[key] = self.chance.randrange(20, 80)

    def classes(self) -> dict[str, dict[int, int]]:
        """Return the ages of the people of each class that is released."""
        classes: dict[str, dict[int, int]] = defaultdict(dict)
        for key, age in self.ages.items():
            classes[f"n8:{wages.label('age', age, LEVEL)}"][key] = age
        return {text: ages for text, ages in classes.items() if len(ages) >= wages.K}


def mean_of(text: str, ages: Mapping[int, int]) -> Fraction | None:
    """Return the mean of people of a class, if it may be told."""
    low = int(text[4:6])
    members = [Member(key, Fraction(age)) for key, age in ages.items()]
    told = aggregate(members, "mean", (low, low + 20))
    assert not isinstance(told, str)
    return told


class Vault:
    """Releases that are remembered, and the SQL that compares with them."""

    def __init__(self, compared: str, k: int = wages.K) -> None:
        self.compared, self.k, self.release = compared, k, 0
        self.connection = duckdb.connect(":memory:")
        self.connection.execute(
            "create table aggregated "
            "(release int, record_key text, person text, cqi text, aggregates text);"
            "create table ages as select 20 as lower_bound, 80 as upper_bound;"
            "create table source (id text, name text)"
        )

    def remember(self, text: str, keys: list[int], shown: str, people: bool = False) -> None:
        """Add a class to a release of its own."""
        self.release += 1
        self.connection.executemany(
            "insert into aggregated values (?, ?, ?, ?, ?)",
            [[self.release, str(k), f"P{k}" if people else None, text, shown] for k in keys],
        )

    def compare(
        self, classes: Mapping[str, Mapping[int, object]], shown: Mapping[str, str]
    ) -> tuple[set[str], set[str]]:
        """Return the classes that may show what is new, and those that show what they showed."""
        members = [
            (text, str(key), key, value, int(text[4:6]))
            for text, values in classes.items()
            for key, value in values.items()
        ]
        kind = "text" if any(isinstance(value, str) for _, _, _, value, _ in members) else "double"
        self.connection.execute(
            "create or replace table members (equivalence_class text, record_key text, holder int, "
            f"value_1 {kind}, lower_1 double, upper_1 double, label_1 text);"
            "create or replace table told "
            "(equivalence_class text, aggregates text, aggregate_1 text)"
        )
        self.connection.executemany(
            "insert into members values ($1, $2, $3, $4, $5, $5 + 20, '-')", members
        )
        self.connection.executemany(
            "insert into told values (?, ?, ?)", [(t, s, s) for t, s in shown.items()]
        )
        opened, repeated = (
            {
                text
                for (text,) in self.connection.execute(
                    f"with {self.compared} select equivalence_class from {name}"
                ).fetchall()
            }
            for name in ("open_classes", "repeated")
        )
        return opened, repeated


@dataclass(frozen=True)
class Shown:
    """A class of a release with a mean."""

    text: str
    ages: Mapping[int, int]
    mean: Fraction
    is_shown: bool


def shown_by_month(compared: str, seed: int) -> list[list[Shown]]:
    """Release every month what may be shown, by SQL and by sets; return all that have a mean."""
    company = Company(random.Random(seed))
    company.ages |= {next(company.numbers): company.chance.randrange(20, 80) for _ in range(30)}
    vault, months, before = Vault(compared), [], set()
    seen: set[int] = set()
    for _ in range(MONTHS):
        classes = company.classes()
        means = {text: mean_of(text, ages) for text, ages in classes.items()}
        told = {text: str(mean) for text, mean in means.items() if mean is not None}
        opened, repeated = vault.compare(classes, told)
        new = {
            text: {key: age for key, age in classes[text].items() if key not in seen}
            for text in told
        }
        assert opened == {
            t for t, ages in new.items() if len(ages) >= wages.K and mean_of(t, ages) is not None
        }
        assert repeated == {t for t in told if (*classes[t], told[t]) in before}
        months.append(
            [
                Shown(text, classes[text], mean, text in opened | repeated)
                for text, mean in means.items()
                if mean is not None
            ]
        )
        vault.release += 1
        for text in opened - repeated:
            vault.connection.executemany(
                "insert into aggregated values (?, ?, null, ?, ?)",
                [[vault.release, str(key), text, told[text]] for key in classes[text]],
            )
            seen |= {*classes[text]}
            before.add((*classes[text], told[text]))
        company.live()
    return months


def told_exactly(months: list[list[Shown]], *, all_means: bool) -> int:
    """Count the ages that follow from the sums of all classes, by linear algebra."""
    classes = [shown for month in months for shown in month if all_means or shown.is_shown]
    # Whoever changed her age has another one to find out.
    people = sorted({person for shown in classes for person in shown.ages.items()})
    place = {person: number for number, person in enumerate(people)}
    sums = np.zeros((len(classes), len(people)))
    for row, shown in enumerate(classes):
        sums[row, [place[person] for person in shown.ages.items()]] = 1
    known = np.linalg.pinv(sums) @ sums
    return int(np.sum(np.isclose(np.diag(known), 1, atol=1e-6)))


@pytest.mark.parametrize("seed", range(8))
def test_the_means_of_24_months_tell_nobody(compared: dict[str, str], seed: int) -> None:
    months = shown_by_month(compared["mean"], seed)
    assert told_exactly(months, all_means=True)  # or nothing would be hidden
    assert not told_exactly(months, all_means=False)
    later = [shown.is_shown for month in months[1:] for shown in month]
    assert any(later)
    assert not all(later)


@pytest.mark.parametrize(
    ("ages", "is_shown"),
    [
        ([20, 20, 20], False),
        ([39, 39, 39], False),
        ([35, 35, 35], False),
        ([20, 20, 39], False),
        ([39, 20, 39], False),
        ([30, 33], False),
        ([], False),
        ([20, 30, 39], True),
        ([22, 22, 22], True),
    ],
)
def test_those_who_are_new_could_have_a_mean_of_their_own(
    compared: dict[str, str], ages: list[int], is_shown: bool
) -> None:
    """Of eight aged 30 and three aged 20 two means tell the age of each of the three."""
    vault = Vault(compared["mean"])
    vault.remember(YOUNG, [*range(8)], "31")
    members = dict.fromkeys(range(8), 30) | dict(enumerate(ages, start=8))
    assert vault.compare({YOUNG: members}, {YOUNG: "30"}) == ({YOUNG} if is_shown else set(), set())


@pytest.mark.parametrize(
    ("jobs", "is_shown"),
    [
        (["doctor"] * 3, False),
        (["doctor"] * 4 + ["nurse"], False),
        (["doctor"] * 3 + ["nurse"] * 2, True),
        ([], False),
    ],
)
def test_those_who_are_new_could_have_a_mode_of_their_own(
    compared: dict[str, str], jobs: list[str], is_shown: bool
) -> None:
    """Of four nurses and two doctors, and three doctors more, two modes tell what the new do."""
    vault = Vault(compared["mode"])
    vault.remember(YOUNG, [*range(6)], "nurse")
    old = dict(enumerate(["nurse"] * 4 + ["doctor"] * 2))
    opened, _ = vault.compare({YOUNG: old | dict(enumerate(jobs, start=6))}, {YOUNG: "doctor"})
    assert opened == ({YOUNG} if is_shown else set())


def test_people_who_change_class_are_not_new(compared: dict[str, str]) -> None:
    """Two classes that swap people, and one who joins, tell her age together."""
    old = "n8:[40, 60)"
    vault = Vault(compared["mean"])
    vault.remember(YOUNG, [*range(20)], "31")
    vault.remember(old, [*range(20, 40)], "50")
    swapped = {
        YOUNG: dict.fromkeys((*range(4, 20), *range(20, 24), 99), 30),
        old: dict.fromkeys((*range(4), *range(24, 40)), 50),
    }
    opened, _ = vault.compare(swapped, {YOUNG: "30", old: "50"})
    assert not opened


@pytest.mark.parametrize(("joined", "is_shown"), [(1, False), (2, False), (3, True)])
def test_two_who_join_where_k_is_two_do_not_learn_of_each_other(
    compared: dict[str, str], joined: int, is_shown: bool
) -> None:
    """Each of the two would subtract the earlier class and herself."""
    vault = Vault(compared["pairs"])
    vault.remember(YOUNG, [*range(8)], "31")
    opened, _ = vault.compare({YOUNG: dict.fromkeys(range(8 + joined), 33)}, {YOUNG: "30"})
    assert bool(opened) == is_shown


def test_people_are_known_by_name_where_keys_are_drawn_anew(compared: dict[str, str]) -> None:
    vault = Vault(compared["people"])
    vault.remember(YOUNG, [*range(8)], "31", people=True)
    # The records 100, 101, ... are of the same people, and of one who is new.
    vault.connection.execute(
        "insert into source select cast(100 + n as text), concat('P', n) from range(9) as p(n)"
    )
    again = {YOUNG: dict.fromkeys(range(100, 109), 30)}
    assert vault.compare(again, {YOUNG: "30"}) == (set(), set())


def test_the_same_records_with_the_same_aggregate_show_it_again(compared: dict[str, str]) -> None:
    vault = Vault(compared["mean"])
    vault.remember(YOUNG, [*range(8)], "30")
    for keys, shown, is_repeated in (
        (range(8), "30", True),
        (range(8), "31", False),
        (range(9), "30", False),  # a further record may leave the mean as it was
        (range(7), "30", False),
    ):
        _, repeated = vault.compare({YOUNG: dict.fromkeys(keys, 30)}, {YOUNG: shown})
        assert bool(repeated) == is_repeated
