"""Masks, populations and fidelity find on Spark what they find on DuckDB, or say why not."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt_anonymize.project.generate import generate
from tests.commands.conftest import command
from tests.engines.compared import assert_same
from tests.engines.matrix import check_ran
from tests.extensions.spark.session import on_spark, query
from tests.projects import Project, copy_consumer

pytestmark = pytest.mark.slow

SCHEMA = "masked"
UNITS = ("year", "quarter", "month", "week", "day", "hour")
MASKS: dict[str, dict[str, Any]] = {
    "e-mail": {"email": "domain"},
    "full name": {"constant": "somebody"},
    "order": {"bottom": 3},
    "größe": {"round": 5},
    "spending": {"round": 10, "top": 105.5},
    "balance": {"round": 0.1},
    "phone": {"phone": 2},
    "joined": {"truncate": "month"},
    **{f"seen_{unit}": {"truncate": unit} for unit in UNITS},
}
ZONED = "zoned"
RELATIONS = (
    *("population", "microdata", "classes", "effort_0", "effort_1", "effort_3", "privacy"),
    *("information_loss", "risk_profile", "fidelity"),
)
# Everybody of the shop, most of them twice and some five times; and who buys elsewhere.
REGISTRY = """
select birth_date, zip, gender from {{ ref('customers') }}
{% for rest in [0, 1, 2] %}
union all
select birth_date, zip, gender from {{ ref('customers') }} where mod(customer_id, 4) > {{ rest }}
{% endfor %}
union all
select birth_date, zip, 'diverse' as gender from {{ ref('customers') }}
"""
# k-map without a table of the population.
ESTIMATED = ("classes", "privacy")


def with_masks(project: Project) -> None:
    """Declare them, and a second anonymization, whose population has a size only."""
    _add_columns(project.folder / "seeds" / "customers.csv")
    project.edit(
        "seeds/_seeds.yml",
        lambda text: text.replace("{zip: text}", f"{{zip: text, {', '.join(_types())}}}"),
    )
    (project.folder / "models" / "registry.sql").write_text(REGISTRY, encoding="utf-8")
    path = project.folder / "anonymizations" / "customers.yml"
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    for name, mask in MASKS.items():
        role = "masked" if name in {"e-mail", "full name", "phone"} else "insensitive"
        spec["columns"][name] = {"role": role, "mask": mask}
    spec["columns"][ZONED] = {"role": "dropped"}
    spec["features"] = ["birth_date", "zip", "gender", "spending", "joined"]
    spec["quality"] |= {"repetitions": 2}
    estimated = spec | {
        "name": "estimated",
        "population": {"size": 5000},
        "guarantees": {
            "k_anonymity": {"k": 2},
            "k_map": {"k": 40, "estimator": "zero_truncated_poisson", "significance": 0.01},
        },
    }
    spec |= {
        "population": {"ref": "registry", "size": 5000},
        "guarantees": {
            "k_anonymity": {"k": 3},
            "k_map": {"k": 11},
            "delta_presence": {"minimum": 0.05, "maximum": 0.45},
        },
        "fidelity": {},
    }
    for changed in (spec, estimated):
        text = yaml.safe_dump(changed, sort_keys=False, allow_unicode=True)
        path.with_stem(changed["name"]).write_text(text, encoding="utf-8")
    generate(project.folder)


def _types() -> list[str]:
    choice = "\"{{{{ '{}' if target.type == 'spark' else '{}' }}}}\""
    plain, zoned = (
        choice.format("timestamp_ntz", "timestamp"),
        choice.format("timestamp", "timestamptz"),
    )
    moments = [f"seen_{unit}: {plain}" for unit in UNITS]
    return ["balance: double", "phone: text", "joined: date", *moments, f"{ZONED}: {zoned}"]


def _add_columns(file: Path) -> None:
    """Give everybody what the masks are of; some have nothing."""
    with file.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    balances = ("1e30", "-0.04", "-0.05", "12.34", "0.25", "9007199254740993.5")
    phones = ("+49 351 555 0147", "0351/5550199", "911", "none")
    for number, row in enumerate(rows):
        moment = datetime(2023, 3, 20, 2, 30) + timedelta(minutes=437 * number)
        added = {
            "balance": balances[number % len(balances)],
            "phone": phones[number % len(phones)],
            "joined": moment.date().isoformat(),
            **dict.fromkeys([*(f"seen_{unit}" for unit in UNITS), ZONED], moment.isoformat(" ")),
        }
        row.update(dict.fromkeys(added, "") if number % 7 == 0 else added)
        if number % 5 == 0:
            row.update({"e-mail": "nobody at home", "größe": "", "order": ""})
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


@dataclass(frozen=True)
class Built:
    """The project on both."""

    on_spark: Project
    on_duckdb: Project


@pytest.fixture(scope="module")
def built(spark: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build them on both; on Spark in a schema of their own."""
    folder = tmp_path_factory.mktemp("masks")
    there = copy_consumer(folder / "duckdb")
    (there.folder / "models" / "unit_tests.yml").unlink()
    with_masks(there)
    there.build("--exclude", "resource_type:test", "estimated_evaluation+")
    here = on_spark(there, folder / "spark", spark, schema=SCHEMA)
    result = command(here, "build", "customers")
    assert result.exit_code == 0, result.output
    parts = ("microdata", "frequencies", *ESTIMATED)
    here.build("-s", *(f"estimated_{name}" for name in parts), "--exclude", "resource_type:test")
    return Built(here, there)


@pytest.mark.parametrize("name", RELATIONS)
def test_a_relation_is_that_of_duckdb(built: Built, name: str) -> None:
    there = built.on_duckdb.query(f"select * from customers_{name}")
    here = query(f"select * from {SCHEMA}.customers_{name}")
    # Cramer's V is the root of a sum that is zero but for rounding where nothing correlates.
    assert_same(here, there, name, tolerance=1e-7 if name == "fidelity" else 1e-9)


@pytest.mark.parametrize("name", ESTIMATED)
def test_an_estimated_population_is_that_of_duckdb(built: Built, name: str) -> None:
    there = built.on_duckdb.query(f"select * from estimated_{name}")
    assert_same(query(f"select * from {SCHEMA}.estimated_{name}"), there, name)


def test_every_guarantee_about_the_population_is_broken_somewhere(built: Built) -> None:
    """Else equal results would say little."""
    broken = " ".join(
        text or ""
        for (text,) in built.on_duckdb.query("select broken_guarantees from customers_privacy")
    )
    assert "k_map" in broken
    assert "delta_presence" in broken
    uniqueness = built.on_duckdb.query("select population_uniqueness from estimated_privacy")
    assert any(0 < value < 1 for (value,) in uniqueness)


def test_the_release_is_that_of_duckdb(built: Built) -> None:
    here = query(f"select * from {SCHEMA}_release.customers_anonymized")
    assert_same(here, built.on_duckdb.release("customers"), "anonymized")


def test_verify_computes_masks_and_populations_again(built: Built) -> None:
    checks = ("--check", "recomputation", "--check", "guarantees")
    result = command(built.on_spark, "verify", "customers", *checks)
    assert result.exit_code == 0, result.output
    assert re.search(r"guarantees +3 warnings, 3 hold", result.output)


REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "keyed_hash and shift_days need DuckDB; spark by itself computes no HMAC-SHA256": (
        "order",
        {"keyed_hash": True},
    ),
    f"the mask truncate of {ZONED} needs a date, or a timestamp without time zone; got": (
        ZONED,
        {"truncate": "day"},
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_a_mask_that_spark_cannot_compute_is_refused(
    built: Built, tmp_path: Path, reason: str
) -> None:
    project = built.on_spark.copy(tmp_path / "refused")
    column, mask = REFUSED[reason]
    path = project.folder / "anonymizations" / "estimated.yml"
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    spec["columns"][column] = {"role": "insensitive", "mask": mask}
    spec["features"] = ["birth_date", "zip", "gender"]
    path.write_text(yaml.safe_dump(spec, allow_unicode=True), encoding="utf-8")
    generate(project.folder)
    outcome = project.dbt("run", "-s", "estimated_microdata")
    assert not outcome.succeeded
    assert reason in outcome.messages


def test_the_matrix_says_what_was_compared(built: Built) -> None:
    from pyspark import __version__

    what = "relations of masks, populations and fidelity"
    compared = len(RELATIONS) + len(ESTIMATED) + len(("anonymized",))
    check_ran("Spark", __version__, "dbt-spark", what, compared)
