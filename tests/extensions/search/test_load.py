"""The coded table is the table: every node has the classes that plain Python counts."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from dbt_anonymize.errors import SearchError, WarehouseError
from dbt_anonymize.extensions.search import packed_keys
from dbt_anonymize.extensions.search.coded_guarantees import coded_guarantees
from dbt_anonymize.privacy.grouping import classes_of
from dbt_anonymize.privacy.table import Classes, Table
from dbt_anonymize.spec import Spec, load_specs
from tests.extensions.search.running import load, with_spec
from tests.oracle.warehouse import Recount
from tests.projects import Project

pytestmark = pytest.mark.sampled_tests(3)


def nodes(table: Table) -> Iterator[tuple[int, ...]]:
    return itertools.product(*(range(a.lowest, a.top + 1) for a in table.attributes))


def recount(project: Project, spec: Spec) -> Recount:
    with project.connection() as connection:
        return Recount(connection, spec)


def shares(table: Table, classes: Classes) -> list[tuple[float, ...]]:
    """Return the shares of the labels of each class."""
    columns = [
        attribute.shares[level][classes.codes[:, place]]
        for place, (attribute, level) in enumerate(
            zip(table.attributes, classes.levels, strict=True)
        )
    ]
    return [tuple(round(float(share), 12) for share in row) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("largest_key", [2**62, 500])
def test_classes_and_shares_of_every_node_are_those_of_the_records(
    built_frequencies: Project, monkeypatch: pytest.MonkeyPatch, largest_key: int
) -> None:
    # However few combinations fit into one key.
    monkeypatch.setattr(packed_keys, "LARGEST_KEY", largest_key)
    task = load(built_frequencies)
    plain = recount(built_frequencies, task.spec)
    assert task.table.total == len(plain.records) == 400
    for node in nodes(task.table):
        classes = classes_of(task.table, node)
        found = Counter(zip(classes.records.tolist(), shares(task.table, classes), strict=True))
        expected = Counter(
            (
                count,
                tuple(
                    round(plain.share(name, label, level), 12)
                    for name, label, level in zip(plain.names, labels, node, strict=True)
                ),
            )
            for labels, count in plain.classes(node).items()
        )
        assert found == expected, node


def test_raw_values_are_not_told_apart_where_none_may_be_released(shop: Project) -> None:
    fine = load(shop).table
    shop.edit(
        "anonymizations/customers.yml",
        lambda text: text.replace(
            "{measure: loss}", "{levels: {birth_date: {lowest: 1, highest: 3}}}"
        ),
    )
    task = load(shop)
    years = task.table.attributes[0]
    assert len(years.levels[0]) < len(fine.attributes[0].levels[0])
    assert (years.lowest, years.top) == (1, 3)
    assert len(task.table.records) < len(fine.records)
    plain = recount(shop, task.spec)
    for node in nodes(task.table):
        found = sorted(classes_of(task.table, node).records.tolist())
        assert found == sorted(plain.classes(node).values())


def test_people_values_and_population_are_counted(crowd: Project) -> None:
    task = load(crowd)
    table = task.table
    plain = recount(crowd, task.spec)
    with crowd.connection() as connection:
        everybody = connection.execute("select birth_date, zip, gender from people").fetchall()
    assert table.population_size == 5000
    assert [attribute.name for attribute, _ in table.sensitive] == ["churned"]
    for node in itertools.product((1, 2, 4), (1, 3), (0, 1)):
        classes = classes_of(table, node)
        assert classes.population is not None
        counts = classes.values[0]
        values = np.bincount(counts.classes, minlength=len(classes.records))
        found = zip(
            classes.records.tolist(),
            classes.people.tolist(),
            values.tolist(),
            classes.population.tolist(),
            strict=True,
        )
        groups: dict[tuple[str, ...], list[dict[str, object]]] = {}
        for record in plain.records:
            groups.setdefault(plain.labels(record, node), []).append(record)
        population = Counter(
            plain.labels(dict(zip(plain.names, row, strict=True)), node) for row in everybody
        )
        expected = (
            (
                len(records := groups.get(labels, [])),
                len({record["subject"] for record in records}),
                len({record["churned"] for record in records}),
                count,
            )
            for labels, count in population.items()
        )
        assert sorted(found) == sorted(expected), node


def test_the_target_is_read_where_the_measure_needs_it(built_frequencies: Project) -> None:
    assert not load(built_frequencies).table.targets
    table = load(built_frequencies, measure="classification_metric").table
    top = classes_of(table, tuple(attribute.height for attribute in table.attributes))
    counted = dict(
        built_frequencies.query("select churned, count(*) from customers group by churned")
    )
    (counts,) = top.targets
    assert counts.counts.tolist() == [counted["no"], counted["yes"]]


def test_limited_values_become_codes(built_frequencies: Project, tmp_path: object) -> None:
    (spec,) = load_specs(built_frequencies.folder, ["customers"])
    content = spec.model_dump(mode="json", exclude_none=True)
    content["guarantees"]["alpha_k_anonymity"] = [
        {"attribute": "churned", "alpha": 0.5, "k": 2, "values": ["yes", True, "never"]}
    ]
    from tests.projects import warehouse_of

    with warehouse_of(built_frequencies) as warehouse:
        coded = coded_guarantees(warehouse, Spec.model_validate(content))
    assert coded[1]["values"] == [1]


def problem(project: Project) -> str:
    with pytest.raises((SearchError, WarehouseError)) as raised:
        load(project)
    return str(raised.value)


def test_frequencies_that_are_missing_or_of_another_spec_are_refused(shop: Project) -> None:
    with_spec(
        shop, lambda text: text.replace("größe: {role: insensitive}", "größe: {role: sensitive}")
    )
    assert problem(shop) == (
        "customers_frequencies: must be built from anonymizations/customers.yml as it is now; its "
        "columns differ from the spec in größe. Run `dbt-anonymize generate customers` and "
        "`dbt build --select +customers_frequencies`."
    )
    shop.execute("drop table customers_frequencies")
    assert "customers_frequencies: must exist in the warehouse" in problem(shop)


def test_hierarchies_that_changed_since_are_refused(shop: Project) -> None:
    shop.execute(
        "update customers_hierarchy_birth_date set upper_bound = date '1960-07-01' "
        "where lower_bound = date '1960-01-01'"
    )
    shop.execute(
        "update customers_hierarchy_birth_date set lower_bound = date '1960-07-01' "
        "where lower_bound = date '1961-01-01'"
    )
    text = problem(shop)
    assert "the hierarchy of birth_date must be the one that the frequencies were built" in text
    assert "records have another place in it now" in text
    assert "1960" not in text


def test_a_hierarchy_that_is_not_functional_is_refused(shop: Project) -> None:
    shop.execute("insert into customers_hierarchy_gender values ('male', 'men')")
    text = problem(shop)
    assert "hierarchy" in text
    assert "breaks the rule: values are unique" in text


def test_hierarchies_must_be_nested(shop: Project) -> None:
    with_spec(shop, lambda text: text.replace("levels: 3}", "levels: 3, nested: false}"))
    assert "customers: must have nested hierarchies to be searched" in problem(shop)


def test_a_guarantee_on_an_attribute_with_nulls_is_refused(shop: Project) -> None:
    shop.edit(
        "anonymizations/customers.yml",
        lambda text: text.replace(
            "k_anonymity: {k: 4}", "k_anonymity: {k: 4}\n  l_diversity: {attribute: churned, l: 2}"
        ),
    )
    shop.execute(
        "update customers_frequencies set churned = null where churned = 'yes' and zip = '10115'"
    )
    said = problem(shop)
    assert "customers: churned must not be NULL where a guarantee limits it" in said
    assert "such as coalesce(churned, 'none'), or filter them" in said
    assert "customers_frequencies must be built again" in said
    assert "`dbt build --select +customers_frequencies`" in said


def test_a_population_without_everybody_is_refused(crowd: Project, tmp_path: object) -> None:
    from pathlib import Path

    copy = crowd.copy(Path(str(tmp_path)) / "copy")
    (missing,) = copy.query(
        "select count(distinct (birth_date, zip)) from customers_frequencies where gender = 'male'"
    )[0]
    copy.execute("delete from customers_population where gender = 'male'")
    text = problem(copy)
    assert f"the population must hold everybody in the source; {missing} of " in text
