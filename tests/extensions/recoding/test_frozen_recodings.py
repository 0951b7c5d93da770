"""Frozen recodings month after month: everybody keeps her labels, and new records wait."""

from __future__ import annotations

import csv
import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from dbt_anonymize.project.generate import check, generate
from tests.projects import Project, copy_consumer
from tests.second_month.customers import run

pytestmark = [pytest.mark.sampled_tests(group="builds"), pytest.mark.needs("second_month")]

K = 4
SEED = "seeds/customers.csv"
EFFORTS: dict[str, Any] = {
    "rounds": {
        "recoding": "local",
        "rounds": [
            {"birth_date": 1, "zip": 0, "gender": 0},
            {"birth_date": 2, "zip": 1, "gender": 0},
            {"birth_date": 3, "zip": 2, "gender": 1},
        ],
    },
    "boxes": {"recoding": "multidimensional"},
    "cells": {
        "recoding": "cell_suppression",
        "levels": {"birth_date": 2, "zip": 1, "gender": 0},
    },
    "clusters": {"recoding": "clustering", "cluster_size": 8},
    "means": {"recoding": "microaggregation", "method": "mondrian"},
}
FROZEN = ("rounds", "boxes", "cells")
LABELS = ("birth_date", "zip", "gender")


@pytest.fixture(scope="module")
def recoded(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the stranger's project with an anonymization per recoding, built once."""
    project = copy_consumer(tmp_path_factory.mktemp("recoded") / "project")
    folder = project.folder
    (folder / "models" / "unit_tests.yml").unlink()
    file = folder / "anonymizations" / "customers.yml"
    spec = yaml.safe_load(file.read_text("utf-8"))
    file.unlink()
    for name, effort in EFFORTS.items():
        own = spec | {"name": name, "efforts": [effort]}
        own["quality"] = spec["quality"] | {"repetitions": 2}
        # The second month brings records that fit in no class, more than the first suppresses.
        own["suppression_limit"] = 0.2
        text = yaml.safe_dump(own, sort_keys=False, allow_unicode=True)
        file.with_name(f"{name}.yml").write_text(text, encoding="utf-8")
    generate(folder)
    project.build()
    return project


def labelled(project: Project, name: str) -> dict[int, tuple[Any, ...]]:
    """Return labels and bounds of every record that is not suppressed."""
    rows = project.query(
        "select customer_id, birth_date, birth_date_lower, birth_date_upper, zip, gender "
        f"from {name}_effort_1 where not is_suppressed"
    )
    return {row[0]: row[1:] for row in rows}


def published(project: Project, name: str) -> Counter[tuple[Any, ...]]:
    """Return the labels and kept values of the release file."""
    with duckdb.connect(str(project.release_file(name)), read_only=True) as file:
        columns = "birth_date, zip, gender, * exclude (birth_date, zip, gender, cqi)"
        return Counter(file.execute(f"select {columns} from {name}_anonymized").fetchall())


def smallest_difference(months: list[Counter[tuple[Any, ...]]]) -> int:
    """Return the fewest rows of a class that one release has and another has not."""
    sizes = []
    for one, other in itertools.permutations(months, 2):
        of_class = Counter[tuple[Any, ...]]()
        for row, count in (one - other).items():
            of_class[row[: len(LABELS)]] += count
        sizes += of_class.values()
    assert sizes
    return min(sizes)


def live_a_month(project: Project, month: int) -> None:
    """Let records join known classes, in groups and alone, and others that fit nowhere; some go."""
    path = project.folder / SEED
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    new = itertools.count(10_000 * month)
    joined = []
    for place, like in enumerate(rows[:60:3]):
        for _ in range(K if place % 2 else 1):
            key = str(next(new))
            joined.append(like | {"customer_id": key, "spending": f"{key}.5"})
    for place, like in enumerate(rows[5:45]):
        key = str(next(new))
        other = rows[(37 * place + 11 * month) % len(rows)]
        mixed = like | {"customer_id": key, "zip": other["zip"], "spending": f"{key}.5"}
        joined.append(mixed | ({"gender": ""} if place % 10 == month else {}))
    del rows[100 + month : 140 + month : 2]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows([*rows, *joined])


def remove(project: Project, name: str) -> None:
    """Take an anonymization and its release away."""
    file = project.release_file(name)
    assert run(project, "remove", name, "--yes").exit_code == 0
    file.unlink()


def test_three_months_of_frozen_recodings(recoded: Project, tmp_path: Path) -> None:
    project = recoded.copy(tmp_path / "project")
    labels = {name: labelled(project, name) for name in FROZEN}
    months = {name: [published(project, name)] for name in FROZEN}
    for name in FROZEN:
        result = run(project, "freeze", name)
        assert result.exit_code == 0, result.output
    for name, reason in {
        "clusters": "no order of them gives every record its own",
        "means": "must not release means or modes",
    }.items():
        result = run(project, "freeze", name)
        assert result.exit_code == 2
        assert reason in " ".join(result.output.split())
        remove(project, name)
    assert check(project.folder) == []
    for month in (1, 2):
        live_a_month(project, month)
        project.build()
        for name in FROZEN:
            months[name].append(published(project, name))
    for name in FROZEN:
        now = labelled(project, name)
        stayed = labels[name].keys() & now.keys()
        assert len(stayed) > 300
        assert {key: now[key] for key in stayed} == {key: labels[name][key] for key in stayed}
        assert len(now.keys() - stayed) > 50, "new records are released with coarser labels too"
        assert smallest_difference(months[name]) >= K
        assert min(Counter(row[:3] for row in months[name][-1].elements()).values()) >= K
        checks = ["--check", "recomputation", "--check", "guarantees", "--check", "attacks"]
        result = run(project, "verify", name, *checks)
        assert result.exit_code == 0, result.output
    assert_tampering_is_found(project)


def assert_tampering_is_found(project: Project) -> None:
    """Change a label, the loaded seed, and a hierarchy: `verify` or the build says so."""
    # `verify` finds a label that the seed does not give, though it is true of the record.
    project.execute(
        "create table saved as from boxes_recoding_1; update boxes_recoding_1 as changed "
        "set birth_date = birth_date_, birth_date_lower = lower_, birth_date_upper = upper_, "
        "birth_date_level = level_, zip = '*', zip_level = 3, gender = '*', gender_level = 1 "
        "from (select own.customer_id, wide.birth_date as birth_date_, wide.birth_date_lower as "
        "lower_, wide.birth_date_upper as upper_, wide.birth_date_level as level_ from saved own "
        "inner join saved as wide on wide.zip = '*' and wide.gender = '*' and own.zip <> '*' "
        "and own.birth_date_lower >= wide.birth_date_lower "
        "and own.birth_date_upper <= wide.birth_date_upper order by all limit 1) as other "
        "where changed.customer_id = other.customer_id"
    )
    result = run(project, "verify", "boxes", "--check", "recomputation")
    assert result.exit_code == 1
    assert "boxes_effort_1: must have exactly the rows" in result.output
    project.execute("create or replace table boxes_recoding_1 as from saved; drop table saved")

    # A seed that is not the committed one, and a hierarchy that gives a leaf another parent.
    project.execute("update boxes_frozen_labels set label = '*' where class_number = 1")
    result = run(project, "verify", "boxes", "--check", "recomputation")
    assert "boxes_frozen_labels the table must be that of its file" in " ".join(
        result.output.replace("boxes_frozen_labels:", "boxes_frozen_labels").split()
    )
    zips = "seeds/customers_hierarchy_zip.csv"
    project.edit(zips, lambda text: text.replace(",010**,0****,", ",010**,9****,"))
    stopped = project.dbt("build")
    assert not stopped.succeeded
    assert "the labels of zip are frozen;" in stopped.messages


def test_without_waiting_the_same_months_show_single_people(
    recoded: Project, tmp_path: Path
) -> None:
    project = recoded.copy(tmp_path / "project")
    for name in EFFORTS:
        if name != "boxes":
            remove(project, name)
    project.edit("anonymizations/boxes.yml", lambda text: f"{text}release: {{recompute: true}}\n")
    generate(project.folder)
    assert run(project, "freeze", "boxes").exit_code == 0
    project.edit(
        "anonymizations/boxes.yml",
        lambda text: text.replace("recompute: true", "recompute: true, joiners: publish"),
    )
    generate(project.folder)
    months = [published(project, "boxes")]
    live_a_month(project, 1)
    project.build()
    months.append(published(project, "boxes"))
    assert smallest_difference(months) == 1
    result = run(project, "verify", "boxes", "--check", "recomputation", "--check", "guarantees")
    assert result.exit_code == 0, result.output
