"""Anonymizations of the same people are found, whatever models lie between their sources."""

from __future__ import annotations

import pytest

from dbt_anonymize.project.lineage import share_people
from dbt_anonymize.spec import Source, Spec
from dbt_anonymize.spec.loading import load_spec
from tests.projects import Project, warehouse_of

MODELS = {
    "rounded": "select * replace (round(spending) as spending) from {{ ref('customers') }}",
    "rounded_again": "select * from {{ ref('rounded') }} where gender = 'male'",
    # People of their own, whose table knows in which towns customers live.
    "staff": ("select * replace (customer_id + 100000 as customer_id) from {{ ref('customers') }}"),
    # Numbers of their own, of which some happen to be those of customers.
    "visitors": (
        "select * replace (case when row_number() over (order by customer_id) % 3 = 0"
        " then customer_id else customer_id + 100000 end as customer_id)"
        " from {{ ref('customers') }}"
    ),
}


@pytest.fixture
def consumer_with_models(consumer: Project) -> Project:
    for name, sql in MODELS.items():
        (consumer.folder / "models" / f"{name}.sql").write_text(f"{sql}\n", encoding="utf-8")
    consumer.build("--select", *MODELS)
    return consumer


def test_models_between_hide_nobody(consumer_with_models: Project) -> None:
    project = consumer_with_models
    one = load_spec(project.folder / "anonymizations" / "customers.yml")

    def of(name: str, **changes: str) -> Spec:
        return one.model_copy(update={"source": Source(ref=name), "name": name, **changes})

    with warehouse_of(project) as warehouse:
        shared = {name: share_people(warehouse, one, of(name)) for name in ("customers", *MODELS)}
        assert share_people(warehouse, of("rounded"), of("rounded_again"))
        assert share_people(warehouse, of("rounded_again"), one)
        assert not share_people(warehouse, one, of("rounded", record_key="zip"))
        assert not share_people(warehouse, one, of("never_built"))
    assert shared == {
        "customers": True,
        "rounded": True,
        "rounded_again": True,
        "staff": False,
        "visitors": False,
    }
