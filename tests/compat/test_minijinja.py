"""MiniJinja, the template engine of dbt 2, reads all that we ship and generate."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import jinja2
import pytest
from minijinja import Environment, TemplateError

from dbt_anonymize.project.generate import render, render_history
from dbt_anonymize.project.templating import environment
from dbt_anonymize.relations import MODELS
from dbt_anonymize.spec import Spec
from tests.extensions import in_parts, of_extensions
from tests.projects import CONSUMER_PROJECT, REPOSITORY
from tests.spec.declarations import SPEC, rich, spec

# What dbt documents of these objects, or calls in its own materializations and seeds, which dbt 2
# has too; what an adapter of dbt 1 offers beside that is unknown there.
KNOWN = {
    "adapter": {
        *("dispatch", "quote", "type", "get_relation", "get_columns_in_relation", "create_schema"),
        *("drop_relation", "rename_relation", "commit", "add_query", "convert_type"),
        "get_seed_file_path",
    },
    "modules.re": {"match", "fullmatch", "search", "findall", "split", "sub"},
    "flags": {"WHICH", "EMPTY", "FULL_REFRESH", "FAVOR_STATE"},
    "exceptions": {"raise_compiler_error", "warn"},
    "api": {"Relation", "Column"},
}
# Tags of dbt alone; what stands within is read as in a macro.
TEST = re.compile(r"\{%(-?)\s*(end)?test\b")
MATERIALIZATION = re.compile(r"\{%(-?)\s*materialization\s+(\w+)\s*,.*?(-?)%\}")
END_OF_MATERIALIZATION = re.compile(r"\{%(-?)\s*endmaterialization\b")

FILES = sorted(
    path.relative_to(REPOSITORY)
    for folder in ("macros", "models", CONSUMER_PROJECT / "models")
    for path in (REPOSITORY / folder).rglob("*.sql")
)
REPORTED = {"fit": "per_split", "outer_share": 0.2}
# Where the extension is here.
MEASURED = {"fidelity": {"pairs": 3}} if "fidelity" in Spec.model_fields else {}
FROZEN = {"freeze": True, "release": {"effort": 1, "joiners": "wait"}}
# Between them they say everything that a spec can say, with Python models and without.
SPECS = (
    SPEC,
    rich(),
    spec(mapping="token", sample={"share": 0.5}),
    spec(quality=SPEC["quality"] | REPORTED, **in_parts("city"), **MEASURED),
    *([spec(efforts=SPEC["efforts"][:1], **FROZEN)] if "freeze" in Spec.model_fields else []),
    *(one for module in of_extensions("specs") for one in module.SPECS),
)


@functools.cache
def rendered(number: int, *, has_python: bool) -> dict[str, str]:
    """Return the SQL of the models of a spec."""
    models = render(Spec.model_validate(SPECS[number]), has_python=has_python)
    return {name: text for name, text in models.items() if name.endswith(".sql")}


def parse(text: str, name: str = "template") -> None:
    """Parse a template; an error of MiniJinja names line and construct."""
    text = TEST.sub(r"{%\1 \2macro", text)
    text = MATERIALIZATION.sub(r"{%\1 macro \2() \3%}", text)
    text = END_OF_MATERIALIZATION.sub(r"{%\1 endmacro", text)
    Environment().add_template(name, text)


@pytest.mark.parametrize("path", FILES, ids=str)
def test_every_file_is_read(path: Path) -> None:
    parse((REPOSITORY / path).read_text(encoding="utf-8"))


@pytest.mark.parametrize("has_python", [True, False])
@pytest.mark.parametrize("number", range(len(SPECS)))
def test_every_model_that_is_generated_is_read(number: int, has_python: bool) -> None:
    for name, text in rendered(number, has_python=has_python).items():
        parse(text, name)


@pytest.mark.parametrize("name", KNOWN)
def test_macros_use_what_every_dbt_has(name: str) -> None:
    pattern = re.compile(rf"(?<![\w.]){re.escape(name)}\.(\w+)")
    texts = [(REPOSITORY / path).read_text(encoding="utf-8") for path in FILES]
    assert {found for text in texts for found in pattern.findall(text)} <= KNOWN[name]
    assert any(pattern.search(text) for text in texts)


def test_every_template_is_among_them() -> None:
    found = {
        re.sub(r"^[a-z]+_|_\d(?=\.sql)", "", name)
        for number in range(len(SPECS))
        for has_python in (True, False)
        for name in rendered(number, has_python=has_python)
    }
    listed = environment().list_templates()
    # Some relations have a model for each of several names.
    several = [name for name, one in MODELS.items() if one.each]
    found |= {f"{one}.sql" for one in several if any(name.startswith(f"{one}_") for name in found)}
    models = {name.removesuffix(".j2") for name in listed if re.match(r"[^_].*\.sql\.j2", name)}
    assert len(models) > 15
    # The model of each step of Python where a command writes its rows.
    assert found >= {"evaluation.sql", "outer_quality.sql"}
    assert found | set(render_history(["visits"])) | {"rows_of_command.sql"} >= models
    assert len([path for path in FILES if path.parts[0] == "macros"]) > 100


@pytest.mark.parametrize(
    "text",
    [
        "{% test named(model) %}{{ model[1:2, 3] }}{% endtest %}",
        "{%- materialization named, default -%}{{ model[1:2, 3] }}{%- endmaterialization -%}",
        "{{ model[1:2, 3] }}",
    ],
)
def test_what_only_jinja_reads_is_found(text: str) -> None:
    parse(text.replace(", 3", ""))
    jinja2.Environment().parse("{{ model[1:2, 3] }}")  # noqa: S701
    with pytest.raises(TemplateError, match="unexpected `,`"):
        parse(text)
