"""The pages of privacy models, risk, information loss and masks say what the macros do."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import pytest
from scipy.special import digamma
from scipy.stats import poisson

from dbt_anonymize.privacy.distances import Distribution, grassberger, grassberger_entropy
from dbt_anonymize.privacy.registry import MODELS as PRIVACY_MODELS
from dbt_anonymize.relations import ALL
from dbt_anonymize.spec.of_extensions import FILE, GUARANTEES, owner_of
from tests.docs.examples import (
    BASIS,
    QUASI_IDENTIFIERS,
    RECORD_KEY,
    Built,
    Example,
    Relation,
    build,
    diagnosed,
    expanded,
    model_pages,
    name_of_spec,
    name_of_test,
)
from tests.docs.pages import DOCS, MODELS, Page, Table

PAGES = model_pages()
INDEX = Page(MODELS / "README.md")
RISK, LOSS, MASKS = (Page(DOCS / f"{page}.md") for page in ("risk", "information_loss", "masks"))
NAMES = [page.name for page in PAGES]
SUBSETS = "risk_subsets"
# Measured, and a dbt test, but no guarantee.
UNIQUENESS = "uniqueness"
PARAMETERS = {name: set(model.model_fields) for name, model in PRIVACY_MODELS.items()} | {
    UNIQUENESS: {"sample_share", "population_share", "estimator"}
}
# Those of extensions that are not here.
_OF_EXTENSIONS = resources.files("dbt_anonymize.spec").joinpath(FILE).read_text("utf-8").split()
MISSING = {key.removeprefix(GUARANTEES) for key in _OF_EXTENSIONS if key.startswith(GUARANTEES)} - {
    *PRIVACY_MODELS
}


@cache
def example(name: str) -> Example:
    """Return the example of a page by its name, and the second one of risk.md."""
    if name == "risk":
        counted = RISK.table("class", "n", "F").records
        people = expanded("", counted, "n").rows
        population = expanded("risk_registry", counted, "F")
        return diagnosed(RISK, name, people, population)
    if name == "masks":
        return _masked()
    if name == SUBSETS:
        rows = RISK.table(RECORD_KEY, *QUASI_IDENTIFIERS).records
        return diagnosed(RISK, name, [tuple(row[q] for q in QUASI_IDENTIFIERS) for row in rows])
    (page,) = [page for page in (*PAGES, LOSS) if page.name == name]
    return Example.of_page(page)


def _masked() -> Example:
    """Return the example of masks.md, with a diagnosis of which it does not speak."""
    table = MASKS.table(RECORD_KEY, "income")
    rows = [(*row, "flu" if row[0] == "1" else "asthma") for row in table.rows]
    return Example(MASKS, "masks", Relation("masks_patients", (*table.header, "diagnosis"), rows))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    """Give everything that the pages declare, built once."""
    specs = [
        (
            example(page.name).spec(name_of_spec(page.name, number), snippet.content),
            _relations(page),
        )
        for page in PAGES
        for number, snippet in enumerate(page.specs, start=1)
    ]
    of_risk = {"population": {"ref": "risk_registry"}}
    for name, part, relations in (
        ("risk", of_risk, {*_relations(RISK), "privacy"}),
        (SUBSETS, {}, {"microdata", "frequencies", "quasi_identifier_risk"}),
        ("information_loss", {}, {*BASIS, "information_loss"}),
        ("masks", MASKS.specs[0].content, {*BASIS, "effort"}),
    ):
        specs.append((example(name).spec(name_of_spec(name, 1), part), relations))
    further = ("risk", SUBSETS, "information_loss", "masks")
    examples = [example(name) for name in (*NAMES, *further)]
    found = build(tmp_path_factory.mktemp("documented"), examples, specs)
    with found.connection:
        yield found


def _relations(page: Page) -> set[str]:
    """Return what must be built of a page: the relations whose columns it lists."""
    return {*BASIS, *(relation for relation, _ in page.columns)}


def _page(name: str) -> Page:
    return example(name).page


def _agrees(printed: str, computed: object) -> bool:
    """Compare a printed number with a computed one, as exactly as it is printed."""
    if printed in {"infinite", "NULL"}:
        return computed is None
    assert isinstance(computed, (int, float))
    decimals = len(printed.partition(".")[2])
    return math.isclose(float(printed), computed, abs_tol=0.5000001 * 10**-decimals)


def _classes(built: Built, name: str, number: int) -> dict[str, dict[str, Any]]:
    """Return the classes of the untouched example by the names that its page gives them."""
    names = example(name).classes
    rows = built.rows(f'select * from "{name_of_spec(name, number)}_classes" where effort = 0')
    return {names[tuple(str(row[q]) for q in QUASI_IDENTIFIERS)]: row for row in rows}


def test_every_model_has_a_page_and_a_line_in_the_index() -> None:
    assert {*NAMES} == set(PARAMETERS) - {"differential_privacy"}
    linked = dict(_linked(INDEX.tables[0]))
    assert {*linked} - MISSING == set(PARAMETERS)
    for name, page in linked.items():
        of_extension = owner_of(f"guarantees.{name}")
        assert page == (f"../extensions/README.md#{of_extension}" if of_extension else f"{name}.md")
    in_second = {
        row[0].split(",")[0] for row in INDEX.table("model", "columns of <n>_privacy").rows
    }
    assert in_second - MISSING == set(PRIVACY_MODELS)


def _linked(table: Table) -> list[tuple[str, str]]:
    return [re.fullmatch(r"\[(\w+)\]\(([\w./#]+)\)", row[0]).groups() for row in table.rows]  # type: ignore[union-attr,misc]


@pytest.mark.parametrize("page", [*PAGES, INDEX, RISK, LOSS, MASKS], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Page) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[\w-]+)?\)", page.text):
        assert "://" in target or (page.path.parent / target).exists(), target


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_those_of_the_spec(name: str) -> None:
    line = next(line for line in INDEX.text.splitlines() if line.startswith(f"| [{name}]"))
    assert set(re.findall(r"`(\w+)`", line)) == PARAMETERS[name]


@pytest.mark.parametrize("name", NAMES)
def test_the_page_declares_its_model_in_a_spec_and_as_a_test(name: str) -> None:
    page = _page(name)
    is_guarantee = name != UNIQUENESS
    assert all((name in snippet.content["guarantees"]) == is_guarantee for snippet in page.specs)
    assert page.specs
    tests = [snippet.content["models"][0]["data_tests"][0] for snippet in page.tests]
    assert tests
    assert all(set(test) == {f"dbt_anonymize.{name}"} for test in tests)


@pytest.mark.needs("custody", "diff", "fidelity", "partitions", "recoding", "search")
def test_the_parts_of_specs_in_other_pages_are_valid() -> None:
    for page, completed_by in (
        (INDEX, "t_closeness"),
        (LOSS, "information_loss"),
        (MASKS, "masks"),
    ):
        assert page.specs
        for snippet in page.specs:
            spec = example(completed_by).spec("documented", snippet.content)
            assert set(snippet.content) <= spec.model_fields_set


@pytest.mark.parametrize("name", NAMES)
def test_a_test_fails_for_the_classes_that_the_page_names(built: Built, name: str) -> None:
    page, classes = _page(name), example(name).classes.values()
    sizes = dict(zip(*[_printed(page)[key] for key in ("class", "class_size")], strict=True))
    assert set(sizes) == set(classes)
    for number, snippet in enumerate(page.tests, start=1):
        rows = built.rows(built.tests[name_of_test(name, number)])
        assert built.failures[name_of_test(name, number)] == len(rows)
        if "class" not in snippet.claim:
            assert (
                snippet.claim == f"Breaks it: {'the relation as a whole' if rows else 'nothing'}."
            )
            continue
        assert snippet.number_of_classes == len(sizes)
        # The test does not say which classes they are, so the example has no two of the same size.
        assert len(set(sizes.values())) == len(sizes), name
        assert sorted(row["class_size"] for row in rows) == sorted(
            int(sizes[failing]) for failing in snippet.classes
        ), snippet


@pytest.mark.parametrize("name", NAMES)
def test_a_guarantee_suppresses_the_classes_that_the_page_names(built: Built, name: str) -> None:
    for number, snippet in enumerate(_page(name).specs, start=1):
        classes = _classes(built, name, number)
        violating = {c for c, row in classes.items() if row["is_violating"]}
        assert violating == snippet.classes
        assert snippet.number_of_classes == len(classes)


@pytest.mark.parametrize("name", NAMES)
def test_the_numbers_of_classes_are_those_of_the_classes_relation(built: Built, name: str) -> None:
    page = _page(name)
    table = page.table("class", "class_size")
    of_specs = [_classes(built, name, n) for n, _ in enumerate(page.specs, start=1)]
    assert {"class_size"} <= table.code
    for row in table.records:
        if row["class"] not in of_specs[0]:
            assert row["class_size"] == "0"
            continue
        for column in table.code:
            found = [c[row["class"]][column] for c in of_specs if column in c[row["class"]]]
            computed = next((value for value in found if value is not None), None)
            assert found
            assert _agrees(row[column], computed), (row["class"], column, computed)


@pytest.mark.parametrize("name", NAMES)
def test_verdicts_about_classes_are_those_of_the_declared_tests(name: str) -> None:
    page = _page(name)
    claimed = [s.classes for s in (*page.tests, *page.specs) if "class" in s.claim]
    for verdicts in zip(*page.table("class", "class_size").rows, strict=True):
        if all(re.match("(yes|no)\\b", verdict) for verdict in verdicts):
            named = zip(_printed(page)["class"], verdicts, strict=True)
            assert {c for c, verdict in named if verdict.startswith("no")} in claimed, verdicts


def _printed(page: Page) -> dict[str, list[str]]:
    table = page.table("class", "class_size")
    return {key: [row[key] for row in table.records] for key in table.header}


@pytest.mark.parametrize("name", [*NAMES, "risk"])
def test_columns_exist_that_the_page_names(built: Built, name: str) -> None:
    page = _page(name)
    numbers = range(1, max(len(page.specs), 1) + 1)
    assert page.columns
    existing: set[str] = set()
    for relation, columns in page.columns:
        if relation not in ALL:
            continue  # of an extension that is not here
        assert columns or "the same" in page.text
        found = {
            column
            for n in numbers
            for column in built.columns(f"{name_of_spec(name, n)}_{relation}")
        }
        assert set(columns) <= found, relation
        existing |= found
    assert set(re.findall(r"`((?:diagnosis|stage)_\w+)`", page.text)) <= existing


def test_columns_exist_that_the_index_names(built: Built) -> None:
    existing = {
        re.sub(r"^stage_", "diagnosis_", column)
        for name in NAMES
        for number, _ in enumerate(_page(name).specs, start=1)
        for column in built.columns(f"{name_of_spec(name, number)}_privacy")
    }
    for row in INDEX.table("model", "columns of <n>_privacy").rows:
        if row[0] in MISSING:
            continue
        assert set(re.findall(r"\w+", row[-1])) <= existing, row


def test_information_losses_are_as_printed(built: Built) -> None:
    relation = f"{name_of_spec('information_loss', 1)}_information_loss"
    (row,) = built.rows(f"select * from {relation} where effort = 1")
    table = LOSS.table("measure")
    for printed in table.records:
        computed = row[printed["measure"]]
        assert _agrees(printed["value"], computed), (printed["measure"], computed)
    # Every measure of the relation is in the example and among the definitions.
    assert {r["measure"] for r in table.records} == set(row) - {"effort"}
    assert {r["column"] for r in LOSS.table("column").records} == {
        column for column in row if not column.startswith(("age_", "zip_", "effort"))
    }


def test_statements_about_definitions_are_true(built: Built) -> None:
    """Each is computed from the definition, or from the relations of the example."""
    diversity, k_map, loss = (
        " ".join(page.text.split()) for page in (_page("l_diversity"), _page("k_map"), LOSS)
    )
    two = Distribution(1, np.zeros(2, int), np.arange(2), np.ones(2, int))
    assert f"exp(G(2) - G(1)) = {math.exp(grassberger_entropy(two)[0]):.2f}" in diversity
    psi = digamma(2) - float(grassberger(np.array([1]))[0])
    assert f"({math.exp(psi):.2f} for these two)" in diversity
    numbers = np.arange(1, 1000)
    assert ((grassberger(numbers) > digamma(numbers)) == (numbers % 2 == 0)).all()
    mean, needed = 4 * 9 / 900, 2
    assert poisson.sf(needed - 1, mean) <= 0.01 < poisson.sf(needed - 2, mean)
    assert f"{needed} would do, since more than 1 have a probability of" in k_map
    assert f"probability of {poisson.sf(1, mean):.4f}" in k_map
    (row,) = built.rows(
        f"select * from {name_of_spec('information_loss', 1)}_information_loss where effort = 1"
    )
    divided = f"{row['average_class_size']:.4f} / 2 = {row['average_class_size'] / 2:.4f}"
    assert divided in loss


def test_merging_with_the_population_alone_breaks_a_minimum_of_presence() -> None:
    page = _page("delta_presence")
    people = {
        row["class"]: int(row["class_size"]) for row in page.table("class", "class_size").records
    }
    population = {row["population"]: int(row["people"]) for row in page.table("population").records}
    merged, everybody = people["A"] + people["D"], population["A"] + population["D"]
    share = f"{merged} of {everybody}, a share of {merged / everybody:.2f}"
    assert share in " ".join(page.text.split())
    assert merged / everybody < 0.3 <= people["A"] / population["A"]


def test_risks_are_as_printed(built: Built) -> None:
    (row,) = built.rows(f"select * from {name_of_spec('risk', 1)}_privacy where effort = 0")
    attackers = RISK.table("attacker")
    assert {c for r in attackers.rows for c in re.findall(r"\w+_risk", r[-1])} == {
        column for column in row if column.endswith("_risk")
    }
    for printed in RISK.table("measure").records:
        computed = row[printed["measure"]]
        assert _agrees(printed["value"], computed), (printed["measure"], computed)


@pytest.mark.needs("details")
def test_risks_of_columns_are_as_printed(built: Built) -> None:
    rows = built.rows(f"select * from {name_of_spec(SUBSETS, 1)}_quasi_identifier_risk")
    computed = {row["quasi_identifiers"]: row for row in rows}
    table = RISK.table("quasi_identifiers")
    assert {row["quasi_identifiers"] for row in table.records} == set(computed)
    for row in table.records:
        for column in ("distinction", "separation", "uniqueness"):
            assert _agrees(row[column], computed[row["quasi_identifiers"]][column]), row


def test_macros_of_risk_exist_that_the_page_names() -> None:
    _, section = RISK.text.split("## Of any relation")
    named = set(re.findall(r"`(\w+)`", section.partition("```")[0]))
    existing = {path.stem for path in (DOCS.parent / "macros" / "risk").glob("[a-z]*.sql")}
    assert named == existing


def test_masks_are_as_printed(built: Built) -> None:
    table = MASKS.table("released")
    columns = ", ".join(table.header[1:])
    rows = built.rows(
        f"select {RECORD_KEY}, {columns} from {name_of_spec('masks', 1)}_effort_1 order by 1"
    )
    computed = [tuple(str(value) for value in row.values()) for row in rows]
    assert computed == [tuple(cell.replace("\\", "") for cell in row) for row in table.rows]
