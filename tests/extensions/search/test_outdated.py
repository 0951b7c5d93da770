"""A search replaces efforts, so those that do not fit the spec any more do not stop it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.search.declared import has_outdated_efforts
from dbt_anonymize.extensions.search.editing import write_efforts
from dbt_anonymize.extensions.search.outdated import Unwritten, load_to_search
from dbt_anonymize.spec import Effort, load_spec
from tests.extensions import has
from tests.spec.declarations import spec, write_project
from tests.worlds.specs import categories

NEW = {"columns": spec()["columns"] | {"income": categories("incomes", 2)}}
STRONG = {"guarantees": {"k_anonymity": {"k": 20}}}
WEAK_K = {"levels": {"age": 2, "city": 1}, "k": 10}
GROUPS = {"recoding": "clustering", "k": 30}
LEVELS = Effort(levels={"age": 2, "city": 2})


def declared(folder: Path, **changes: Any) -> Path:
    write_project(folder / "project", spec(**changes))
    return folder / "project" / "anonymizations" / "visits.yml"


@pytest.mark.parametrize(
    "changes",
    [
        {**STRONG, "efforts": [{"age": 1, "city": 0}, WEAK_K], "release": {"effort": 2}},
        NEW,
        {"columns": {n: c for n, c in spec()["columns"].items() if n != "city"}}
        | {"features": ["age", "income"]},
        {"efforts": [{"age": 9, "city": 0}]},
        {"efforts": [{"recoding": "local", "rounds": [{"age": 1}]}]},
    ],
    ids=["a larger k", "another quasi-identifier", "one less", "a level less", "rounds"],
)
def test_efforts_that_do_not_fit_are_left_out(tmp_path: Path, changes: dict[str, Any]) -> None:
    path = declared(tmp_path, **changes)
    with pytest.raises(SpecError, match="efforts"):
        load_spec(path)
    searched = load_to_search(path)
    assert has_outdated_efforts(searched.spec)
    assert searched.spec.efforts == ()
    assert not searched.unwritten


def test_efforts_that_fit_stay(tmp_path: Path) -> None:
    searched = load_to_search(declared(tmp_path))
    assert len(searched.spec.efforts) == 2
    assert not has_outdated_efforts(searched.spec)


def test_everything_else_that_is_wrong_stops_a_search(tmp_path: Path) -> None:
    path = declared(tmp_path, **NEW, alpha=-1)
    with pytest.raises(SpecError) as error:
        load_to_search(path)
    (line,) = str(error.value).splitlines()
    assert line.startswith("anonymizations/visits.yml: alpha: must ")


def test_what_no_search_finds_stays(tmp_path: Path) -> None:
    efforts = [{"age": 1, "city": 0}, WEAK_K, GROUPS]
    path = declared(tmp_path, **STRONG, efforts=efforts, release={"effort": 3})
    searched = load_to_search(path)
    assert [effort.kind for effort in searched.spec.efforts] == ["clustering"]
    written = write_efforts(path, [LEVELS, *searched.spec.efforts])
    assert (written.before, written.now) == (3, 2)
    assert load_spec(path).release.effort == 2


def test_what_no_search_finds_and_does_not_fit_stops_it(tmp_path: Path) -> None:
    efforts = [WEAK_K, {**GROUPS, "k": 10}]
    path = declared(tmp_path, **STRONG, efforts=efforts)
    with pytest.raises(SpecError, match=r"efforts\.2\.k: must be at least the k"):
        load_to_search(path)


@pytest.mark.skipif(not has("second_month"), reason="no extension freezes")
def test_a_frozen_effort_stops_it(tmp_path: Path) -> None:
    path = declared(tmp_path, **STRONG, efforts=[WEAK_K], release={"effort": 1}, freeze=True)
    with pytest.raises(SpecError, match=r"efforts\.1\.k: must be at least the k"):
        load_to_search(path)


def test_efforts_that_do_not_fit_are_replaced(tmp_path: Path) -> None:
    """Their number of the released effort goes with them, if it is not among the new ones."""
    efforts = [WEAK_K, {"age": 2, "city": 2}]
    two = [LEVELS, Effort(levels={"age": 3, "city": 2})]
    for before, now in ((1, "auto"), (2, 1), ("auto", "auto")):
        path = declared(tmp_path, **STRONG, efforts=efforts, release={"effort": before})
        written = write_efforts(path, two)
        assert (written.is_changed, written.before, written.now) == (True, before, now)
        assert load_spec(path).release.effort == now


@pytest.mark.parametrize("is_outdated", [False, True])
def test_hierarchies_that_nobody_wrote_are_listed(tmp_path: Path, *, is_outdated: bool) -> None:
    columns = {**NEW["columns"]}
    columns["income"]["hierarchy"].pop("levels", None)
    efforts = [{"age": 1, "city": 0} | ({} if is_outdated else {"income": 1})]
    path = declared(tmp_path, columns=columns, efforts=efforts)
    searched = load_to_search(path)
    assert searched.unwritten == {"income": Unwritten("incomes")}
    assert has_outdated_efforts(searched.spec) == is_outdated
    # Of a model only its properties are missing.
    (path.parent.parent / "models").mkdir()
    (path.parent.parent / "models" / "incomes.sql").write_text("select 1")
    with pytest.raises(SpecError, match=r"income\.hierarchy\.levels: must be given") as error:
        load_to_search(path)
    assert "efforts" not in str(error.value)


@pytest.mark.parametrize("has_seed", [False, True])
def test_a_quasi_identifier_without_hierarchy_is_listed(tmp_path: Path, *, has_seed: bool) -> None:
    columns = spec()["columns"] | {"income": {"role": "quasi_identifier"}}
    path = declared(tmp_path, columns=columns)
    ref = "visits_hierarchy_income"
    if has_seed:
        (path.parent.parent / "seeds").mkdir()
        (path.parent.parent / "seeds" / f"{ref}.csv").write_text(
            "lower_bound,upper_bound,level_1\n0,9,*\n"
        )
    expected = Unwritten(ref, is_declared=False, has_seed=has_seed)
    assert load_to_search(path).unwritten == {"income": expected}
