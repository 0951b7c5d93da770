"""Additions to a YAML file leave everything else as it is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.errors import ProjectError
from dbt_anonymize.spec.yaml_text import add_key, append_item, insert_item, replace_value, set_value
from tests.projects import CONSUMER_PROJECT, REPOSITORY
from tests.sampling import examples

WORDS = st.sampled_from(["a", "shop", "two words", "no", "1", "{{ x }}", "größe"])
CONTENT = st.dictionaries(
    st.sampled_from(["x", "y", "z"]),
    st.one_of(
        WORDS,
        st.integers(),
        st.lists(st.one_of(WORDS, st.dictionaries(WORDS, WORDS, max_size=2)), max_size=3),
        st.dictionaries(WORDS, st.one_of(WORDS, st.lists(WORDS, max_size=2)), max_size=3),
    ),
    max_size=3,
)


@given(content=CONTENT, is_flow=st.booleans())
@settings(examples(settings(deadline=None), 200))
def test_a_key_is_added_to_any_file(content: dict[str, object], is_flow: bool) -> None:
    text = yaml.safe_dump(content, default_flow_style=is_flow, allow_unicode=True)
    assert yaml.safe_load(add_key(text, ["new", "below"], [1])) == content | {"new": {"below": [1]}}


@given(content=CONTENT.filter(lambda c: isinstance(c.get("x"), list)), is_flow=st.booleans())
@settings(examples(settings(deadline=None), 100))
def test_an_item_is_added_to_any_list(content: dict[str, list[object]], is_flow: bool) -> None:
    text = yaml.safe_dump(content, default_flow_style=is_flow, allow_unicode=True)
    expected = {**content, "x": [*content["x"], {"local": "p"}]}
    assert yaml.safe_load(append_item(text, ["x"], {"local": "p"})) == expected


@pytest.mark.parametrize(
    ("text", "path", "after"),
    [
        ("", ["a"], "a:\n  - 1\n"),
        ("# only words\n", ["a"], "# only words\na:\n  - 1\n"),
        ("a:\nb: 2\n", ["a"], "a:\n  - 1\nb: 2\n"),
        ("a: [2]  # why\n", ["a"], "a: [2, 1]  # why\n"),
        ("a: []\n", ["a"], "a: [1]\n"),
        ("a:\n  # first\n  - 2  # why\n\n# next\nb: 3\n", ["a"], None),
        ("a:\n- 2", ["a"], "a:\n- 2\n- 1\n"),
        ("a:\r\n- 2\r\n", ["a"], None),
        ("a:\n- |\n  text\n\n# next\nb: 1\n", ["a"], None),
        ("x: {a: [2], b: {}}\n", ["x", "a"], "x: {a: [2, 1], b: {}}\n"),
    ],
)
def test_comments_and_style_stay(text: str, path: list[str], after: str | None) -> None:
    edited = append_item(text, path, 1)
    assert after is None or edited == after
    assert all(line in edited for line in text.splitlines() if line.strip().startswith("#"))


def test_what_is_in_the_way_is_named_with_the_lines_to_write() -> None:
    with pytest.raises(ProjectError, match=r"Write by hand, under a:\nlocal: p"):
        append_item("a: words\n", ["a"], {"local": "p"})
    with pytest.raises(ProjectError, match="must be plain YAML"):
        add_key("a: words\n", ["a", "b"], 1)
    with pytest.raises(ProjectError, match="must be plain YAML"):
        add_key("a: &x {}\nb: *x\n", ["a", "c"], 1)
    with pytest.raises(ProjectError, match="must be valid YAML; there is an error in line 2"):
        add_key("a: [\nb: }\n", ["a"], 1)


def test_scalars_are_replaced_and_inserted_where_they_are() -> None:
    block = "dispatch:\n  - search_order:\n    - shop  # first\n    - dbt\n"
    assert insert_item(block, ["dispatch", 0, "search_order"], 1, "ours") == block.replace(
        "    - dbt", "    - ours\n    - dbt"
    )
    assert replace_value("a: {b: 'c'}  # why\n", ["a", "b"], "yes") == "a: {b: 'yes'}  # why\n"


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("name: a\n", "name: a\nfreeze: true\n"),
        ("name: a", "name: a\nfreeze: true\n"),
        ("name: a\r\n# why\r\n", "name: a\r\nfreeze: true\r\n# why\r\n"),
        ("freeze: false  # not yet\n", "freeze: true  # not yet\n"),
        ("freeze:\nname: a\n", "freeze: true\nname: a\n"),
        ("{name: a, freeze: false}\n", "{name: a, freeze: true}\n"),
    ],
)
def test_a_value_is_set_whether_or_not_there_is_one(text: str, after: str) -> None:
    assert set_value(text, ["freeze"], True) == after


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: set_value(text, ["release", "effort"], 2),
        lambda text: insert_item(text, ["release", "formats"], 0, "csv"),
    ],
)
def test_what_an_alias_repeats_is_not_changed_in_both_places(edit: Callable[[str], str]) -> None:
    with pytest.raises(ProjectError, match="something is in the way"):
        edit("x: &a {effort: 1, formats: [duckdb]}\nrelease: *a\n")


# What a round trip through a parser and a writer would change.
FORMATS = {
    "aligned": "name:      shop\nversion:   1  # ours\n",
    "anchors": "a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}\n",
    "byte order mark": "\ufeffa: 1\n",
    "comments": "a:\n      # far\n  - 1\n    # deep\n\n\n  - 2\nb: 1 # near\n\n# end\n",
    "directive": "%YAML 1.1\n---\na: 010\n",
    "empty": "a: { }\nb: [ ]\n",
    "explicit": "? a\n: 1\n",
    "flow": "release: { effort: auto, formats: [ duckdb , csv ] }  # ours\n",
    "folded": "a: some words\n  that go on\nb: 'more\n  words'\nc: >-\n    and\n\n    more\n",
    "literal": "a: |\n    four\n      six\n",
    "long": f"a: {'word ' * 60}\nb: [{', '.join(['word'] * 60)}]\n",
    "nested": "a:\n  -   b: 1\n      c: 2\n  - - 1\n    - 2\n",
    "numbers": "a: 010\nb: 0x1F\nc: 1_000\nd: +1\ne: 1.50\nf: 1:30\n",
    "of two minds": "a:\n  - 1\nb:\n- 2\nc:\n    d:\n      e: 3\nf:\n  - 4\n",
    "over lines": "features: [\n  age,   # first\n  zip\n]\n",
    "quotes": "a: \"y\\u00e9\\t\"\n\"b\" : 'it''s'\n",
    "times": "a: 2001-12-14t21:59:43.10-05:00\n",
    "trailing": "a: 1  \nb : 2\n",
    "twice": "a: 1\na: 2\n",
    "unicode": 'größe: "\\u00e4😀"\n',
    "words": "a: yes\nb: ~\nc: Null\nd:\ne: TRUE\n",
}
FILES = [
    path
    for folder in (REPOSITORY, CONSUMER_PROJECT)
    for path in sorted([*folder.glob("*.yml"), *folder.glob("anonymizations/*.yml")])
]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "text",
    [*FORMATS.values(), *(path.read_text("utf-8") for path in FILES)],
    ids=[*FORMATS, *(str(path.relative_to(REPOSITORY)) for path in FILES)],
)
def test_of_whatever_format_every_byte_stays(text: str, end: str) -> None:
    text = text.replace("\n", end)
    new = f"added_here: true{end}"
    assert set_value(text, ["added_here"], True).replace(new, "") == text


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", sorted({*FORMATS} - {"literal"}))
def test_a_last_line_without_an_end_is_ended_like_the_others(name: str, end: str) -> None:
    text = FORMATS[name].replace("\n", end).rstrip()
    edited = set_value(text, ["added_here"], True)
    known = end if end in text else "\n"
    assert edited.replace(f"added_here: true{known}", "").removesuffix(known) == text


def test_text_that_another_end_would_change_is_left_alone() -> None:
    with pytest.raises(ProjectError, match="something is in the way"):
        set_value("a: |\n  without an end", ["b"], True)
