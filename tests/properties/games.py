"""Value of the game of publisher and attacker, over given classes."""

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
{{%- for name, payout in payouts.items() %}},
{{{{ payout }}}} as {{{{ name }}}}
{{%- endfor %}}
from {{{{ ref('game_classes') }}}}
group by effort
"""
GAME_MODELS = {"game_payouts": _PAYOUTS}
GAME_SEEDS = ["game_classes"]
