"""Recodings, masks and fidelity, added to the stranger's project."""

from __future__ import annotations

from typing import Any

import yaml

from dbt_anonymize.project.generate import generate
from tests.extensions import with_known_keys
from tests.projects import Project

EFFORTS: list[dict[str, Any]] = [
    {
        "recoding": "local",
        "rounds": [
            {"birth_date": 1, "zip": 1, "gender": 0},
            {"birth_date": 3, "zip": 2, "gender": 1},
        ],
    },
    {"recoding": "multidimensional"},
    {"recoding": "cell_suppression", "levels": {"birth_date": 3, "zip": 1, "gender": 0}},
    {"recoding": "microaggregation", "method": "mondrian"},
    {"recoding": "microaggregation", "method": "mdav", "categories": "mode"},
    {"recoding": "clustering"},
]
FIRST = 4


def with_mechanisms(project: Project) -> None:
    def changed(text: str) -> str:
        spec = yaml.safe_load(text)
        spec["efforts"] += with_known_keys(EFFORTS)
        spec["fidelity"] = {}
        spec["columns"]["e-mail"] = {"role": "masked", "mask": {"email": "domain"}}
        spec["columns"]["spending"]["mask"] = {"round": 10, "top": 500}
        return yaml.safe_dump(spec, sort_keys=False, allow_unicode=True)

    project.edit("anonymizations/customers.yml", changed)
    generate(project.folder)
