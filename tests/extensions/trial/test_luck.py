"""Alternatives are not chosen by luck: where nothing can be learned, there are none."""

from __future__ import annotations

import duckdb
import pytest

from benchmarks.independent_target import beats, declared, people, plans
from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.drafting.coded_table import count_combinations
from dbt_anonymize.extensions.drafting.equal_levels import with_distinct_levels
from dbt_anonymize.extensions.search.race import Budget
from dbt_anonymize.extensions.trial.alternatives import find_alternatives
from dbt_anonymize.extensions.trial.sample import read_sample
from tests.sampling import number_of

pytestmark = pytest.mark.costly

TABLES = number_of("tables whose target is independent of everything", 200, 2)


def test_nothing_is_tried_where_nothing_can_be_learned() -> None:
    spec, warehouse = declared(), people(1, 300)
    counted = count_combinations(warehouse, "people", plans())
    with duckdb.connect(":memory:") as own:
        records = read_sample(warehouse, "people", spec, counted, own).records
        distinct = with_distinct_levels(warehouse, "people", counted)
        with pytest.raises(SearchError, match="must surely learn something"):
            find_alternatives(spec, distinct, records, Budget(evaluations=5))


def test_at_most_one_of_twenty_has_an_effort_that_beats_the_zero_rule() -> None:
    found = [beats(state, records=500, evaluations=100)[1] for state in range(1, 1 + TABLES)]
    assert sum(found) <= 0.05 * TABLES
