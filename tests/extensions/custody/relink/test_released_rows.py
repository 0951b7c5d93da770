"""Input of re-linking is untrusted: it is read, or refused without a value of it."""

from __future__ import annotations

import io
import json

import pytest

from dbt_anonymize.extensions.custody.relink.released_rows import (
    GivenRows,
    RelinkingInputError,
    read_given_rows,
)

PLANTED = "Jane-of-the-test"


def read(content: bytes, column: str = "cqi") -> GivenRows:
    return read_given_rows(io.BytesIO(content), column)


@pytest.mark.parametrize(
    "content",
    [
        b"cqi\na\nb\na\n",
        b"\xef\xbb\xbfcqi\r\na\r\nb\r\na",
        b"\n\nage,cqi,zip\n1,a,2\n\n3,b,4\n5,a,6\n",
        b'"cqi","x"\n"a","1\n2"\nb,\n"a",,\n'.replace(b",,", b","),
        b'{"cqi": "a"}\n{"age": [1], "cqi": "b"}\n\n{"cqi": "a"}\n',
        b'\xef\xbb\xbf {"cqi": "a"}\r\n{"cqi": "b"}\r\n{"cqi": "a"}',
    ],
)
def test_csv_and_json_lines_are_read_alike(content: bytes) -> None:
    assert read(content) == GivenRows(rows=3, values={"a": 2, "b": 1})


def test_the_text_of_a_value_is_kept_as_it_is() -> None:
    hostile = 'n3:*|t2:ä\'; drop table x --, \n"quoted" \\'
    csv_text = 'cqi\n"' + hostile.replace('"', '""') + '"\n'
    assert read(csv_text.encode()).values == {hostile: 1}
    assert read(json.dumps({"cqi": hostile}).encode()).values == {hostile: 1}


def test_rows_without_a_value_count_and_lead_nowhere() -> None:
    assert read(b"a,cqi\n1,\n2,x\n") == GivenRows(2, {"x": 1})
    assert read(b'{"cqi": null}\n{"cqi": ""}\n') == GivenRows(2, {})


def test_the_column_of_the_mapping_is_read() -> None:
    assert read(b"cqi,token\na,b\n", "token").values == {"b": 1}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"", "at least one row", id="nothing"),
        pytest.param(b"\n \r\n", "at least one row", id="blank lines"),
        pytest.param(b"\xef\xbb\xbf", "at least one row", id="a byte order mark alone"),
        pytest.param(b"cqi\n", "at least one row", id="a header alone"),
        pytest.param(b"age;cqi\n1;PLANTED\n", "exactly one column cqi", id="semicolons"),
        pytest.param(b"age\nPLANTED\n", "exactly one column cqi", id="another column"),
        pytest.param(b"PLANTED\n", "exactly one column cqi", id="no header"),
        pytest.param(b"cqi,cqi\nPLANTED,b\n", "exactly one column cqi", id="the column twice"),
        pytest.param(b"a,cqi\n1,x\nPLANTED\n", "line 3: must have as many fields", id="short row"),
        pytest.param(b"cqi\nPLANTED,2\n", "line 2: must have as many fields", id="a long row"),
        pytest.param(b'cqi\n"PLANTED\n', "must be valid CSV", id="an open quote"),
        pytest.param(b'cqi\n"a"PLANTED\n', "must be valid CSV", id="text after a quote"),
        pytest.param(b"cqi\n" + b"a" * 200_000, "must be valid CSV", id="a huge field"),
        pytest.param(b"cqi\n" + b"a," * 600_000, "line 2: must have lines of at", id="a huge line"),
        pytest.param("cqi\nPLANTED\xe4\n".encode("latin-1"), "must be UTF-8", id="Latin-1"),
        pytest.param("cqi\nPLANTED\n".encode("utf-16"), "must be UTF-8", id="UTF-16"),
        pytest.param(b"cqi\nPLANTED\x00\n", "line 2: must be text", id="a NUL"),
        pytest.param(b'{"cqi": "\\ud800PLANTED"}', "line 1: must be text", id="half a character"),
        pytest.param(b'{"cqi": "PLANTED"', "line 1: must be one JSON object", id="cut off"),
        pytest.param(b'{"cqi": "a"}\n["PLANTED"]', "line 2: must be one JSON object", id="a list"),
        pytest.param(b'{"a":' + b"[" * 90_000, "must be one JSON object", id="deep nesting"),
        pytest.param(b'{"token": "PLANTED"}', "line 1: must have cqi", id="another key"),
        pytest.param(b'{"cqi": 12345}', "line 1: must have a text as cqi", id="a number"),
        pytest.param(b'{"cqi": ["PLANTED"]}', "line 1: must have a text as cqi", id="nested"),
    ],
)
def test_what_is_no_released_row_is_refused_without_a_value(content: bytes, says: str) -> None:
    planted = content.replace(b"PLANTED", PLANTED.encode())
    with pytest.raises(RelinkingInputError) as caught:
        read(planted)
    assert says in str(caught.value)
    assert PLANTED not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_request_has_a_limit_of_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbt_anonymize.extensions.custody.relink.released_rows._MOST_VALUES", 3)
    assert len(read(b"cqi\na\nb\nc\na\n").values) == 3
    with pytest.raises(RelinkingInputError, match="at most 3 different cqi"):
        read(b"cqi\na\nb\nc\nd\n")


def test_the_stream_stays_open_for_whoever_gave_it() -> None:
    stream = io.BytesIO(b"cqi\na\n")
    read_given_rows(stream, "cqi")
    assert not stream.closed
