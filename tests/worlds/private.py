"""A spec whose release is differentially private, of the stranger's customers."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import yaml

from dbt_anonymize.project.generate import generate
from tests.extensions import has
from tests.projects import Project
from tests.vault.projects import copy_with
from tests.worlds.specs import DROPPED, IDENTIFIER, categories, intervals, spec_of

SEED = "customers_hierarchy_churned"
SPEC = spec_of(
    "shielded",
    {
        "full name": IDENTIFIER,
        "e-mail": IDENTIFIER,
        "birth_date": intervals("customers_hierarchy_birth_date", 4),
        "gender": categories("customers_hierarchy_gender", 1),
        "churned": categories(SEED, 1),
        **dict.fromkeys(("zip", "order", "größe", "spending"), DROPPED),
    },
    source={"ref": "customers"},
    record_key="customer_id",
    target="churned",
    features=["birth_date", "gender"],
    efforts=[
        {"birth_date": 3, "gender": 1, "churned": 0},
        {"birth_date": 4, "gender": 0, "churned": 0},
    ],
    guarantees={
        "k_anonymity": {"k": 2},
        "differential_privacy": {"epsilon": 1, "delta": 0.05},
    },
    suppression_limit=1,
    quality={"model": "decision_tree", "random_state": 7},
    alpha=0.05,
    qnf="1 - 1/k",
    release={"effort": 1, "recompute": True},
)


def changed(**changes: Any) -> dict[str, Any]:
    """Return the spec with some of its keys replaced."""
    return copy.deepcopy(SPEC) | changes


def write(project: Project, content: dict[str, Any]) -> None:
    """Write the spec, and the models that follow from it."""
    path = project.folder / "anonymizations" / "shielded.yml"
    path.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    generate(project.folder)


def sampled_and_private(folder: Path) -> Project:
    """Give a project with a plain sample and a private release, not built."""
    project = copy_with(folder, "surveyed")
    seed = project.folder / "seeds" / f"{SEED}.csv"
    seed.write_text("value,level_1\nyes,*\nno,*\n", encoding="utf-8")
    if has("differential_privacy"):
        write(project, SPEC)
    return project
