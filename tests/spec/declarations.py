"""Small projects and specs that the unit tests write."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import yaml

from tests.extensions import with_known_keys
from tests.worlds.specs import IDENTIFIER, INSENSITIVE, SENSITIVE, categories, intervals, spec_of

REPOSITORY = Path(__file__).resolve().parents[2]

SPEC: dict[str, Any] = spec_of(
    "visits",
    {
        "phone": IDENTIFIER,
        "age": intervals("ages", 3),
        "city": categories("cities", 2),
        "income": INSENSITIVE,
        "ill": SENSITIVE,
    },
    record_key="visit_id",
    target="ill",
    features=["age", "city", "income"],
    efforts=[{"age": 1, "city": 0}, {"age": 2, "city": 1}],
    quality={"repetitions": 10},
    qnf="1 - 1/k",
)

PROFILE = {
    "dbt_anonymize": {
        "target": "duckdb",
        "outputs": {
            "duckdb": {
                "type": "duckdb",
                "path": "warehouse.duckdb",
                "threads": 1,
                "attach": [{"path": "vault.duckdb", "alias": "vault"}],
            }
        },
    }
}


def spec(**changes: Any) -> dict[str, Any]:
    """Return a sound spec with some of its keys replaced."""
    return copy.deepcopy(SPEC) | changes


# One of each form.
EFFORTS: list[dict[str, Any]] = [
    {"age": 1, "city": 0},
    {"levels": {"age": 2, "city": 1}, "k": 7},
    {
        "recoding": "local",
        "rounds": [{"age": 1, "city": 1}, {"age": 3, "city": 2}],
        "k": 8,
    },
    {"recoding": "multidimensional", "strict": False, "k": 9},
    {
        "recoding": "cell_suppression",
        "levels": {"age": 0, "city": 0},
        "importance": {"age": 2},
        "k": 10,
    },
]


def rich() -> dict[str, Any]:
    """Return a spec that uses everything a spec can say."""
    content = spec(
        subject="phone",
        population={"ref": "everybody", "size": 1_000_000},
        efforts=with_known_keys(EFFORTS),
    )
    content["columns"]["ill"]["hierarchy"] = {"ref": "ills", "kind": "categorical", "levels": 2}
    content["columns"]["city"]["weight"] = 2
    content["columns"]["ill"]["derived_from"] = ["phone"]
    content["columns"]["income"]["mask"] = {"round": 100, "top": 90_000}
    content["columns"]["note"] = {"role": "dropped"}
    content["columns"]["day"] = {"role": "insensitive", "mask": {"shift_days": 9}}
    content["columns"]["remark"] = {
        "role": "insensitive",
        "free_text": "accepted",
        "unique": "accepted",
    }
    content["columns"]["phone"]["repeats"] = "accepted"
    content["guarantees"] |= {
        "k_map": {"k": 5, "estimator": "poisson", "significance": 0.05},
        "t_closeness": {"attribute": "ill", "t": 0.5, "distance": "hierarchical"},
    }
    content["release"] = {"about": {"licence": "CC BY 4.0"}}
    return content


def write_spec(project: Path, content: dict[str, Any]) -> Path:
    """Write a spec into a project under its own name."""
    path = project / "anonymizations" / f"{content['name']}.yml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


def write_project(folder: Path, *specs: dict[str, Any]) -> Path:
    """Write a dbt project with the profile that it needs, and some specs."""
    folder.mkdir(exist_ok=True)
    settings = {
        "name": "clinic",
        "version": "1.0.0",
        "profile": "dbt_anonymize",
        "flags": {"send_anonymous_usage_stats": False},
    }
    (folder / "dbt_project.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    (folder / "profiles.yml").write_text(yaml.safe_dump(PROFILE), encoding="utf-8")
    for content in specs:
        write_spec(folder, content)
    return folder
