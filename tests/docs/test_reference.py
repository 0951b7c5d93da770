"""The pages of docs/reference are what their sources say, and say it of everything."""

from __future__ import annotations

import re

import pytest

from dbt_anonymize.extension import extensions
from dbt_anonymize.relations import KEPT, MODELS, SHARED
from dbt_anonymize.spec import of_extensions
from scripts import make_parameters, make_reference
from tests.golden.test_macro_documentation import PUBLIC


@pytest.mark.parametrize("name", make_reference.PAGES)
def test_a_page_is_up_to_date(name: str) -> None:
    written = make_reference.PAGES[name]()
    assert (make_reference.FOLDER / name).read_text(encoding="utf-8") == written, "make reference"


def test_known_parameters_are_those_of_scikit_learn() -> None:
    written = make_parameters.parameters_of_models()
    assert make_parameters.PARAMETERS.read_text(encoding="utf-8") == written, "make reference"


def test_known_keys_of_extensions_are_those_that_they_add() -> None:
    known = make_parameters.KEYS.read_text(encoding="utf-8").splitlines()
    here = {one.name for one in extensions()}
    found = [line for line in known if line.split()[0] in here]
    assert found == [*of_extensions.lines()], "make reference"


def test_known_adapters_of_extensions_are_those_that_they_add() -> None:
    here = {one.name for one in extensions()}
    known, found = (
        [line for line in re.findall(r'^ +"\w+": "(\w+)",$', text, re.M) if line in here]
        for text in (
            make_parameters.ADAPTERS.read_text(encoding="utf-8"),
            make_parameters.extensions_of_adapters(),
        )
    )
    assert known == found, "make reference"


def test_every_public_macro_has_an_entry() -> None:
    page = (make_reference.FOLDER / "macros.md").read_text(encoding="utf-8")
    found = re.findall(r"^### (.+)$", page, re.M)
    named = [f"{name} (dbt test)" if kind == "test" else name for _, kind, name, _ in PUBLIC]
    assert sorted(found) == sorted(named)


def test_every_relation_of_the_registry_has_an_entry() -> None:
    page = (make_reference.FOLDER / "relations.md").read_text(encoding="utf-8")
    assert {*MODELS, *SHARED} <= set(re.findall(r"^## (\w+)$", page, re.M))
    for name in KEPT:
        assert f"`<n>_{name}`" in page
