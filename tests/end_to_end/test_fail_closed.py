"""Uncertainty stops the build, says why without a value, and leaves the release alone."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

import pytest

from dbt_anonymize.project.generate import generate
from tests.end_to_end.stopping import SEED_AND_RUN, require, stops
from tests.projects import Project
from tests.written import everything_written

pytestmark = pytest.mark.sampled_tests(group="fail closed")

PLANTED = "ZIP-of-a-person"
# Values of quasi-identifiers that many customers have.
USUAL = {"birth_date": "1979-06-10", "zip": "20097", "gender": "female"}


def add_rows(*rows: str) -> Callable[[str], str]:
    return lambda text: text + "".join(f"{row}\n" for row in rows)


@pytest.mark.usefixtures("everything_logged")
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("file", "change", "says"),
    [
        pytest.param(
            "seeds/customers.csv",
            lambda text: "\n".join(
                line + (",x" if number else ",loyalty card")
                for number, line in enumerate(text.splitlines())
            ),
            ("every column of the source needs a declared role", "loyalty card"),
            id="an undeclared column",
        ),
        pytest.param(
            "seeds/customers.csv",
            lambda text: text.replace("spending", "spent", 1),
            ("declared columns are not in the source", "spending"),
            id="a missing column",
        ),
        pytest.param(
            "seeds/customers.csv",
            add_rows(f"1,A,a@example.org,1980-01-01,{PLANTED},female,1,170,1.0,yes"),
            ("hierarchy of zip does not cover", "1 of 401 records"),
            id="an uncovered category",
        ),
        pytest.param(
            "seeds/customers.csv",
            add_rows("1,A,a@example.org,1980-01-01,1067,female,1,170,1.0,yes"),
            ("hierarchy of zip does not cover", "leading zeros"),
            id="a category without its leading zero",
        ),
        pytest.param(
            "seeds/customers.csv",
            add_rows("1,A,a@example.org,2000-01-01,01067,female,1,170,1.0,yes"),
            ("hierarchy of birth_date does not cover", "1 of 401 records"),
            id="a date on the open upper bound",
        ),
        pytest.param(
            "seeds/customers.csv",
            lambda text: text + text.splitlines()[1] + "\n" + text.splitlines()[1] + "\n",
            ("record key customer_id must be unique", "2 repeat another's"),
            id="duplicate record keys",
        ),
        pytest.param(
            "seeds/customers.csv",
            add_rows(",A,a@example.org,1980-01-01,01067,female,1,170,1.0,yes"),
            ("record key customer_id must be unique", "1 of 401 records have none"),
            id="a record without a key",
        ),
        pytest.param(
            "seeds/customers.csv",
            lambda text: text.replace(",no\n", ",yes\n"),
            ("target churned has one value only",),
            id="one class in the target",
        ),
        pytest.param(
            "seeds/customers.csv",
            lambda text: text.replace(",no\n", ",\n").replace(",yes\n", ",\n"),
            ("target churned has no value, so there is nothing to learn",),
            id="a target that is never known",
        ),
        pytest.param(
            "seeds/customers.csv",
            lambda text: text.splitlines()[0] + "\n",
            ("has no rows, so there is nothing to anonymize",),
            id="an empty source",
        ),
        pytest.param(
            "seeds/customers_hierarchy_birth_date.csv",
            lambda text: "".join(ln for ln in text.splitlines(True) if "1975-01-01,1976" not in ln),
            ("intervals have no gap",),
            id="a gap in a hierarchy",
        ),
        pytest.param(
            "seeds/customers_hierarchy_birth_date.csv",
            lambda text: text.replace("1975-01-01,1976-01-01", "1975-01-01,1976-06-01"),
            ("intervals do not overlap",),
            id="an overlap in a hierarchy",
        ),
        pytest.param(
            "seeds/customers_hierarchy_zip.csv",
            lambda text: text + text.splitlines()[1] + "\n",
            ("values are unique",),
            id="a duplicate in a hierarchy",
        ),
        pytest.param(
            "seeds/customers_hierarchy_zip.csv",
            lambda text: text.replace("01067,010**,0****", "01067,010**,9****"),
            ("a label has one parent",),
            id="a label with two parents",
        ),
        pytest.param(
            "seeds/customers_hierarchy_zip.csv",
            lambda text: text.replace("level_3", "region"),
            ("must have the columns value, level_1, level_2, level_3",),
            id="a hierarchy with other columns",
        ),
    ],
)
def test_bad_input_stops_a_run_without_tests(
    consumer: Project, file: str, change: Callable[[str], str], says: tuple[str, ...]
) -> None:
    """`dbt run` executes no test, so the models themselves must stop."""
    consumer.edit(file, change)
    stops(consumer, *SEED_AND_RUN, says=says)
    assert PLANTED not in everything_written(consumer)


@pytest.mark.usefixtures("everything_logged")
def test_a_text_column_under_an_interval_hierarchy_stops_before_it_is_compared(
    consumer: Project,
) -> None:
    """A failed cast would quote the value."""
    consumer.edit(
        "seeds/customers.csv", add_rows(f"1,A,a@e.org,{PLANTED},01067,female,1,1,1.0,yes")
    )
    stops(consumer, *SEED_AND_RUN, says=("birth_date must be a number or a date",))
    assert PLANTED not in everything_written(consumer)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("bound", ["infinity", "-infinity"])
def test_an_infinite_value_is_outside_every_hierarchy(consumer: Project, bound: str) -> None:
    consumer.execute(
        f"update customers set birth_date = '{bound}'"
        " where customer_id = (select min(customer_id) from customers)"
    )
    stops(consumer, "run", says=("hierarchy of birth_date does not cover", "1 of 400 records"))


def test_no_qualifying_effort_stops_the_build_and_names_every_effort(consumer: Project) -> None:
    require(consumer, k=399, suppression_limit=0.1)
    stops(
        consumer,
        *SEED_AND_RUN,
        says=(
            "exactly one effort must be chosen; got 0",
            "effort 1 (k = ",
            "does not qualify",
            "where records break a guarantee or none is released, let `dbt-anonymize search cust",
        ),
    )


def test_a_released_effort_that_does_not_qualify_stops_it_and_names_others(
    consumer: Project,
) -> None:
    consumer.edit(
        "anonymizations/customers.yml",
        lambda text: text.replace(
            "efforts:\n", "efforts:\n  - {levels: {birth_date: 2, zip: 1, gender: 0}, k: 399}\n"
        ).replace("qnf: 1 - 1/k", "qnf: 1 - 1/k\nrelease: {effort: 1}"),
    )
    generate(consumer.folder)
    stops(
        consumer,
        *SEED_AND_RUN,
        says=("In anonymizations/customers.yml, write `release: {effort: ", "or auto, since "),
    )


def without_unknown_values(text: str) -> str:
    """Return the seed with a common value where a quasi-identifier is empty."""
    head, *rows = csv.reader(io.StringIO(text))
    usual = {head.index(name): value for name, value in USUAL.items()}
    filled = io.StringIO()
    csv.writer(filled, lineterminator="\n").writerows(
        [head, *([value or usual.get(at, "") for at, value in enumerate(row)] for row in rows)]
    )
    return filled.getvalue()


def test_rows_that_break_the_guarantee_stop_the_next_build(consumer: Project) -> None:
    ((k,),) = consumer.query(
        "select min(n) from (select count(*) n from customers_effort_3 group by equivalence_class)"
    )
    require(consumer, k=max(2, k), suppression_limit=0.0)
    if k < 2:
        consumer.edit("seeds/customers.csv", without_unknown_values)
    assert consumer.dbt(*SEED_AND_RUN).succeeded
    consumer.edit("seeds/customers.csv", add_rows("1,A,a@example.org,,,,1,170,1.0,yes"))
    stops(consumer, *SEED_AND_RUN, says=("exactly one effort must be chosen; got 0",))
