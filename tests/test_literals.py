"""Literals of generated files read back as the value they came from."""

from __future__ import annotations

import ast
from typing import Any

import jinja2
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dbt_anonymize import literals

HOSTILE = [
    "it's",
    'say "hi"',
    "back\\slash",
    "ends with \\",
    "two\nlines",
    "carriage\r\nreturn",
    "tab\t",
    "{{ ref('x') }}",
    "{% raw %}",
    "{# comment #}",
    "}}",
    "#}",
    "%}",
    "\\x7b",
    "größe",
    "年齢",
    "\U0001f468‍\U0001f469",
    "line\u2028separator\x85",
    "\x00\x7f",
    "select",
    "null",
    "yes",
    "1",
    "- x",
    "# x",
    "a: b",
    " spaces ",
    "x" * 200,
    "",
]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(HOSTILE)
SCALARS = TEXTS | st.booleans() | st.none() | st.integers() | st.floats(allow_nan=False, width=32)
VALUES = st.recursive(
    SCALARS.filter(lambda value: value not in {float("inf"), float("-inf")}),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def read_by_jinja(literal: str) -> Any:
    """Return the value of a literal that stands in a call, as in a model."""
    received: list[Any] = []
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)  # noqa: S701
    template = environment.from_string(f"{{{{ macro(\n    argument={literal},\n) }}}}")
    template.render(macro=lambda argument: received.append(argument) or "")
    return received[0]


def read_by_dbt(text: str) -> Any:
    """Return what dbt makes of a YAML scalar: it renders strings that look like Jinja."""
    from dbt.clients.jinja import get_rendered

    return get_rendered(yaml.safe_load(f"key: {text}")["key"], {})


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_reads_back_from_every_kind_of_file(text: str) -> None:
    assert read_by_jinja(literals.jinja(text)) == text
    assert ast.literal_eval(literals.python(text)) == text
    assert read_by_dbt(literals.yaml_text(text)) == text
    assert yaml.safe_load(literals.plain_yaml_text(text)) == text
    assert yaml.safe_load(f"{literals.plain_yaml_text(text)}: 1") == {text: 1}


@given(VALUES)
def test_any_value_reads_back_from_jinja_and_python(value: Any) -> None:
    assert read_by_jinja(literals.jinja(value)) == value
    assert ast.literal_eval(literals.python(value)) == value


@given(TEXTS)
def test_any_text_reads_back_from_yaml(text: str) -> None:
    assert read_by_dbt(literals.yaml_text(text)) == text


@given(TEXTS)
def test_no_literal_holds_a_brace_or_a_second_line(text: str) -> None:
    for literal in (literals.jinja(text), literals.python(text)):
        assert "{" not in literal
        assert "}" not in literal
        assert len(literal.splitlines()) == 1


def test_what_has_no_literal_is_refused() -> None:
    with pytest.raises(TypeError, match="must be a scalar, list or mapping; got object"):
        literals.jinja(object())
