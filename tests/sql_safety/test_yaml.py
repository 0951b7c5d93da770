"""YAML makes no objects, runs nothing, and does not grow beyond memory."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dbt_anonymize.errors import AnonymizeError, ProjectError
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.spec import load_specs
from dbt_anonymize.spec.yaml_file import read_yaml
from dbt_anonymize.spec.yaml_text import parse_yaml
from tests.projects import REPOSITORY
from tests.spec.declarations import spec, write_project

LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
)
MERGES = "a0: &a0 {x: 1}\n" + "".join(
    f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}\n" for n in range(1, 12)
)
# Every ring holds all the rings around it: ways through them are more than atoms.
RINGS = "a: " + "".join(f"&r{n} [" for n in range(40)) + "x"
RINGS += "".join(f", {', '.join(f'*r{m}' for m in range(n + 1))}]" for n in reversed(range(40)))
TAGS = (
    "!!python/object/apply:os.system ['touch ran']",
    "!!python/object/new:os.system ['touch ran']",
    "!!python/name:os.system",
    "!!python/module:os",
    "!!python/tuple [1]",
    "!own {a: 1}",
)


@pytest.mark.parametrize("tag", TAGS)
def test_no_tag_makes_an_object(tag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_project(tmp_path, spec())
    path = tmp_path / "anonymizations" / "visits.yml"
    path.write_text(f"{path.read_text('utf-8')}description: {tag}\n", encoding="utf-8")
    with pytest.raises(AnonymizeError, match="must be valid YAML"):
        load_specs(tmp_path)
    (tmp_path / "dbt_project.yml").write_text(f"name: {tag}\n", encoding="utf-8")
    with pytest.raises(AnonymizeError, match="must be valid YAML"):
        find_project(tmp_path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param(LAUGHS, "at most 100000 values", id="billion laughs"),
        pytest.param(MERGES, "at most 100000 values", id="merges of merges"),
        pytest.param(RINGS, "must not contain itself", id="rings"),
        pytest.param("[" * 50_000, "must be valid YAML", id="deep"),
        pytest.param("- " * 50_000, "must be valid YAML", id="deep in a line"),
        pytest.param("- " * 499, "must be valid YAML", id="as deep as libyaml reads"),
        pytest.param("".join(" " * n + "a:\n" for n in range(2000)), "must be valid", id="stairs"),
        pytest.param(f"a: {'9' * 50_000}\n", "must be valid YAML", id="a long number"),
    ],
)
def test_a_bomb_is_refused_at_once(text: str, says: str, tmp_path: Path) -> None:
    """Unfolded, it would neither end nor fit into memory."""
    path = tmp_path / "bomb.yml"
    path.write_text(text, encoding="utf-8")
    content, problems = read_yaml(path)
    assert content is None
    assert any(says in str(problem) for problem in problems)


@pytest.mark.parametrize("tag", ["bool", "int", "float", "timestamp"])
def test_a_value_under_a_wrong_tag_is_not_shown(tag: str, tmp_path: Path) -> None:
    path = tmp_path / "tagged.yml"
    path.write_text(f'password: !!{tag} "hunter2"\n', encoding="utf-8")
    content, (problem,) = read_yaml(path)
    assert content is None
    assert "must be valid YAML" in str(problem)
    assert "hunter2" not in str(problem)
    with pytest.raises(ProjectError, match="must be valid YAML") as error:
        parse_yaml(path.read_text(encoding="utf-8"))
    assert "hunter2" not in str(error.value)


def test_aliases_are_fine_where_they_stay_small(tmp_path: Path) -> None:
    path = tmp_path / "aliases.yml"
    path.write_text("a: &a {x: 1}\nb: *a\nc: {<<: *a, y: 2}\n", encoding="utf-8")
    assert read_yaml(path) == ({"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1, "y": 2}}, [])


def test_nobody_loads_yaml_unsafely() -> None:
    unsafe = re.compile(
        r"yaml\.(?:unsafe_|full_)?load(?:_all)?\(|Unsafe|FullLoader|yaml\.Loader|pickle|\bexec\(|\beval\("
    )
    sources = [*(REPOSITORY / "python").rglob("*.py"), *(REPOSITORY / "benchmarks").rglob("*.py")]
    assert len(sources) > 50
    found = [path.name for path in sources if unsafe.search(path.read_text(encoding="utf-8"))]
    # It runs what dbt runs as well: the Python model that is generated from the spec.
    assert found == ["rows.py"]
