"""The JSON schema of a spec: it accepts every sound spec, and knows keys and types."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from pydantic import ValidationError

from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.json_schema import json_schema
from dbt_anonymize.spec.rules import BROKEN_RULES
from tests.spec.declarations import REPOSITORY, rich
from tests.spec.files import changed
from tests.spec.wrong import WRONG

SCHEMA = json_schema()
CHECK = jsonschema.Draft7Validator(SCHEMA)
# A part of a spec, as pages show it, lacks keys.
PART = jsonschema.Draft7Validator(
    {key: value for key, value in SCHEMA.items() if key not in {"required", "anyOf"}}
)
STARTERS = sorted(REPOSITORY.glob("python/dbt_anonymize/**/anonymizations/*.yml"))
FILES = [
    *STARTERS,
    *sorted(REPOSITORY.glob("anonymizations/*.yml")),
    *sorted(REPOSITORY.glob("tests/**/anonymizations/*.yml")),
]
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
SNIPPET = re.compile(r"^```yaml anonymizations/\w+\.yml\n(.*?)^```", re.M | re.S)
SNIPPETS = {
    f"{page.stem}_{number}": yaml.safe_load(text)
    for page in PAGES
    for number, text in enumerate(SNIPPET.findall(page.read_text(encoding="utf-8")), start=1)
}
# What no schema can say: rules between keys, rules of ours, numbers that JSON does not have. A list
# is also too short for pydantic where its only entry is wrong.
BEYOND = {"rule", BROKEN_RULES, "finite_number", "too_short"}


def problems(checks: jsonschema.Draft7Validator, content: object) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in checks.iter_errors(content)]


def test_the_schema_is_one() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_specs_of_this_repository_are_accepted(path: Path) -> None:
    assert problems(CHECK, yaml.safe_load(path.read_text(encoding="utf-8"))) == []


@pytest.mark.needs(
    *("custody", "details", "diff", "differential_privacy", "fidelity", "payouts", "recoding"),
    *("search", "second_month"),
)
@pytest.mark.parametrize("name", SNIPPETS)
def test_examples_of_the_documentation_are_accepted(name: str) -> None:
    content = SNIPPETS[name]
    checks = CHECK if "version" in content else PART
    assert problems(checks, content) == []


def test_all_that_a_spec_can_say_is_accepted() -> None:
    content = rich()
    Spec.model_validate(content)
    assert problems(CHECK, content) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("columns.income.derived_from", "phone"),
        pytest.param("quality.groups", ["age"], marks=pytest.mark.needs("inspection")),
        ("quality.parameters", {"priors": [0.5, 0.5]}),
        ("quality.positive", True),
        ("alpha", "auto"),
        ("alpha", 0),
        ("release", {"effort": 2}),
        ("guarantees.l_diversity", [{"attribute": "ill", "l": 2}]),
        ("population", None),
        ("efforts", [{"levels": {"age": 1, "city": 1}, "k": 4}]),
    ],
)
def test_short_forms_are_accepted(path: str, value: object) -> None:
    content = changed(path, value)
    Spec.model_validate(content)
    assert problems(CHECK, content) == []


def definition(key: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = SCHEMA["$defs"].get(key.get("$ref", "").rpartition("/")[2], {})
    return found


def structural(content: dict[str, Any]) -> bool:
    """Tell whether a spec is refused for a key, a type or a range of its own."""
    try:
        Spec.model_validate(content)
    except ValidationError as error:
        # A whole number with a point is one of JSON, too.
        return any(
            found["type"] not in BEYOND
            and not (found["type"] == "int_type" and isinstance(found["input"], float))
            for found in error.errors()
        )
    return False


def test_unknown_keys_and_wrong_types_are_flagged() -> None:
    wrong = [content for path, value, _, _ in WRONG if structural(content := changed(path, value))]
    assert len(wrong) >= 50
    for content in wrong:
        assert problems(CHECK, content), content


def test_every_key_says_what_it_does() -> None:
    models = {"Spec": SCHEMA, **SCHEMA["$defs"]}
    silent = [
        f"{model}.{key}"
        for model, content in models.items()
        for key, of_key in content.get("properties", {}).items()
        if not {**definition(of_key), **of_key}.get("description")
    ]
    assert silent == []
