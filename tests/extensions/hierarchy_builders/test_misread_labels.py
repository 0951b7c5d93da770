"""Labels that dbt would read as numbers or dates are known."""

from __future__ import annotations

import pytest

from dbt_anonymize.extensions.hierarchy_builders.misread_labels import misread_levels
from dbt_anonymize.hierarchies.model import CategoricalHierarchy


def tree(*labels: str) -> CategoricalHierarchy:
    values = tuple(f"v{place}" for place in range(len(labels)))
    return CategoricalHierarchy(values, (labels, ("*",) * len(labels)))


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (("01", "04"), "numbers"),
        (("1.1", "1.10"), "numbers"),
        (("2023", "2024"), "numbers"),
        (("2023-01-01", "2023-02-01"), "dates"),
        (("2023-01-01T00:00:00", "2023-01-02T00:00:00"), "moments (ISO 8601)"),
        (("true", "false"), "booleans"),
        (("1e5", "1e6"), "numbers"),
        (("01", "04*"), None),
        (("[0, 5)", "[5, 10)"), None),
        (("2023-Q1", "2023-Q2"), None),
        (("1950s", "1960"), None),
    ],
)
def test_what_dbt_takes_for_no_text_is_known(labels: tuple[str, ...], kind: str | None) -> None:
    assert misread_levels(tree(*labels).table()) == ({"level_1": kind} if kind else {})
