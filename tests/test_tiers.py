"""The tiers of the suite itself: what is fast has no dbt, and a sample leaves out no kind."""

from __future__ import annotations

import importlib
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from tests import projects, sampling
from tests.projects import REPOSITORY, Project, copy_consumer
from tests.tiers import starts_dbt


@dataclass(frozen=True)
class Case:
    """Something to draw from."""

    name: str
    kind: str


def by_a_method(project: Any) -> None:
    project.dbt("build")


def by_an_import() -> None:
    from dbt.cli.main import dbtRunner

    dbtRunner()


def by_a_class() -> None:
    Project(REPOSITORY, "x.duckdb")


def by_a_helper() -> None:
    copy_consumer(REPOSITORY)


def by_a_module() -> None:
    projects.copy_demo(REPOSITORY)


def by_a_command() -> None:
    projects.run_command("make demo", REPOSITORY)


def by_a_helper_of_a_helper() -> list[None]:
    return [by_a_helper() for _ in range(2)]


STARTING = (
    by_a_method,
    by_an_import,
    by_a_class,
    by_a_helper,
    by_a_module,
    by_a_helper_of_a_helper,
    by_a_command,
)


@pytest.mark.parametrize("function", STARTING, ids=lambda function: str(function.__name__))
def test_what_starts_dbt_is_seen(function: Any) -> None:
    assert starts_dbt(function)


def test_a_name_from_the_same_module_does_not_start_dbt() -> None:
    assert not starts_dbt(lambda: REPOSITORY / "docs")


def test_a_fast_test_has_no_dbt(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("fast")
    for name in ("dbt", "dbt.cli.main", "dbt.adapters.factory"):
        with pytest.raises(ImportError):
            importlib.import_module(name)
    for command in ("dbt", "make"):
        with pytest.raises(RuntimeError, match="of the tier `fast` must not start"):
            subprocess.run([command, "--version"], check=False)
        with pytest.raises(RuntimeError, match=f"must not start {command}$"):
            subprocess.run(f"cd . && {command} build", shell=True, check=False)  # noqa: S602


def test_a_sample_has_some_of_each_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "drawn", {})
    monkeypatch.setattr(sampling, "FULL", False)
    cases = [Case(f"{kind}{n}", kind) for kind in "ab" for n in range(40)] + [Case("c0", "c")]

    def draw() -> Counter[str]:
        found = sampling.sample("cases", cases, 0.25, lambda case: case.kind)
        assert [parameter.id for parameter in found] == [case.name for case in cases]
        return Counter(p.values[0].kind for p in found if not p.marks)

    assert draw() == {"a": 10, "b": 10, "c": 1}
    assert sampling.drawn == {"cases": (21, 81)}
    monkeypatch.setattr(sampling, "FULL", True)
    assert draw() == {"a": 40, "b": 40, "c": 1}


def test_a_seed_draws_the_same_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "drawn", {})
    monkeypatch.setattr(sampling, "FULL", False)
    cases = [Case(str(number), "") for number in range(100)]

    def draw(seed: int) -> list[Any]:
        monkeypatch.setattr(sampling, "SEED", seed)
        found = sampling.sample("cases", cases, 0.1, lambda _: "")
        return [parameter.id for parameter in found if not parameter.marks]

    assert draw(1) == draw(1) != draw(2)


@dataclass
class Item:
    """A case of a test."""

    originalname: str
    path: Path = Path()
    marks: list[str] = field(default_factory=list)

    def add_marker(self, mark: str) -> None:
        """Keep it."""
        self.marks.append(mark)


def test_a_test_is_drawn_with_all_of_its_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "drawn", {})
    monkeypatch.setattr(sampling, "FULL", False)

    def draw() -> Counter[str]:
        items = [Item(f"test_{n}") for n in range(9) for _ in range(4)]
        sampling._draw_tests("folder/test_module.py", cast("list[pytest.Item]", items))
        return Counter(item.originalname for item in items if not item.marks)

    assert [*draw().values()] == [4, 4]
    assert draw() == draw()
    assert sampling.drawn == {"tests of modules that start dbt": (6, 27)}
    monkeypatch.setattr(sampling, "FULL", True)
    assert len(draw()) == 9


def test_of_each_folder_a_module_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "drawn", {})
    monkeypatch.setattr(sampling, "FULL", False)
    tests = Path(sampling.__file__).parent
    paths = [
        tests / f"{folder}/test_{n}.py" for folder, of in (("a", 10), ("b", 2)) for n in range(of)
    ]

    def draw() -> Counter[str]:
        items = [Item("test_one", path) for path in paths for _ in range(2)]
        sampling._draw_modules("modules", cast("list[pytest.Item]", items), 0.3)
        return Counter(item.path.parent.name for item in items if not item.marks)

    assert draw() == {"a": 6, "b": 2}
    assert sampling.drawn == {"modules": (4, 12)}
    monkeypatch.setattr(sampling, "FULL", True)
    assert draw() == {"a": 20, "b": 4}
