"""Facts of a privacy model stand on its class: no code elsewhere asks for a model by its name."""

from __future__ import annotations

import ast

from dbt_anonymize.extension import shipped
from dbt_anonymize.privacy.registry import MODELS
from tests.projects import REPOSITORY

PACKAGE = REPOSITORY / "python" / "dbt_anonymize"
# By module: the models that it is about. k_anonymity, which every spec guarantees, is known to all.
ABOUT = {
    "extensions/drafting/commands/init.py": {"differential_privacy"},
    "extensions/differential_privacy/commands/epsilon.py": {"differential_privacy"},
    "extensions/differential_privacy/rules.py": {"differential_privacy"},
    "extensions/recoding/aggregate_rules.py": {"differential_privacy"},
    "extensions/second_month/rules.py": {"differential_privacy"},
    "extensions/external_efforts/rules.py": {"differential_privacy"},
    # Diversity of linked tables stands on that of people.
    "extensions/linked/rules.py": {"alpha_k_anonymity", "differential_privacy"},
    # The amounts of the game, for the measure publisher_payout and efforts that maximize it.
    "extensions/recoding/rules.py": {"profitable"},
    "extensions/search/measure_names.py": {"profitable"},
    "extensions/recoding/payouts.py": {"profitable"},
} | {f"extensions/{one.name}/__init__.py": {*one.privacy_models} for one in shipped()}
# An extension may have the name of its model.
ABOUT["extension.py"] = {one.name for one in shipped()}


def test_a_model_is_named_where_it_is_what_a_module_is_about() -> None:
    found: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        if not place.startswith("privacy/"):
            constants = (node for node in ast.walk(ast.parse(path.read_text())))
            texts = {n.value for n in constants if isinstance(n, ast.Constant)}
            found[place] = {name for name in MODELS if name in texts} - {"k_anonymity"}
    assert {place: names for place, names in found.items() if names - ABOUT.get(place, set())} == {}
