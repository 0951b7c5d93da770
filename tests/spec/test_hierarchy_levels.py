"""Levels of hierarchies that a spec does not declare: who says them, and who contradicts."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.errors import SpecError
from dbt_anonymize.spec import load_spec
from dbt_anonymize.spec.hierarchy_levels import command_for
from dbt_anonymize.spec.loading import read_shape
from tests.spec.declarations import SPEC

AGES = "lower_bound,upper_bound,level_1,level_2,level_3\n0,50,a,b,*\n"
CITIES = "value,level_1,level_2\nx,y,*\n"
MODEL = """models:
  - name: cities
    columns: [{name: value}, {name: level_1}, {name: level_2}]
"""


def project(root: Path, levels: dict[str, Any], **files: str) -> Path:
    """Write a project with the levels of age and city as they are declared, and further files."""
    spec = copy.deepcopy(SPEC)
    for name in ("age", "city"):
        del spec["columns"][name]["hierarchy"]["levels"]
        if name in levels:
            spec["columns"][name]["hierarchy"]["levels"] = levels[name]
    (root / "dbt_project.yml").write_text("name: p\nseed-paths: [seeds, '{{ more }}']\n", "utf-8")
    texts = {"seeds/deep/ages.csv": AGES, "seeds/cities.csv": CITIES, **files}
    for path, text in texts.items():
        if text:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
    path = root / "anonymizations" / "visits.yml"
    path.parent.mkdir()
    path.write_text(str(spec), encoding="utf-8")  # YAML reads it, too
    return path


@pytest.mark.parametrize("declared", [{}, {"age": 3, "city": 2}])
def test_levels_are_those_of_the_header(tmp_path: Path, declared: dict[str, Any]) -> None:
    path = project(tmp_path, declared)
    spec = load_spec(path)
    assert [tree.levels for tree in spec.quasi_identifiers.values()] == [3, 2]
    # Declared or read, it is the same spec.
    written = path.read_text(encoding="utf-8")
    shape = read_shape(path)
    assert shape
    assert shape.digest == spec.digest
    (tmp_path / "seeds" / "cities.csv").write_text(
        CITIES.replace("level_2", "level_2,level_3"), encoding="utf-8"
    )
    shape = read_shape(path)
    assert not shape or shape.digest != spec.digest
    assert path.read_text(encoding="utf-8") == written


@pytest.mark.parametrize(
    "header",
    [
        "\ufeffvalue,level_1,level_2\r\nx,y,*\r\n",
        'LEVEL_2,"Value",level_1\n',
        "\nvalue,level_1,level_2",
    ],
)
def test_headers_are_read_as_a_warehouse_reads_them(tmp_path: Path, header: str) -> None:
    path = project(tmp_path, {}, **{"seeds/cities.csv": header})
    assert load_spec(path).quasi_identifiers["city"].levels == 2


def test_levels_of_a_model_are_those_that_its_properties_list(tmp_path: Path) -> None:
    files = {
        "seeds/cities.csv": "",
        "models/x/y.yml": MODEL,
        "models/broken.yml": "name: cities: [",
    }
    path = project(tmp_path, {}, **files)
    assert load_spec(path).quasi_identifiers["city"].levels == 2


def test_properties_of_a_model_need_not_list_all_columns(tmp_path: Path) -> None:
    path = project(tmp_path, {"city": 5}, **{"seeds/cities.csv": "", "models/x.yml": MODEL})
    spec = load_spec(path)
    assert spec.quasi_identifiers["city"].levels == 5


WRONG: list[tuple[dict[str, int], dict[str, str], str]] = [
    ({"age": 2}, {}, "age.hierarchy.levels: must be what seeds/deep/ages.csv has, 3; got 2"),
    ({"age": 4}, {}, "age.hierarchy.levels: must be what seeds/deep/ages.csv has, 3; got 4"),
    (
        {"city": 1},
        {"seeds/cities.csv": "", "models/x.yml": MODEL},
        "city.hierarchy.levels: must be what models/x.yml has, 2; got 1",
    ),
    (
        {},
        {"seeds/cities.csv": ""},
        "must be given, since there is neither a seed cities.csv nor a model cities whose columns",
    ),
    ({}, {"seeds/cities.csv": "value;level_1\n"}, "seeds/cities.csv has no columns of a hierarchy"),
    ({}, {"seeds/cities.csv": AGES}, "seeds/cities.csv has no columns of a hierarchy of kind cat"),
    ({}, {"seeds/more/cities.csv": CITIES}, "must be given, since there are 2 seeds cities.csv"),
    (
        {},
        {"seeds/cities.csv": "", "models/x.yml": MODEL.replace("level_1", "level_3")},
        "models/x.yml lists no columns of a hierarchy of kind categorical for cities",
    ),
]


@pytest.mark.parametrize(("declared", "files", "message"), WRONG)
def test_levels_that_nobody_or_another_says_are_refused(
    tmp_path: Path, declared: dict[str, int], files: dict[str, str], message: str
) -> None:
    path = project(tmp_path, declared, **files)
    with pytest.raises(SpecError) as error:
        load_spec(path)
    (line,) = str(error.value).splitlines()
    assert message in line


@pytest.mark.parametrize("is_written", [True, False])
def test_a_deleted_seed_is_written_by_the_command_in_the_spec(
    tmp_path: Path, *, is_written: bool
) -> None:
    path = project(tmp_path, {}, **{"seeds/cities.csv": ""})
    command = "dbt-anonymize hierarchy others --ref visits --column 'a b' -o seeds/cities.csv"
    other = command.replace("cities", "capitals")
    text = path.read_text(encoding="utf-8")
    comments = f"# {other}\n  # {command}\n" if is_written else f"# {other}\n"
    path.write_text(comments + text, encoding="utf-8")
    with pytest.raises(SpecError) as error:
        load_spec(path)
    assert command_for(path, "cities") == (command if is_written else None)
    example = "for example by `dbt-anonymize hierarchy`, or the number"
    remedy = f"Write the seed: `{command}`." if is_written else f"Write the seed, {example}"
    assert remedy in str(error.value)


def test_without_a_project_levels_are_given(tmp_path: Path) -> None:
    path = project(tmp_path, {"age": 3})
    (tmp_path / "dbt_project.yml").unlink()
    with pytest.raises(SpecError, match=r"city.*must be given, since there is no dbt_project\.yml"):
        load_spec(path)
