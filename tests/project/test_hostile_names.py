"""Names of columns, however hostile, stay names in all that is generated."""

from __future__ import annotations

import ast
import contextlib
import shutil
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.project.generate import generate
from tests.project.calls import call_of
from tests.project.test_generate import files_of, python_call_of
from tests.sampling import examples
from tests.spec.declarations import REPOSITORY, SPEC, spec, write_project

HOSTILE_NAMES = [
    'it\'s "x"',
    "{{ ref('y') }}",
    "{% endmacro %}",
    "{# no #}",
    "back\\slash\\",
    "two\nlines",
    "größe 年齢",
    "null",
    "yes",
    "select",
    "a" * 200,
]


def hostile(names: list[str]) -> dict[str, Any]:
    """Return a spec in which every column has one of the names."""
    phone, age, city, income, ill, key = names
    content = spec(record_key=key, target=ill, features=[age, city, income])
    roles = SPEC["columns"]
    content["columns"] = dict(zip(names[:5], roles.values(), strict=True))
    content["efforts"] = [{age: 1, city: 0}, {age: 2, city: 1}]
    content["description"] = f"About {phone}"
    return content


@given(
    st.lists(
        st.sampled_from(HOSTILE_NAMES)
        | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(
            lambda text: text.strip() and "\0" not in text
        ),
        min_size=6,
        max_size=6,
        unique_by=str.casefold,
    )
)
@examples(settings(deadline=None), 40)
def test_any_column_name_reads_back_from_sql_python_and_yaml(names: list[str]) -> None:
    phone, age, city, income, ill, key = names
    try:
        files = files_of(hostile(names))
    except ValueError:  # a derived or reserved name, by chance
        return
    microdata = call_of(files["visits_microdata.sql"])[1]
    assert microdata["record_key"] == key
    assert microdata["identifiers"] == [phone]
    assert [q["name"] for q in microdata["quasi_identifiers"]] == [age, city]
    assert microdata["kept_columns"] == [income, ill]
    assert call_of(files["visits_classes.sql"])[1]["efforts"][2] == {"levels": {age: 2, city: 1}}
    ast.parse(files["visits_evaluation.py"])
    scores = python_call_of(files["visits_evaluation.py"])
    assert [feature["name"] for feature in scores["features"]] == [age, city, income]
    assert [target["name"] for target in scores["targets"]] == [ill]
    assert scores["efforts"][2]["levels"] == {age: 2, city: 1}
    assert "{{" not in files["visits_evaluation.py"]
    yaml.safe_load(files["_visits.yml"])


def test_html_in_names_is_text_in_descriptions_and_code() -> None:
    """Dbt's pages render descriptions, and show code in which they find a word as HTML."""
    content = hostile([f"{place}<img src=x onerror=alert({place})>" for place in range(6)])
    content["description"] = "<script>alert(1)</script>"
    for name, text in files_of(content).items():
        if name.endswith(".yml"):
            assert not [said for said in descriptions_in(yaml.safe_load(text)) if "<" in said]
        else:
            assert "<img" not in text
    names = call_of(files_of(content)["visits_microdata.sql"])[1]["kept_columns"]
    assert names[0] == "3<img src=x onerror=alert(3)>"


def descriptions_in(content: Any) -> list[str]:
    if isinstance(content, list):
        return [text for item in content for text in descriptions_in(item)]
    if not isinstance(content, dict):
        return []
    own = [str(content["description"])] if "description" in content else []
    return own + [text for item in content.values() for text in descriptions_in(item)]


def test_dbt_reads_hostile_names_as_they_are(tmp_path: Path) -> None:
    """The real parser: names of columns, arguments of tests, and what a model depends on."""
    from dbt.adapters.factory import reset_adapters
    from dbt.cli.main import dbtRunner

    names = HOSTILE_NAMES[:6]
    project = write_project(tmp_path / "project", hostile(names))
    # Macros are called with the name of the package, here that of the project.
    settings_file = project / "dbt_project.yml"
    settings_file.write_text(settings_file.read_text().replace("clinic", "dbt_anonymize"))
    shutil.copytree(REPOSITORY / "macros", project / "macros")
    generate(project)
    for name in ("visits_source", "ages", "cities"):
        (project / "models" / f"{name}.sql").write_text("select 1 as x")
    with contextlib.chdir(project):
        outcome = dbtRunner().invoke(["--quiet", "parse", "--profiles-dir", str(project)])
    reset_adapters()
    assert outcome.success, outcome.exception
    nodes = {node.name: node for node in outcome.result.nodes.values()}
    assert set(names[1:5]) <= set(nodes["visits_microdata"].columns)
    assert names[0] in nodes["visits_identifiers"].columns
    assert nodes["visits_microdata"].description.endswith(f"About {names[0]}")
    assert set(nodes["visits_evaluation"].depends_on.nodes) == {
        f"model.dbt_anonymize.{name}"
        for name in ("visits_effort_0", "visits_effort_1", "visits_effort_2", "ages", "cities")
    }
    (k_test,) = [node for name, node in nodes.items() if "k_anonymity" in name]
    # No name of a column is in it, so that it is the same test whatever the columns are called.
    assert set(k_test.test_metadata.kwargs) == {"model"}
