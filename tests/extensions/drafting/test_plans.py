"""A hierarchy is proposed where it would tell something, and else what to do first."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.extensions.drafting.plans import number_plan, plan_hierarchy
from dbt_anonymize.extensions.hierarchy_builders.rules import violations
from dbt_anonymize.extensions.hierarchy_builders.table_column import TableColumn
from dbt_anonymize.hierarchies import CategoricalHierarchy, IntervalHierarchy, hierarchy_csv


def column(values: list[str], name: str = "age") -> tuple[ColumnFacts, Any]:
    """Return the facts of a text column and its values, each of ten records."""
    facts = ColumnFacts(
        name,
        "VARCHAR",
        "text",
        records=10 * len(values),
        known=10 * len(values),
        distinct=len(values),
        longest=max(map(len, values)),
        shortest=min(map(len, values)),
        is_code=all(any(map(str.isdigit, value)) and " " not in value for value in values),
    )
    return facts, SimpleNamespace(counts=lambda: dict.fromkeys(sorted(values), 10))


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("age", range(18, 91), "intervals --widths 5,10,20 --whole --split 60"),
        ("alter", range(16, 66), "intervals --widths 5,10,20 --whole --split 40"),
        ("years", range(18, 91), "intervals --widths 5,10,20 --whole --split 60"),
        ("cylinders", (4, 5, 6, 8), "integers"),
        ("year", range(1990, 2021), "intervals --widths 1,5,10 --whole --split 2010"),
        ("points", range(1001), "intervals --widths 50,100,500 --whole"),
        ("visits", [0] * 40 + [1] * 20 + [2] * 10 + [3, 4, 5, 6, 60], "growing --whole"),
        ("year", [1997, 2003, *range(2010, 2015)] * 9, "intervals --widths 1,5 --whole"),
        ("limit", [15, 20, 25, 30, 35, 40], "intervals --widths 5,10 --whole --split 30"),
        ("images", [0] * 300 + [1] * 40 + [2] * 10 + [3, 4, 5, 5, 9, 20], "growing --whole"),
        ("hours", [0] * 30 + [*range(1, 60)], "growing --whole"),
        ("fare", [*range(500), 1900], "growing --whole"),
        ("income", [1000 * 1.01**n for n in range(900)], "growing --split 100000"),
        ("alike", [30], "intervals --widths 1 --whole"),
    ],
)
def test_numbers_have_round_bounds_and_no_label_below_zero(
    name: str, values: Any, words: str
) -> None:
    built, command = number_plan(name, Counter(Decimal(str(v)) for v in values))
    assert command == words
    assert "[-" not in str(built.labels)
    assert isinstance(built, IntervalHierarchy)
    assert built.lower_bounds[0] >= 0


def test_many_numbers_as_text_are_to_be_cast() -> None:
    facts, values = column([*map(str, range(30, 900, 3)), "> 899"])
    with pytest.raises(HierarchyError, match="290 of 291 values are numbers or dates, stored") as e:
        plan_hierarchy(facts, values, "people_hierarchy_age", "--ref people", "seeds")
    assert "Cast the column" in str(e.value)
    assert "899" not in str(e.value)


def test_a_root_among_the_values_is_told_of_the_column() -> None:
    """Not of a line in a file that nobody has."""
    facts, values = column(["low", "medium", "high", "*"])
    with pytest.raises(HierarchyError) as error:
        plan_hierarchy(facts, values, "people_hierarchy_age", "--ref people", "seeds")
    assert str(error.value) == (
        "age: must not have the value `*`, which is the root of hierarchies; 10 records have it. "
        "Make it NULL in a model before: nullif(age, '*')."
    )


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([*map(str, range(30, 90)), "> 89"], "ordered"),
        ([f"word {number}" for number in range(50)], "others"),
        ([*map(str, range(20)), "many"], "ordered"),
        (["low", "high", "medium", "very high", "unknown"], "ordered"),
        (["red", "green", "blue", "black"], "others"),
        (["yes", "no"], "others"),
    ],
)
def test_words_merge_in_their_order_or_by_frequency(values: list[str], words: str) -> None:
    facts, found = column(values)
    built = plan_hierarchy(facts, found, "people_hierarchy_age", "--ref people", "seeds")
    assert built.command.startswith(f"dbt-anonymize hierarchy {words} --ref people --column age")
    assert built.hierarchy.levels > 1 or len(values) < 3


DECADES = ["2010-**-**", "201*-**-**"]
ICD = [f"{letter}{n:02d}{end}" for letter in "ABC" for n in range(9) for end in ("", ".1", ".9")]


@pytest.mark.parametrize(
    ("name", "values", "words", "path"),
    [
        ("zip", [f"{n:05d}" for n in range(501, 99999, 37)], "3,1", ["005**", "0****"]),
        ("code", ICD, "3,1", ["A00*", "A*"]),
        ("naics", ["11", "111", "1111", "5415", "541511", "541512", "72"], "4,3,2", ["11*"] * 3),
        ("soc", [f"{n}-{m}011" for n in range(11, 40) for m in (1, 2, 3)], "2", ["11-****"]),
        ("area", [f"US-{a}{b}" for a in "ABC" for b in "XYZ"] + ["DE-BY", "DE-BE"], "2", ["DE-**"]),
        ("PLZ", [f"{n}" for n in range(10115, 99999, 49)], "3,1", ["101**", "1****"]),
        (
            "day",
            [f"20{n}-0{m}-15" for n in range(10, 40) for m in (1, 2)],
            "4,3",
            ["2010-**-**", "201*-**-**"],
        ),
        ("batch", [f"K{n:04d}" for n in range(900)], "4,3", ["K000*", "K00**"]),
        ("depot", [f"X{n}" for n in range(1, 900)], "3,2", ["X1*", "X1*"]),
    ],
)
def test_codes_are_shortened_by_their_structure(
    name: str, values: list[str], words: str, path: list[str]
) -> None:
    facts, found = column(values, name)
    built = plan_hierarchy(facts, found, "hierarchy", "--ref people", "seeds")
    assert f" codes --prefixes {words} --ref people" in built.command
    assert [level[0] for level in built.hierarchy.labels] == [*path, "*"]


def test_codes_stored_as_numbers_get_their_zeros_again_and_the_draft_says_so() -> None:
    values = [str(n) for n in range(1001, 9999, 91)] + [str(n) for n in range(10001, 99950, 97)]
    facts, found = column(values, "zip_code")
    for kind in ("text", "number"):
        built = plan_hierarchy(
            replace(facts, kind=kind), found, "hierarchy", "--ref people", "seeds"
        )
        assert built.kind == "categorical"
        assert " codes --prefixes 3,1 --zeros 5 --ref people" in built.command
        assert isinstance(built.hierarchy, CategoricalHierarchy)
        assert built.hierarchy.labels[0][built.hierarchy.values.index("1001")] == "010**"
        assert "postal codes of 4 and 5 digits: leading zeros were lost" in built.remark
        assert "lpad" in built.remark
    facts, found = column([f"{value}.0" for value in values], "zip_code")
    built = plan_hierarchy(
        replace(facts, kind="number"), found, "hierarchy", "--ref people", "seeds"
    )
    assert isinstance(built.hierarchy, CategoricalHierarchy)
    assert built.hierarchy.labels[0][built.hierarchy.values.index("1001.0")] == "010**"
    facts, found = column([f"{value}.0" for value in values if len(value) == 5], "zip_code")
    built = plan_hierarchy(
        replace(facts, kind="number"), found, "hierarchy", "--ref people", "seeds"
    )
    assert " codes --prefixes 3,1 --zeros 1 --ref people" in built.command
    assert "stored as numbers with decimals" in built.remark
    # Numbers of another name are numbers.
    amounts = number_plan("amount", {Decimal(value): 1 for value in values})
    assert isinstance(amounts[0], IntervalHierarchy)


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        (datetime(2024, 3, 1, 8), datetime(2024, 3, 30, 9), "day,week --split 2024-03-18"),
        (date(2024, 3, 1), date(2024, 9, 30), "month,quarter"),
        (date(2023, 3, 1), date(2024, 9, 30), "month,quarter,year"),
        (
            datetime(1940, 3, 1, 8),
            datetime(2004, 3, 30, 9),
            "month,quarter,year,decade --split 1960-01-01,1980-01-01",
        ),
    ],
)
def test_dates_have_units_that_suit_their_span(first: date, last: date, words: str) -> None:
    step = (last - first) / 60
    seen = [(str(first + step * number), 1) for number in range(61)]
    warehouse: Any = SimpleNamespace(
        rows=lambda sql: [(first, last)] if "min(" in sql else seen,
        macro=lambda _, expression: expression,
    )
    found = TableColumn(warehouse, "people", "seen")
    facts = ColumnFacts("seen", "DATE", "date", 90, 90, 60)
    built = plan_hierarchy(facts, found, "hierarchy", "--ref people", "seeds")
    assert f" dates --granularities {words} --ref" in built.command
    warehouse.rows = lambda _: [(first, date(9999, 12, 31))]
    with pytest.raises(HierarchyError, match="years 1000 to 2200; some are not"):
        plan_hierarchy(facts, found, "hierarchy", "--ref people", "seeds")


@pytest.mark.parametrize(
    ("name", "kind", "values"),
    [
        ("income", "number", [str(round(900 * 1.02**n, 2)) for n in range(400)]),
        ("visits", "number", [*"0001112234", "7", "9", "30", "31", "44", "60"] * 3),
        ("age", "number", [str(n) for n in range(18, 91)]),
        ("balance", "number", [str(n) for n in range(-300, 900, 17)]),
        ("debt", "number", [str(n) for n in range(-3000, 9000, 17)] + ["90000"] * 7),
        ("children", "number", [*"000111222345", "9"]),
        ("schooling", "text", ["none", "primary", "high school", "high school", "phd", "unknown"]),
        ("band", "text", ["<20", "20-29", "20-29", "30-39", "40+"]),
        ("ward", "text", ["a", "a", "a", "b", "b", "c", "d", "e", "other"]),
        ("icd", "text", ICD),
        ("zip", "number", [str(n) for n in range(1001, 99999, 491)]),
        ("K", "text", [f"K{n:04d}" for n in range(300)]),
    ],
)
def test_the_command_of_a_draft_builds_the_same_seed(
    name: str, kind: Any, values: list[str], tmp_path: Path
) -> None:
    facts, _ = column(sorted(set(values)), name)
    found: Any = SimpleNamespace(
        counts=lambda: dict(sorted(Counter(values).items())), number_ends=lambda: None
    )
    built = plan_hierarchy(replace(facts, kind=kind), found, "seed", "--ref people", str(tmp_path))
    file = tmp_path / "people.csv"
    file.write_text("\n".join([name, *(f'"{value}"' for value in values)]) + "\n")
    source = f"--from {file}"
    if " intervals " in built.command and isinstance(built.hierarchy, IntervalHierarchy):
        # Of a relation it finds these ends itself.
        ends = built.hierarchy.lower_bounds[0], built.hierarchy.upper_bounds[-1]
        source = f"--lower={ends[0]} --upper={ends[1]}"
        built = replace(built, command=built.command.replace(f" --column {name}", ""))
    words = shlex.split(built.command.replace("--ref people", source))
    done = CliRunner().invoke(app, words[1:])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "seed.csv").read_text() == hierarchy_csv(built.hierarchy)
    assert not violations(built.hierarchy)
