"""Efforts are written into a spec as a small change of its text."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.search.editing import with_efforts, write_efforts
from dbt_anonymize.spec import Effort, load_spec
from dbt_anonymize.spec.efforts import as_yaml
from tests.sampling import examples
from tests.spec.declarations import spec, write_spec

NAMES = ("age", "full name", "größe", "on", "a: b, {c}")
LEVELS = st.fixed_dictionaries({name: st.integers(0, 5) for name in NAMES})
EFFORTS = st.one_of(
    LEVELS.map(lambda levels: Effort(levels=levels)),
    st.builds(lambda levels, k: Effort(levels=levels, k=k), LEVELS, st.integers(2, 99)),
    st.lists(LEVELS, min_size=1, max_size=2).map(
        lambda rounds: Effort(recoding="local", rounds=tuple(rounds))
    ),
)
HEAD = "version: 1  # efforts: none here\n# efforts: []\nfeatures: [age]  # efforts\n"
TAIL = "\n# what a release must keep\nguarantees:  # efforts:\n  - {efforts: [1]}\nalpha: 1"


def layout(draw: st.DrawFn, old: list[dict[str, Any]]) -> str:
    """Write a list of efforts in one of the ways in which people write it."""
    kind = draw(st.sampled_from(["block", "indentless", "open", "flow", "rows", "empty", "null"]))
    if kind in {"empty", "null"} or not old:
        comment = draw(st.sampled_from(["", "  # search"]))
        return f"efforts:{' []' if kind != 'null' else ''}{comment}\n"
    comments = st.sampled_from(["", "  # weak - {age: 9}"])
    one_line = [
        yaml.safe_dump(item, default_flow_style=True, width=10**6, allow_unicode=True)
        for item in old
    ]
    one_line = [line.strip() for line in one_line]
    if kind == "flow":
        return f"efforts: [{', '.join(one_line)}]{draw(comments)}\n"
    if kind == "rows":
        return "efforts: [\n" + "".join(f"  {line},\n" for line in one_line) + "]\n"
    indent = "" if kind == "indentless" else draw(st.sampled_from(["  ", "    "]))
    lines = ["efforts:" + draw(st.sampled_from(["", "  # from weak to strong"]))]
    for item, line in zip(old, one_line, strict=True):
        lines += draw(st.sampled_from([[], ["# - a line"], [f"{indent}# of its own", ""]]))
        if kind == "open":
            rows = yaml.safe_dump(item, width=10**6, allow_unicode=True).strip().split("\n")
            lines += [f"{indent}- {rows[0]}{draw(comments)}"]
            lines += [f"{indent}  {row}" for row in rows[1:]]
        else:
            lines.append(f"{indent}- {line}{draw(comments)}")
    return "\n".join(lines) + "\n"


@st.composite
def specs(draw: st.DrawFn) -> tuple[str, str, str]:
    """Draw what stands before the list, the list (perhaps nothing), and what stands behind it."""
    old = [as_yaml(effort) for effort in draw(st.lists(EFFORTS, max_size=4))]
    listed = layout(draw, old) if draw(st.integers(0, 4)) else ""
    tail = draw(st.sampled_from([TAIL, TAIL + "\n", ""]))
    if not tail and draw(st.booleans()):
        listed = listed.rstrip("\n")
    parts = (HEAD, listed, tail)
    if draw(st.booleans()):
        return tuple(part.replace("\n", "\r\n") for part in parts)  # type: ignore[return-value]
    return parts


@examples(settings(deadline=None, derandomize=True, database=None), 200)
@given(
    parts=specs(),
    efforts=st.lists(EFFORTS, min_size=1, max_size=5),
    reason=st.sampled_from([None, "keeps age: by 10", "gives up `a`,\n  - {b: 1} # zip"]),
)
def test_everything_but_the_list_stays_byte_for_byte(
    parts: tuple[str, str, str], efforts: list[Effort], reason: str | None
) -> None:
    head, listed, tail = parts
    reasons = [] if reason is None else [reason] * len(efforts)
    edited = with_efforts("".join(parts), efforts, reasons)
    assert edited.startswith(head)
    assert edited.endswith(tail)
    assert yaml.safe_load(edited)["efforts"] == [as_yaml(effort) for effort in efforts]
    own_lines = [line for line in listed.splitlines() if line.strip().startswith("#")]
    assert [line for line in edited[len(head) :].splitlines() if line in own_lines] == own_lines
    assert ("\r\n" in edited) == ("\r\n" in head)
    assert edited.count("\r") in {0, edited.count("\n")}
    if listed.startswith(("efforts: [{", "efforts: [\n")):
        assert edited[len(head) :].startswith(listed[: listed.index("{")])
    if listed.rstrip().endswith("# search"):
        assert "# search" in edited[len(head) :]
    # Doing it again changes nothing.
    assert with_efforts(edited, efforts) == with_efforts(edited, efforts, reasons) == edited


def test_efforts_that_stay_keep_their_comments_and_others_lose_them() -> None:
    text = (
        "features: [age]\n"
        "efforts:\n"
        "  - {age: 1}  # decades\n"
        "  # from here on safe\n"
        "  - age: 2  # halves\n"
        "    k: 9\n"
        "alpha: 1\n"
    )
    before = [Effort(levels={"age": 1}), Effort(levels={"age": 2}), Effort(levels={"age": 3}, k=7)]
    edited = with_efforts(text, before)
    changes = [
        line for line in difflib.ndiff(text.splitlines(), edited.splitlines()) if line[0] in "+-"
    ]
    assert changes == [
        "-   - age: 2  # halves",
        "-     k: 9",
        "+   - {age: 2}",
        "+   - {levels: {age: 3}, k: 7}",
    ]


def test_a_reason_shows_control_characters_of_names() -> None:
    text, effort = "efforts:\n  - {age: 1}\n", Effort(levels={"age": 2})
    assert r"# gives up \x07bell" in with_efforts(text, [effort], ["gives up \x07bell"])


def test_new_efforts_are_written_with_their_reasons() -> None:
    efforts = [Effort(levels={"age": 1}), Effort(levels={"age": 2}, k=9)]
    reasons = ["keeps age by 5", "gives up age, which adds less than 0.002"]
    expected = (
        "features: [age]\nefforts:\n  - {age: 1}  # known\n"
        "  - {levels: {age: 2}, k: 9}  # gives up age, which adds less than 0.002\n"
    )
    text = "features: [age]\nefforts:\n  - {age: 1}  # known\n"
    assert with_efforts(text, efforts, reasons) == expected
    text = "features: [age]\n"
    assert with_efforts(text, efforts, reasons) == expected.replace("known", reasons[0])
    text = "features: [age]\nefforts: [{age: 3}]\n"
    assert "#" not in with_efforts(text, efforts, reasons)


def test_a_list_of_open_mappings_gets_open_mappings() -> None:
    text = "features: [age]\nefforts:\n- age: 1\n  zip: 1\nalpha: 1\n"
    effort = Effort(levels={"age": 2, "zip": 0}, k=3)
    assert with_efforts(text, [effort]) == (
        "features: [age]\nefforts:\n- levels: {age: 2, zip: 0}\n  k: 3\nalpha: 1\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "features: [age]\nefforts: [&weak {age: 1}]\nrelease: {effort: *weak}\n",
        "old: &old [{age: 1}]\nfeatures: [age]\nefforts: *old\n",
    ],
)
def test_what_other_lines_need_is_refused_with_the_lines_to_write(text: str) -> None:
    with pytest.raises(SpecError, match=r"anchors.*\nefforts:\n  - \{age: 2\}$"):
        with_efforts(text, [Effort(levels={"age": 2})])


def test_a_file_is_replaced_only_by_a_sound_one(tmp_path: Path) -> None:
    path = write_spec(tmp_path, spec())
    path.chmod(0o640)
    before = path.read_bytes()
    two = [Effort(levels={"age": 1, "city": 1}), Effort(levels={"age": 3, "city": 1})]
    with pytest.raises(SpecError, match=r"visits.yml: efforts.1: must .*city"):
        write_efforts(path, [Effort(levels={"age": 1})])
    assert path.read_bytes() == before
    write_efforts(path, two)
    assert [effort.levels for effort in load_spec(path).efforts] == [
        effort.levels for effort in two
    ]
    assert path.stat().st_mode & 0o777 == 0o640
    assert [found.name for found in path.parent.iterdir()] == ["visits.yml"]


def test_a_file_that_is_not_sound_is_left_alone(tmp_path: Path) -> None:
    path = write_spec(tmp_path, spec(alpha=-1))
    before = path.read_bytes()
    with pytest.raises(SpecError, match="alpha"):
        write_efforts(path, [Effort(levels={"age": 1, "city": 1})])
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("released", "found", "expected"),
    [
        (2, [{"age": 1}, {"age": 2}], 2),
        (2, [{"age": 2}, {"age": 3}], 1),
        (2, [{"age": 3}], "auto"),
        (1, [{"age": 2}, {"age": 1}], 2),
        ("auto", [{"age": 3}], "auto"),
    ],
)
def test_the_number_of_the_released_effort_stays_with_it(
    tmp_path: Path, released: object, found: list[dict[str, int]], expected: object
) -> None:
    """Another effort under the same number would be published without a word."""
    city = {"city": 0}
    efforts = [{"age": 1, **city}, {"age": 2, **city}]
    path = write_spec(tmp_path, spec(efforts=efforts, release={"effort": released}))
    write_efforts(path, [Effort(levels={**one, **city}) for one in found])
    assert load_spec(path).release.effort == expected
