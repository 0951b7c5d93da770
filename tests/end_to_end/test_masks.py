"""Masks, dropped columns and cell suppression, from spec to release, in the stranger's project."""

from __future__ import annotations

import csv
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from dbt_anonymize.project.generate import generate
from dbt_anonymize.verify.checks import check_names
from tests.end_to_end.test_verify import findings, verify
from tests.extensions import has, with_known_keys
from tests.oracle.masks import keyed_hash, masked, shifted
from tests.projects import Project, copy_consumer

pytestmark = pytest.mark.sampled_tests(group="builds")

MASKS: dict[str, dict[str, Any]] = {
    "e-mail": {"email": "domain"},
    "größe": {"round": 5},
    "spending": {"round": 10, "top": 105.5},
    "full name": {"keyed_hash": True},
    "joined": {"shift_days": 30},
}

CELLS: dict[str, Any] = {
    "recoding": "cell_suppression",
    "levels": {"birth_date": 2, "zip": 1, "gender": 0},
    "importance": {"birth_date": 2},
}
# The last one is released.
EFFORTS = range(1, 5 if has("recoding") else 4)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the project, built with masks."""
    project = copy_consumer(tmp_path_factory.mktemp("masks") / "project")
    seed = project.folder / "seeds" / "customers.csv"
    header, *rows = seed.read_text(encoding="utf-8").splitlines()
    days = [date(2020, 2, 1) + timedelta(days=40 * (number % 50)) for number in range(len(rows))]
    joined = [f"{row},{day}" for row, day in zip(rows, days, strict=True)]
    seed.write_text("\n".join([f"{header},joined", *joined, ""]), encoding="utf-8")
    file = project.folder / "anonymizations" / "customers.yml"
    spec = yaml.safe_load(file.read_text(encoding="utf-8"))
    spec["columns"]["order"] = {"role": "dropped"}
    for name, mask in MASKS.items():
        role = "masked" if name in {"e-mail", "full name"} else "insensitive"
        spec["columns"][name] = {"role": role, "mask": mask}
    spec["features"] = ["birth_date", "zip", "gender", "spending", "joined"]
    spec["efforts"] += with_known_keys([CELLS])
    spec["release"] = {"effort": EFFORTS[-1], "recompute": True}
    file.write_text(yaml.safe_dump(spec, allow_unicode=True), encoding="utf-8")
    generate(project.folder)
    # Its unit tests give the columns of the spec as it was.
    project.build("--exclude-resource-type", "unit_test")
    return project


@pytest.fixture(scope="module")
def source(shop: Project) -> dict[int, dict[str, str]]:
    """Give the records of the source by key."""
    with (shop.folder / "seeds" / "customers.csv").open(encoding="utf-8") as file:
        return {int(row["customer_id"]): row for row in csv.DictReader(file)}


def expected(row: dict[str, str], keys: dict[str, str]) -> tuple[Any, ...]:
    """Return what is released of the masked columns."""
    values = (row["e-mail"], int(row["größe"]), float(row["spending"]))
    joined = date.fromisoformat(row["joined"])
    return (
        *(masked(v, MASKS[name]) for v, name in zip(values, MASKS, strict=False)),
        keyed_hash(keys["hash full name"], row["full name"]),
        shifted(joined, keys["shift"], row["customer_id"], 30),
    )


def test_what_is_released_is_masked(shop: Project, source: dict[int, dict[str, str]]) -> None:
    keys = dict(shop.query("select person, token from vault.customers_mask_keys"))
    assert sorted(keys) == ["hash full name", "shift"]
    columns = 'select customer_id, "e-mail", "größe", spending, "full name", joined from main.'
    for effort in EFFORTS:
        for key, *values in shop.query(f"{columns}customers_effort_{effort}"):
            assert tuple(values) == expected(source[key], keys)
    (released,) = shop.query("select list(spending) from release_customers.customers_anonymized")
    assert max(released[0]) == 110


def test_the_baseline_is_untouched_and_knows_no_identifier(
    shop: Project, source: dict[int, dict[str, str]]
) -> None:
    columns = 'select customer_id, "e-mail", "größe", spending from main.customers_effort_0'
    for key, mail, size, spending in shop.query(columns):
        row = source[key]
        assert mail == "***@example.org"
        assert (size, spending) == (int(row["größe"]), float(row["spending"]))


def test_a_dropped_column_is_nowhere_and_a_masked_identifier_in_the_vault(
    shop: Project, source: dict[int, dict[str, str]]
) -> None:
    """Seeds are the shop's own tables."""
    found = shop.query(
        "select column_name from duckdb_columns() where table_name <> 'customers' and not internal"
    )
    assert "order" not in {name for (name,) in found}
    for key, mail in shop.query('select customer_id, "e-mail" from vault.customers_identifiers'):
        assert mail == source[key]["e-mail"]


def test_models_learn_from_masks_and_are_tested_on_values(shop: Project) -> None:
    text = (shop.folder / "models/customers/customers_evaluation.py").read_text(encoding="utf-8")
    assert '"kind": "masked"' in text or "'kind': 'masked'" in text
    scored = shop.query(
        "select effort, count(*) from main.customers_scores"
        " where test_on = 'original' and measure = 'f1' group by effort order by effort"
    )
    assert [effort for effort, _ in scored] == [0, *EFFORTS]


def test_every_promise_holds_and_a_raw_value_is_found(shop: Project, tmp_path: Path) -> None:
    checks = {"provenance", "content", "recomputation", "guarantees"} & {*check_names()}
    chosen = [argument for check in checks for argument in ("--check", check)]
    result = verify(shop, "customers", *chosen, "--format", "json")
    # The shop seeds its customers into the warehouse, where analysts read.
    in_seed = {"main.customers.e-mail", "main.customers.full name", "warehouse/shop.duckdb"}
    found = {f["subject"] for f in findings(result) if f["holds"] is False}
    assert found == (in_seed if "content" in checks else set())
    changed = shop.copy(tmp_path / "changed")
    with duckdb.connect(str(changed.release_file("customers"))) as connection:
        connection.execute("update customers_anonymized set spending = 101 where spending = 100")
    result = verify(changed, "customers", "--check", "recomputation", "--format", "json")
    failed = {f["subject"] for f in findings(result) if f["holds"] is False}
    assert failed == {"release file, customers_anonymized"}


@pytest.mark.needs("recoding")
def test_a_suppressed_cell_is_a_star_and_a_value_of_its_own(shop: Project) -> None:
    labels = "birth_date, zip, gender"
    shown = shop.query(f"select {labels} from release_customers.customers_anonymized")
    stars = [row.count("*") for row in shown]
    assert 0 < sum(map(bool, stars)) < len(stars)
    assert min(Counter(shown).values()) >= 4
    of_whole = shop.query(
        "select distinct zip_level, birth_date_lower from main.customers_effort_4"
        " where zip = '*' and birth_date = '*'"
    )
    assert {level for level, _ in of_whole} <= {3}


def test_free_text_stops_the_build_and_shows_no_value(
    shop: Project, tmp_path: Path, source: dict[int, dict[str, str]]
) -> None:
    project = shop.copy(tmp_path / "prose")
    file = project.folder / "anonymizations" / "customers.yml"
    spec = yaml.safe_load(file.read_text(encoding="utf-8"))
    spec["columns"]["full name"] = {"role": "insensitive"}
    file.write_text(yaml.safe_dump(spec, allow_unicode=True), encoding="utf-8")
    generate(project.folder)
    outcome = project.dbt("run", "--select", "customers_microdata")
    assert not outcome.succeeded
    assert "the column full name would be released as it is and looks like" in outcome.messages
    assert not [row for row in source.values() if row["full name"] in outcome.messages]
