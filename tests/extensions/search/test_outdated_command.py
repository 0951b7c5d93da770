"""`dbt-anonymize search` after a change of guarantees or roles, with the efforts from before."""

from __future__ import annotations

import pytest

from tests.extensions.search.reports import efforts_of
from tests.extensions.search.running import SPEC, run, text_of
from tests.projects import Project

pytestmark = pytest.mark.sampled_tests(2)


def test_a_larger_k_needs_no_efforts_that_keep_it(shop: Project) -> None:
    efforts = "efforts:\n  - {levels: {birth_date: 2, zip: 1, gender: 0}, k: 5}\n"
    shop.edit(
        SPEC,
        lambda text: text.replace("efforts:\n", efforts, 1).replace(
            "k_anonymity: {k: 4}", "k_anonymity: {k: 20}"
        ),
    )
    result = run(shop, "--efforts", "2")
    assert result.exit_code == 0, result.output
    assert "its efforts do not fit the rest of the spec; a search replaces them." in text_of(result)
    assert efforts_of(shop)
    assert all(effort.k is None or effort.k > 20 for effort in efforts_of(shop))


@pytest.mark.parametrize("is_declared", [True, False])
def test_another_quasi_identifier_needs_no_level_in_old_efforts(
    shop: Project, *, is_declared: bool
) -> None:
    """One message says everything that is to be done before the search."""
    seed = "customers_hierarchy_order"
    declared = f"{{role: quasi_identifier, hierarchy: {{ref: {seed}, kind: interval}}}}"
    column = declared if is_declared else "{role: quasi_identifier}"
    shop.edit(SPEC, lambda text: text.replace("order: {role: insensitive}", f"order: {column}"))
    is_added = (
        "run `dbt-anonymize hierarchy growing --whole --ref customers --column order -o "
        f"seeds/{seed}.csv`"
    )
    if not is_declared:
        key = f"`hierarchy: {{ref: {seed}, kind: interval}}`"
        is_added = f"add {key} to its column and {is_added}"
    result = run(shop, "--dry-run")
    assert result.exit_code == 2
    build = (
        "Remove the efforts that do not fit from anonymizations/customers.yml, since a search "
        "finds others, and run `dbt-anonymize generate customers` and `dbt build --select "
        "+customers_frequencies`."
    )
    assert text_of(result) == (
        "customers: a search must have every hierarchy, and the frequencies by it: "
        f"- order must have a hierarchy; there is none. {is_added[0].upper()}{is_added[1:]}. "
        f"- customers_frequencies must be built with it. {build} "
        "Then run `dbt-anonymize search customers` again."
    )
    if not is_declared:
        shop.edit(SPEC, lambda text: text.replace(f"order: {column}", f"order: {declared}"))
    (shop.folder / "seeds" / f"{seed}.csv").write_text(
        "lower_bound,upper_bound,level_1,level_2\n0,10,a,*\n10,1000,b,*\n"
    )
    result = run(shop, "--dry-run")
    assert "its columns differ from the spec in order, order_leaf." in text_of(result)
    assert text_of(result).endswith(build)
