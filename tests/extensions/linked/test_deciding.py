"""Decisions on linked records of an effort, by hand."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from dbt_anonymize.extensions.linked.suppression import deciding
from dbt_anonymize.extensions.linked.suppression.kernel import Suppression
from dbt_anonymize.extensions.linked.suppression.records import LinkError, Links, random_keys
from dbt_anonymize.extensions.linked.suppression.sensitive import Sensitive
from tests import sampling
from tests.extensions.linked.test_joined_risk import Rows

TABLES = {"stays": "subjects", "results": "stays"}
KNOWN: list[tuple[int | str, bool]] = [(1, False), (2, False), (3, False), ("all", False)]
KNOWN += [(1, True), (2, True), (3, True), ("all", True)]


def decide(effort: Rows, values: Rows, key: str = "bigint", **more: Any) -> pd.DataFrame:
    """Return the decisions about records of subjects: key, class, whether she is suppressed."""
    text = "varchar"
    with duckdb.connect() as connection:
        columns = {"person": key, "equivalence_class": text, "is_suppressed": "boolean"}
        columns |= dict.fromkeys(more.get("sensitive", ()), text)
        _load(connection, "effort", columns, effort)
        names = ["linked_table", "record", "parent", "value", "raised_value"]
        names += ["sensitive_1"] if more.get("l") else []
        # Without labels one level up nothing is raised.
        rows = [(*row[:4], row[4] if len(row) > 4 else row[3], *row[5:]) for row in values]
        _load(connection, "linked_values", dict.fromkeys(names, text), rows)
        return deciding.decide(given(connection, **more))


def _load(
    connection: duckdb.DuckDBPyConnection, table: str, columns: dict[str, str], rows: Rows
) -> None:
    declared = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    connection.execute(f"create table {table} ({declared})")
    if rows:
        row = f"({', '.join('?' * len(columns))})"
        marks = ", ".join([row] * len(rows))
        values = [value for row in rows for value in row]
        connection.execute(f"insert into {table} values {marks}", values)


def given(connection: duckdb.DuckDBPyConnection, **more: Any) -> dict[str, Any]:
    """Return the argument of the function, as a generated model has it."""
    return {
        "effort": connection.table("effort"),
        "values": connection.table("linked_values"),
        "record_key": "person",
        "tables": TABLES,
        "k": 2,
        "known_records": 2,
        "known_count": False,
        **more,
    }


def decided(*wards: str, k: int = 2, up: str = "", **more: Any) -> list[str]:
    """Return the letter of each stay of people of one class, `*` if hidden, `-` if left out.

    Letters of ``up`` have the same label one level up: a raised stay is a capital letter.
    """
    effort: Rows = [(person, "old", False) for person in range(len(wards))]
    owned = [(person, ward) for person, own in enumerate(wards) for ward in own]
    values: Rows = [
        ("stays", str(10 + n), str(p), ward, "up" if ward in up else ward)
        for n, (p, ward) in enumerate(owned)
    ]
    status = decide(effort, values, k=k, **more)["status"]
    shown = ["" for _ in wards]
    for (person, ward), kept in zip(owned, status, strict=True):
        letters = {"released": ward, "raised": ward.upper(), "hidden": "*", "left out": "-"}
        shown[person] += letters[kept]
    return shown


def test_rare_numbers_of_records_cost_all_of_them() -> None:
    """Two people without records match each other."""
    assert decided("aa", "a", "a", "", "", known_count=True) == ["--", "a", "a", "", ""]


def test_who_has_the_fewest_records_joins_those_without() -> None:
    """Of the two with one record the first goes; then the other has a rare number."""
    wards = ["aaaa", "aaa", "aaa", "a", "a", "a"]
    assert decided(*wards, known_count=True) == ["----", "aaa", "aaa", "-", "a", "a"]
    wards = ["aaaa", "aaa", "aaa", "a", "a"]
    assert decided(*wards, known_count=True) == ["----", "aaa", "aaa", "-", "-"]


def test_one_without_records_is_kept() -> None:
    assert decided("aa", "aa", "aa", "", known_count=True) == ["--", "aa", "aa", ""]
    assert decided("aa", "aa", "aa", "", known_records="all") == ["--", "aa", "aa", ""]
    assert decided("aa", "bb", "", known_records="all") == ["--", "--", ""]
    assert decided("aa", "aa", "", k=3, known_records="all") == ["--", "--", ""]


def test_those_who_lose_theirs_anyway_join_those_without_first() -> None:
    """The third has a rare list; once it is empty nobody else need lose one."""
    wards = ["aa", "aa", "b", ""]
    assert decided(*wards, known_records="all") == ["aa", "aa", "-", ""]
    assert decided(*wards, known_count=True) == ["aa", "aa", "-", ""]


def test_values_are_hidden_before_records_are_left_out() -> None:
    wards = ["a", "a", "b", "c"]
    assert decided(*wards, known_count=True) == ["a", "a", "*", "*"]
    assert decided(*wards, known_records="all") == ["a", "a", "*", "*"]


def test_records_go_one_level_up_before_they_are_hidden() -> None:
    """Each ward is of one person, both of a group are of two."""
    wards = ["a", "a", "b", "c"]
    for rule in ({}, {"known_count": True}, {"known_records": "all"}):
        assert decided(*wards, **rule) == ["a", "a", "*", "*"]
        assert decided(*wards, up="bc", **rule) == ["a", "a", "B", "C"]


def test_a_record_that_would_be_rare_one_level_up_is_hidden_at_once() -> None:
    assert decided("a", "a", "b", "c", up="bx") == ["a", "a", "*", "*"]
    assert decided("a", "a", "b", "c", "d", "d", up="bcd") == ["a", "a", "B", "C", "d", "d"]


def test_a_record_that_went_up_may_tell_which_label_it_had() -> None:
    """As the page says: had she another label, k would match it and it would not go up."""
    others = ("aa", "ab", "ab", "bb")
    for last, shown in (("c", "C"), ("a", "a"), ("b", "b")):
        assert decided(*others, last, up="abc")[-1] == shown
    assert decided(*others, "c", up="abc") == ["AA", "ab", "ab", "BB", "C"]


def test_a_record_that_is_left_out_may_hold_what_nobody_else_does() -> None:
    """It is there again, and left out again, where others go one level up."""
    for number in range(40):
        rng = np.random.default_rng([91, number])
        own = np.arange(6) % 2
        subject = np.sort(np.repeat(np.arange(6), rng.integers(0, 4, 6)))
        records = len(subject)
        value, held = rng.integers(1, 4, records), rng.integers(0, 5, records)
        up = np.where(rng.random(records) < 0.7, 4, 0)
        zeros = np.zeros(records, dtype=np.int64)
        links = Links(own, subject, zeros, value, up, zeros - 1)
        sensitive = Sensitive(2, subject, np.arange(records), held)
        suppression = Suppression(links, 2, 1, known_count=False, sensitive=sensitive)
        suppression.run()
        holders = {(subject[n], held[n]) for n in np.flatnonzero(suppression.status < 3)}
        of_class = [(own[person], code) for person, code in holders]
        assert all(2 * of_class.count(one) <= 3 for one in of_class)


def test_none_goes_up_in_a_class_that_would_lose_more() -> None:
    """With labels one level up more pairs are rare here."""
    wards = ["ab", "d", "ac", "bb"]
    assert decided(*wards) == ["*b", "*", "*-", "b*"]
    assert decided(*wards, up="bcd") == ["*b", "*", "*-", "b*"]


def test_a_record_one_level_up_is_as_one_that_is_hidden_where_all_labels_are_roots() -> None:
    """It is hidden at once, and matches what shows nothing at the level of the effort."""
    effort: Rows = [(n, "old", False) for n in range(3)]
    values: Rows = [("stays", "0", "0", None), ("stays", "1", "1", "a", None)]
    values.append(("stays", "2", "2", "b", "b"))
    assert decide(effort, values)["status"].tolist() == ["released", "hidden", "hidden"]


def test_a_value_that_those_without_records_share_costs_others_theirs() -> None:
    """Three without records have the same illness, and all records are known."""
    effort: Rows = [(n, "old", False, "flu" if n < 3 else f"cold {n}") for n in range(6)]
    values: Rows = [("stays", str(n), str(n), "a", "a", None) for n in range(3, 6)]
    rule = {"known_records": "all", "l": 2, "sensitive": ["illness"]}
    assert decide(effort, values, **rule)["status"].tolist() == ["left out"] * 3
    assert decide(effort, [], **rule)["status"].tolist() == []


@pytest.mark.parametrize("known", [1, "all"])
def test_what_known_numbers_tell_costs_the_fewest_people_their_records(known: int | str) -> None:
    """Two of the three with two stays have the flu, and so have two of the four with one."""
    ill = ["flu", "flu", "cold 0", "flu", "flu", "cold 1", "cold 2", "cold 3", "cold 4"]
    effort: Rows = [(n, "old", False, illness) for n, illness in enumerate(ill)]
    numbers = [2, 2, 2, 1, 1, 1, 1, 0, 0]
    values: Rows = [
        ("stays", f"{n}{place}", str(n), "a", "a", None)
        for n, number in enumerate(numbers)
        for place in range(number)
    ]
    rule = {"known_records": known, "known_count": True, "l": 2, "sensitive": ["illness"]}
    decided = decide(effort, values, **rule)
    lost = decided.loc[decided["status"] == "left out", "record"].tolist()
    assert lost == ["00", "01"]
    assert {*decided["status"]} == {"released", "left out"}


def test_a_value_of_records_that_their_number_tells_is_left_out() -> None:
    """Two of the three with two stays have the diagnosis a: the first has one stay from then on."""
    effort: Rows = [(n, "old", False, f"ill {n}") for n in range(5)]
    held = ["ab", "ac", "de", "f", "g"]
    values: Rows = [
        ("stays", f"{n}{diagnosis}", str(n), "a", "a", diagnosis)
        for n, diagnoses in enumerate(held)
        for diagnosis in diagnoses
    ]
    rule = {"known_records": 1, "known_count": True, "l": 2, "sensitive": ["illness"]}
    decided = decide(effort, values, **rule)
    assert decided["status"].tolist() == ["left out"] + ["released"] * 7


def test_hidden_records_that_tell_a_value_hide_those_of_others() -> None:
    """All have one stay: those in b share the illness, so that two of the others hide theirs."""
    ill = ["flu", "flu", "cold 0", "cold 1", "cold 2", "cold 3"]
    effort: Rows = [(n, "old", False, illness) for n, illness in enumerate(ill)]
    values: Rows = [
        ("stays", str(n), str(n), "b" if n < 2 else "a", "b" if n < 2 else "a", None)
        for n in range(6)
    ]
    rule = {"known_records": 1, "known_count": True, "l": 2, "sensitive": ["illness"]}
    assert decide(effort, values, **rule)["status"].tolist() == ["hidden"] * 4 + ["released"] * 2


def test_known_numbers_leave_out_no_record_that_can_be_hidden() -> None:
    """Two who are hidden match each other, also where only one was rare."""
    wards = ["ab", "ab", "ac", "", ""]
    assert decided(*wards, known_count=True) == ["**", "**", "**", "", ""]
    wards = ["aa", "aa", "aa", "aa", "bb"]
    for known in (1, 2, "all"):
        shown = decided(*wards, known_count=True, known_records=known)
        assert shown == ["**", "aa", "aa", "aa", "**"], known


def test_known_numbers_hide_what_a_hidden_record_leads_over() -> None:
    """The last result is hidden first, then its stay and the records of somebody else."""
    effort: Rows = [(n, "old", False) for n in range(4)]
    values: Rows = [("stays", str(n), str(n), "a") for n in range(4)]
    values += [("results", str(n), str(n), "y" if n == 3 else "x") for n in range(4)]
    status = decide(effort, values, known_records=1, known_count=True)["status"]
    assert status.tolist() == ["hidden", "released", "released", "hidden"] * 2


def test_a_hidden_stay_beside_a_hidden_result_of_a_visible_stay() -> None:
    """The stay of the last result is hidden: others who hide all cannot match it."""
    effort: Rows = [(n, "old", False) for n in range(9)]
    values: Rows = []
    for n in range(9):
        wards = "bz" if n in (7, 8) else "ab"
        values += [("stays", f"{n}{place}", str(n), ward) for place, ward in enumerate(wards)]
        values.append(("results", str(n), f"{n}{0 if n == 8 else 1}", "y" if n == 8 else "x"))
    decisions = decide(effort, values, k=3, known_count=True)
    assert "left out" not in {*decisions["status"]}


def test_classes_do_not_help_each_other() -> None:
    effort: Rows = [(n, "old" if n < 2 else "young", False) for n in range(4)]
    values: Rows = [("stays", str(n), str(n), "a") for n in (0, 2, 3)]
    assert decide(effort, values)["status"].tolist() == ["left out", "released", "released"]


def test_suppressed_subjects_and_what_leads_over_their_records_take_no_part() -> None:
    """Nobody is matched by their records, and nothing is decided about these."""
    effort: Rows = [(1, "old", False), (2, "old", False), (3, "old", True), (4, "old", None)]
    values: Rows = [("stays", str(10 + n), str(n), "b" if n > 2 else "a") for n in range(1, 5)]
    values += [("results", "r", "11", "x"), ("results", "s", "12", "x"), ("results", "t", "13", "")]
    decisions = decide(effort, values)
    assert decisions["record"].tolist() == ["11", "12", "r", "s"]
    assert {*decisions["status"]} == {"released"}
    values += [("stays", "20", "1", "b")]
    assert decide(effort, values)["status"].value_counts().to_dict() == {
        "released": 4,
        "left out": 1,
    }


@pytest.mark.parametrize(
    ("key", "keys"),
    [
        ("integer", [1, -20, 300]),
        ("varchar", ["a", "A", "ä"]),
        ("varchar", ["1", "01", " 1"]),
        ("decimal(9, 2)", ["1.50", "2.00", "3.25"]),
        ("date", ["2026-01-01", "2026-01-02", "2026-01-03"]),
    ],
)
def test_keys_are_compared_as_text(key: str, keys: list[Any]) -> None:
    """The database writes the keys of subjects as the relation of the records has them."""
    effort: Rows = [(one, "old", False) for one in keys]
    values: Rows = [("stays", str(one), str(one), "a") for one in keys]
    values += [("results", str(one), str(one), "x") for one in keys]
    decisions = decide(effort, values, key, k=3)
    assert decisions["status"].tolist() == ["released"] * 6
    assert sorted(decisions["record"]) == sorted([*map(str, keys)] * 2)


def test_a_collation_makes_nothing_equal() -> None:
    with duckdb.connect() as connection:
        connection.execute("set default_collation = 'nocase'")
        connection.execute(
            "create table effort as select * from (values ('a', 'old', false), ('A', 'old', false),"
            " ('b', 'OLD', false), ('c', 'OLD', false)) as t(id, equivalence_class, is_suppressed)"
        )
        connection.execute(
            "create table linked_values as select *, value as raised_value from "
            "(values ('stays', 'x', 'a', 'v'), "
            "('stays', 'X', 'A', 'V')) as t(linked_table, record, parent, value)"
        )
        decisions = deciding.decide(given(connection, record_key="id", known_records=1))
    assert decisions["status"].tolist() == ["hidden", "hidden"]


def test_equal_input_in_any_order_is_decided_alike() -> None:
    rng = np.random.default_rng(sampling.SEED)
    effort: Rows = [(n, "old", False) for n in range(100)]
    values: Rows = [
        ("stays", str(n), str(rng.integers(100)), "abcdefg"[rng.integers(7)]) for n in range(250)
    ]
    first = decide(effort, values, k=5)
    rng.shuffle(effort)
    rng.shuffle(values)
    second = decide(effort, values, k=5)
    assert first.drop(columns="released_key").equals(second.drop(columns="released_key"))
    assert set(first["status"]) > {"released"}
    assert not {*first["released_key"].dropna()} & {*second["released_key"].dropna()}
    assert first["released_key"].dropna().is_unique
    assert first["released_key"].isna().tolist() == (first["status"] == "left out").tolist()


OLD: Rows = [(1, "old", False), (2, "old", False), (3, "old", True)]
A: Rows = [("stays", "10", "1", "a"), ("stays", "11", "2", "a"), ("results", "10", "10", "x")]


@pytest.mark.parametrize(("known", "with_numbers"), KNOWN)
@pytest.mark.parametrize(
    ("effort", "values"),
    [
        ([], []),
        (OLD, []),
        ([(1, "old", True)], A[:1]),
        ([(1, "old", True), (2, "young", True)], A),
    ],
)
def test_nothing_to_decide_has_the_right_types(
    effort: Rows, values: Rows, known: int | str, *, with_numbers: bool
) -> None:
    decisions = decide(effort, values, known_records=known, known_count=with_numbers)
    assert len(decisions) == 0
    assert decisions.dtypes.astype(str).to_dict() == deciding.COLUMN_TYPES


def test_a_table_without_records() -> None:
    decisions = decide(OLD, A[:2])
    assert decisions.dtypes.astype(str).to_dict() == deciding.COLUMN_TYPES
    assert decisions["status"].tolist() == ["released", "released"]


@pytest.mark.parametrize(
    ("effort", "values", "message"),
    [
        (OLD, [*A, ("stays", "12", "4", "a")], "stays must lead to subjects; 1 records lead"),
        (OLD, [*A, ("stays", "12", None, "a")], "stays must lead to subjects; 1 records lead"),
        (OLD, [*A, ("results", "11", "1", "a")], "results must lead to stays; 1 records lead"),
        (OLD, [*A, A[0]], "stays must have a key in each row, once; 1 rows"),
        (OLD, [*A, A[2]], "results must have a key in each row, once; 1 rows"),
        (OLD, [*A, ("stays", None, "1", "a")], "stays must have a key in each row, once; 1 rows"),
        ([*OLD, OLD[2]], A, "subjects must have a key in each row, once; 1 rows"),
        ([*OLD, (1, "young", True)], A, "subjects must have a key in each row, once; 1 rows"),
        ([*OLD, (None, "old", False)], A, "subjects must have a key in each row, once; 1 rows"),
        (OLD, [*A, ("orders", "1", "1", "a")], "must be of stays, results; 1 are of another"),
        (OLD, [*A, (None, "1", "1", "a")], "must be of stays, results; 1 are of another table"),
    ],
)
def test_what_cannot_be_followed_stops(effort: Rows, values: Rows, message: str) -> None:
    with pytest.raises(LinkError, match=message):
        decide(effort, values)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tables": {"results": "stays", "stays": "subjects"}}, "results must lead over a table"),
    ],
)
def test_wrong_arguments_are_told(change: dict[str, Any], message: str) -> None:
    with pytest.raises(LinkError, match=message):
        decide(OLD, A, **change)


def test_keys_are_new_unique_and_without_order() -> None:
    """Of two draws none is the same, so that tables of one do not join those of the other."""
    keys, others = random_keys(200), random_keys(200)
    assert len({*keys, *others}) == 400
    assert keys.min() >= 0
    assert abs(np.corrcoef(keys.astype(float), np.arange(200))[0, 1]) < 0.3
