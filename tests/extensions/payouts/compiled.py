"""Macros of the game, over given classes, which `tests.properties.compiled_once` compiles."""

from __future__ import annotations

from typing import Any

# By the number of the effort, and of those that declare none.
GAMES: dict[int | None, dict[str, Any]] = {
    None: {
        "publisher_benefit": 12,
        "publisher_loss": 30,
        "adversary_gain": 2.1,
        "adversary_cost": 0.7,
        "attacker": "prosecutor",
    },
    2: {
        "publisher_benefit": 5,
        "publisher_loss": 7.5,
        "adversary_gain": 10,
        "adversary_cost": 2,
        "attacker": "prosecutor",
    },
}
_DECLARED = [
    {"model": "profitable", **game, **({"effort": effort} if effort else {})}
    for effort, game in GAMES.items()
]
_PAYOUTS = f"""
{{% set payouts = dbt_anonymize._payouts_of_effort({_DECLARED!r}) %}}
select effort
{{%- for name, payout in payouts.aggregates.items() %}},
{{{{ payout }}}} as {{{{ name }}}}
{{%- endfor %}}
from {{{{ ref('game_classes') }}}}
group by effort
"""
MODELS = {"game_payouts": _PAYOUTS}
SEEDS = ["game_classes"]
