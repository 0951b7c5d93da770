"""The model that compares efforts with the original."""

from __future__ import annotations

from tests.properties.compilation import LEVELS, Ref, body

# Income has the hierarchy of age.
NAMES = ("age", "city", "income", "illness")
QUERIES, RANDOM_STATE = 40, 3
# Levels of each effort; effort 2 has its own levels per record, effort 3 is a sample.
EFFORT_LEVELS = {0: (0, 0, 0), 1: (1, 2, 0), 3: (2, 0, 1)}
SHARE = 0.5
NUMBERS = (0, 2)
VIEWS = ((0,), (1,), (2,), (3,), (0, 1), NUMBERS, (1, 3), (0, 3))


def _effort(number: int) -> dict[str, object]:
    levels = EFFORT_LEVELS.get(number)
    return {
        "relation": Ref(f"compared_effort_{number}"),
        **({"levels": dict(zip(NAMES, levels, strict=False))} if levels else {}),
        **({"share": SHARE} if number == 3 else {}),
        **({"has_modes": True} if number == 2 else {}),
    }


MODELS = {
    "compared_fidelity": body(
        "fidelity",
        efforts={number: _effort(number) for number in range(4)},
        quasi_identifiers=[
            {"name": n, "kind": kind, "hierarchy": Ref(f"compared_{h}"), "levels": LEVELS}
            for n, kind, h in (
                ("age", "interval", "age"),
                ("city", "categorical", "city"),
                ("income", "interval", "age"),
            )
        ],
        columns=["illness"],
        pairs=[[NAMES[i] for i in view] for view in VIEWS if len(view) == 2],
        queries=QUERIES,
        random_state=RANDOM_STATE,
    )
}
SEEDS = ["compared_age", "compared_city", *(f"compared_effort_{n}" for n in range(4))]
