"""Relations that the choice does not need are built where a spec declares them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.project.generate import check, generate, render
from dbt_anonymize.project.kept_details import MARK
from dbt_anonymize.project.models import undeclared_details
from dbt_anonymize.relations import DETAILS, OF_CLASSES
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.loading import validate
from tests.spec.declarations import SPEC, spec, write_project, write_spec

# Without efforts whose labels differ by record, and without a table of counts.
POSSIBLE = set(DETAILS) - {"class_losses", "table_audit"}


def declared(**changes: Any) -> Spec:
    return Spec.model_validate(spec(**changes))


def details_of(one: Spec) -> set[str]:
    files = {name.removeprefix("visits_").removesuffix(".sql") for name in render(one)}
    return files & set(DETAILS)


def regression() -> dict[str, Any]:
    quality = SPEC["quality"] | {"model": "linear_regression", "measure": "r2"}
    return spec(target="income", features=["age"], quality=quality)


@pytest.mark.parametrize(
    ("details", "expected"),
    [
        ((), set()),
        (["curves", "risk_profile"], {"curves", "risk_profile"}),
        ("all", POSSIBLE),
    ],
)
def test_the_declared_ones_are_built_and_described(details: Any, expected: set[str]) -> None:
    one = declared(details=details)
    assert details_of(one) == expected
    properties = render(one)["_visits.yml"]
    assert {name for name in DETAILS if f"- name: visits_{name}\n" in properties} == expected
    assert set(undeclared_details(one)) == POSSIBLE - expected


@pytest.mark.needs("second_month")
def test_what_cannot_be_measured_is_left_out_of_all() -> None:
    numbers = Spec.model_validate(regression() | {"details": "all"})
    assert details_of(numbers) == POSSIBLE - OF_CLASSES
    frozen = spec(freeze=True, release={"effort": 1}, details="all")
    assert details_of(Spec.model_validate(frozen)) == {"quasi_identifier_risk", "risk_profile"}
    with pytest.raises(ValueError, match=r"must be about models that predict a class"):
        Spec.model_validate(regression() | {"details": ["risk_profile", "curves"]})


def test_results_and_releases_do_not_depend_on_details() -> None:
    assert declared(details="all").fingerprint == declared(details=()).fingerprint
    assert declared(details="all").digest != declared(details=()).digest


def from_before(root: Path) -> Path:
    """Write a project whose models were generated before details could be declared."""
    write_project(root)
    path = write_spec(root, spec(details="all"))
    generate(root)
    properties = root / "models" / "visits" / "_visits.yml"
    lines = properties.read_text("utf-8").splitlines(keepends=True)
    properties.write_text("".join(line for line in lines if MARK not in line), "utf-8")
    text = path.read_text("utf-8")
    path.write_text(text.replace("details: all\n", "# mine\n"), "utf-8")
    return path


def test_a_spec_from_before_keeps_its_relations(tmp_path: Path) -> None:
    path = from_before(tmp_path)
    before = path.read_text("utf-8")
    assert {drift.kind for drift in check(tmp_path)} == {"different", "stale"}
    generate(tmp_path)
    assert path.read_text("utf-8") == before.rstrip("\n") + "\ndetails: all\n"
    assert details_in(tmp_path) == POSSIBLE
    # From now on the spec says it, and who takes it out means it.
    path.write_text(before, "utf-8")
    generate(tmp_path)
    assert path.read_text("utf-8") == before
    assert details_in(tmp_path) == set()


def test_a_spec_from_before_that_says_none_loses_them(tmp_path: Path) -> None:
    path = from_before(tmp_path)
    path.write_text(path.read_text("utf-8") + "details: []\n", "utf-8")
    generate(tmp_path)
    assert details_in(tmp_path) == set()


def details_in(root: Path) -> set[str]:
    return {name for name in DETAILS if (root / f"models/visits/visits_{name}.sql").exists()}


@pytest.mark.parametrize(
    ("details", "said"),
    [
        ("al", "must be all, or a list of details; got 'al'. Write `details: all`"),
        (["all"], "Write `details: all`, or some of alpha_ranges"),
        (["curve"], "Did you mean curves?"),
        (3, "must be all, or a list of details; got 3."),
    ],
)
def test_what_is_no_detail_is_said_in_one_line(details: Any, said: str) -> None:
    problems = list(map(str, validate(spec(details=details))[1]))
    assert len(problems) == 1
    assert said in problems[0]
