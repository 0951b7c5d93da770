"""`search --keep`: columns that every effort leaves something of."""

from __future__ import annotations

import pytest

from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.search.keeping import keep_readable
from dbt_anonymize.spec import Spec, load_specs
from tests.extensions.search.running import run, text_of
from tests.projects import Project
from tests.spec.declarations import spec


def visits(**levels: object) -> Spec:
    return Spec.model_validate(spec(search={"levels": levels}))


def highest(found: Spec) -> dict[str, int | None]:
    return {name: one.highest for name, one in found.search.levels.items()}


@pytest.mark.parametrize("options", [["age", "city"], ["age, city"], ["city,age"]])
def test_what_is_kept_stays_below_the_root(options: list[str]) -> None:
    assert highest(keep_readable(visits(), options)) == {"age": 2, "city": 1}
    assert highest(keep_readable(visits(), [])) == {}


def test_bounds_of_the_spec_stay_if_they_are_tighter() -> None:
    found = keep_readable(visits(age={"lowest": 1, "highest": 1}, city={"lowest": 1}), ["age,city"])
    assert highest(found) == {"age": 1, "city": 1}
    assert [one.lowest for one in found.search.levels.values()] == [1, 1]


@pytest.mark.parametrize(
    ("options", "levels", "message"),
    [
        (["ages"], {}, "must name a quasi-identifier; got ages. Did you mean age"),
        (["income"], {}, "got income. They are age, city."),
        (["city"], {"city": {"lowest": 2}}, "city: has no level below `\\*` within search.levels"),
    ],
)
def test_what_cannot_be_kept_is_refused(
    options: list[str], levels: dict[str, object], message: str
) -> None:
    with pytest.raises(SpecError, match=message):
        keep_readable(visits(**levels), options)


@pytest.mark.dbt
def test_every_effort_of_a_search_keeps_it(shop: Project) -> None:
    kept = {}
    for words in ((), ("--keep", "zip")):
        result = run(shop, "--measure", "loss", "--ks", "5,50,184", *words)
        assert result.exit_code == 0, text_of(result)
        (found,) = load_specs(shop.folder, ["customers"])
        top = found.quasi_identifiers["zip"].levels
        kept[words] = [(effort.levels or {})["zip"] < top for effort in found.efforts]
    assert not all(kept[()])
    assert len(kept["--keep", "zip"]) > 1
    assert all(kept["--keep", "zip"])
