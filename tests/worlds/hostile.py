"""One small table about people under plain and under hostile names and values.

Both worlds are the same but for what things are called. Texts of a kind are replaced in their
order, so that whatever depends on the order of values is the same too.
"""

from __future__ import annotations

import csv
import datetime
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import yaml

from dbt_anonymize.project.generate import generate
from tests.extensions import has, with_known_keys
from tests.projects import REPOSITORY, Project
from tests.worlds import specs

NAME = "people"
IDENTIFIERS = ("full_name", "phone")
COLUMNS = (
    "person_number",
    *IDENTIFIERS,
    "age",
    "birth_day",
    "city",
    "job",
    "illness",
    "blood",
    "income",
    "remark",
    "outcome",
)
_RECORDS = 90
_CITIES = [f"city {letter}" for letter in "abcdefgh"]
_JOBS = [f"job {letter}" for letter in "abcd"]
_ILLNESSES = [f"illness {letter}" for letter in "abcd"]
_OUTCOMES = ["bad", "good", "middling"]
_REMARKS = ["remark a", "remark b", "remark c"]
# Texts of one kind by the name of the kind, sorted.
DOMAINS: dict[str, list[str]] = {
    "key": [f"key {number:03}" for number in range(_RECORDS)],
    "person": [f"person {number:03}" for number in range(_RECORDS)],
    "city": _CITIES,
    "city 1": ["region a", "region b", "region c", "region d"],
    "city 2": ["land a", "land b"],
    "job": _JOBS,
    "job 1": ["kind a", "kind b"],
    "illness": _ILLNESSES,
    "illness 1": ["sort a", "sort b"],
    "age 1": [f"[{low}, {low + 10})" for low in range(0, 80, 10)],
    "age 2": [f"[{low}, {low + 20})" for low in range(0, 80, 20)],
    "day 1": ["1950s", "1960s", "1970s", "1980s"],
    "day 2": ["early", "late"],
    "remark": _REMARKS,
    "outcome": _OUTCOMES,
}


@dataclass(frozen=True, repr=False)
class Naming:
    """Names of columns, texts and prose; plain by default."""

    columns: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    extra: Sequence[str] = field(default=())
    prose: str = "A table."
    purpose: str = "a purpose"
    release_folder: str = "release"

    def __repr__(self) -> str:
        """Return what the columns are called; texts are too many to be shown."""
        return f"<columns {dict(self.columns)}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    def column(self, plain: str) -> str:
        """Return the name of a column, or of one derived from it."""
        base = max((c for c in COLUMNS if plain.startswith(c)), key=len, default=None)
        if base is None or base not in self.columns:
            return plain
        return self.columns[base] + plain[len(base) :]

    def text(self, kind: str, plain: str) -> str:
        """Return what stands for a plain text of a kind."""
        if kind not in self.texts:
            return plain
        return self.texts[kind][DOMAINS[kind].index(plain)]

    def knows(self, kind: str, plain: str) -> bool:
        """Tell whether a text is one of a kind."""
        return plain in DOMAINS.get(kind, ())


def write(folder: Path, naming: Naming) -> Project:
    """Write a project with its source in the vault, its seeds, its spec and its models."""
    for place in ("vault", "warehouse", "seeds", "anonymizations", "models"):
        (folder / place).mkdir(parents=True)
    _write_settings(folder, naming)
    _write_source(folder, naming)
    _write_hierarchies(folder, naming)
    spec = yaml.safe_dump(spec_of(naming), sort_keys=False, allow_unicode=True)
    (folder / "anonymizations" / f"{NAME}.yml").write_text(spec, encoding="utf-8")
    generate(folder)
    project = Project(folder, "warehouse/w.duckdb")
    outcome = project.dbt("deps")
    assert outcome.succeeded, outcome.messages
    return project


def _roles(naming: Naming) -> dict[str, dict[str, Any]]:
    name = naming.column
    illness = specs.categories("tree_illness", 2)["hierarchy"]
    # A hostile value may be as long as free text.
    read = {"free_text": "accepted"}
    return {
        **{name(column): specs.IDENTIFIER for column in IDENTIFIERS},
        name("age"): specs.intervals("tree_age", 3),
        name("birth_day"): specs.intervals("tree_day", 3),
        name("city"): specs.categories("tree_city", 3),
        name("job"): specs.categories("tree_job", 2),
        name("illness"): {**specs.SENSITIVE, "hierarchy": illness, **read},
        name("blood"): {**specs.SENSITIVE, **read},
        name("income"): specs.INSENSITIVE,
        **{name(column): {**specs.INSENSITIVE, **read} for column in ("remark", "outcome")},
        **dict.fromkeys(naming.extra, specs.INSENSITIVE),
    }


def spec_of(naming: Naming) -> dict[str, Any]:
    """Return the spec of the table."""
    name, text = naming.column, naming.text

    def levels(*numbers: int) -> dict[str, int]:
        names = map(name, ("age", "birth_day", "city", "job"))
        return dict(zip(names, numbers, strict=True))

    return specs.spec_of(
        NAME,
        _roles(naming),
        description=naming.prose,
        source={"source": ["registry", NAME]},
        record_key=name("person_number"),
        subject=name("full_name"),
        population={"ref": "everybody", "size": 100000},
        target=name("outcome"),
        features=[name(c) for c in ("age", "birth_day", "city", "job", "income", "remark")],
        efforts=with_known_keys(
            [
                levels(2, 2, 2, 1),
                levels(2, 3, 2, 2),
                {"recoding": "local", "rounds": [levels(1, 2, 1, 1), levels(2, 3, 3, 2)]},
                {"recoding": "multidimensional"},
            ]
        ),
        guarantees={
            "k_anonymity": {"k": 2},
            "l_diversity": {"attribute": name("illness"), "l": 2},
            "t_closeness": {
                "attribute": name("illness"),
                "t": 0.95,
                "distance": "hierarchical",
            },
            "n_t_closeness": {"attribute": name("illness"), "n": 20, "t": 0.95},
            "alpha_k_anonymity": {
                "attribute": name("illness"),
                "alpha": 0.9,
                "k": 2,
                "values": [text("illness", "illness a"), text("illness", "illness c")],
            },
        },
        suppression_limit=0.9,
        quality={
            "model": "decision_tree",
            "parameters": {"max_depth": 4},
            "measure": "roc_auc",
            "positive": text("outcome", "bad"),
            "random_state": 3,
        },
        qnf="1 - 1/k",
        **(_relinking(naming.purpose) if has("custody") else {}),
    )


def _relinking(purpose: str) -> dict[str, Any]:
    return {"relinking": {"purposes": [purpose], "highest_information_loss": 0.9}}


def quoted(text: str, mark: str = '"') -> str:
    """Return a text in quotes, by other code than that under test."""
    return mark + (2 * mark).join(text.split(mark)) + mark


def _write_settings(folder: Path, naming: Naming) -> None:
    vault = [{"path": "vault/vault.duckdb", "alias": "vault"}]
    target = {"type": "duckdb", "path": "warehouse/w.duckdb", "threads": 2, "attach": vault}
    files: dict[str, Any] = {
        "dbt_project.yml": {
            "name": "registry",
            "version": "1.0",
            "profile": "registry",
            "flags": {"send_anonymous_usage_stats": False},
            "vars": {"dbt_anonymize_release_folder": naming.release_folder},
        },
        "profiles.yml": {"registry": {"target": "dev", "outputs": {"dev": target}}},
        "packages.yml": {"packages": [{"local": str(REPOSITORY)}]},
        "models/sources.yml": {
            "sources": [
                {
                    "name": "registry",
                    "database": "vault",
                    "schema": "main",
                    "tables": [{"name": NAME}],
                }
            ]
        },
        "seeds/seeds.yml": {
            "seeds": [
                {"name": f"tree_{seed}", "config": {"column_types": types}}
                for seed, types in _seed_types().items()
            ]
        },
    }
    for path, content in files.items():
        (folder / path).write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    everybody = "select * from {{ source('registry', 'people') }}"
    (folder / "models" / "everybody.sql").write_text(
        f"{everybody}\nunion all\n{everybody}\n", encoding="utf-8"
    )


def _trees() -> dict[str, tuple[str, list[tuple[str, ...]]]]:
    """Return the rows of each hierarchy in plain texts, by seed; the kind of its labels first."""
    cities = [
        (city, f"region {'abcd'[n // 2]}", f"land {'ab'[n // 4]}", "*")
        for n, city in enumerate(_CITIES)
    ]
    jobs = [(job, f"kind {'ab'[n // 2]}", "*") for n, job in enumerate(_JOBS)]
    illnesses = [(one, f"sort {'ab'[n // 2]}", "*") for n, one in enumerate(_ILLNESSES)]
    ages = [
        (str(low), str(low + 10), DOMAINS["age 1"][low // 10], DOMAINS["age 2"][low // 20], "*")
        for low in range(0, 80, 10)
    ]
    days = [
        (f"{year}-01-01", f"{year + 10}-01-01", f"{year}s", "early" if year < 1970 else "late", "*")
        for year in range(1950, 1990, 10)
    ]
    return {
        "age": ("age", ages),
        "day": ("day", days),
        "city": ("city", cities),
        "job": ("job", jobs),
        "illness": ("illness", illnesses),
    }


def _header(seed: str, width: int) -> list[str]:
    leaf = ["lower_bound", "upper_bound"] if seed in {"age", "day"} else ["value"]
    return leaf + [f"level_{n}" for n in range(1, width - len(leaf) + 1)]


def _seed_types() -> dict[str, dict[str, str]]:
    return {
        seed: {name: "text" for name in _header(seed, len(rows[0])) if not name.endswith("_bound")}
        for seed, (_, rows) in _trees().items()
    }


def _write_hierarchies(folder: Path, naming: Naming) -> None:
    for seed, (kind, rows) in _trees().items():
        header = _header(seed, len(rows[0]))
        with (folder / "seeds" / f"tree_{seed}.csv").open("w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
            writer.writerow(header)
            for row in rows:
                writer.writerow(
                    _cell(naming, kind, name, cell) for name, cell in zip(header, row, strict=True)
                )


def _cell(naming: Naming, kind: str, column: str, cell: str) -> str:
    if column.endswith("_bound") or cell == "*":
        return cell
    return naming.text(kind if column == "value" else f"{kind} {column[-1]}", cell)


def records() -> list[dict[str, Any]]:
    """Return the people in plain texts."""
    chance = random.Random(11)
    people = []
    for number in range(_RECORDS):
        age = chance.randrange(80)
        city = chance.choice(_CITIES)
        score = (age / 80 + _CITIES.index(city) / 8) * 1.5 + chance.random() / 4
        people.append(
            {
                "person_number": DOMAINS["key"][number],
                "full_name": DOMAINS["person"][number - number % 10 // 9],
                "phone": f"+{number:09}",
                "age": None if chance.random() < 0.03 else age,
                "birth_day": datetime.date(1950 + chance.randrange(40), 5, 1 + number % 28),
                "city": None if chance.random() < 0.03 else city,
                "job": chance.choice(_JOBS),
                "illness": chance.choice(_ILLNESSES),
                "blood": chance.choice(["0", "A"]),
                "income": round(chance.uniform(1, 9), 2),
                "remark": chance.choice(_REMARKS),
                "outcome": _OUTCOMES[min(int(score), 2)],
            }
        )
    return people


KINDS = {
    "person_number": "key",
    "full_name": "person",
    "city": "city",
    "job": "job",
    "illness": "illness",
    "remark": "remark",
    "outcome": "outcome",
}
_TYPES = {"age": "integer", "birth_day": "date", "income": "double"}


def _write_source(folder: Path, naming: Naming) -> None:
    rows = records()
    columns = [
        f"unnest(cast(? as {_TYPES.get(column, 'varchar')}[])) as {quoted(naming.column(column))}"
        for column in COLUMNS
    ]
    columns += [f"{number} as {quoted(name)}" for number, name in enumerate(naming.extra)]
    values = [
        [
            row[column]
            if row[column] is None or column not in KINDS
            else naming.text(KINDS[column], row[column])
            for row in rows
        ]
        for column in COLUMNS
    ]
    with duckdb.connect(str(folder / "vault" / "vault.duckdb")) as connection:
        connection.execute(f"create table {NAME} as select {', '.join(columns)}", values)
