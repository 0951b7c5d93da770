"""Models of who joins and leaves a frozen release, under every kind of guarantee about parts."""

from __future__ import annotations

from typing import Any

from tests.properties.compilation import Ref, body, call

COLUMNS = ("label", "illness", "version")
# Put in the place of the number of the release, which only a test knows.
AFTER = 987_654
K = 3

_K_ANONYMITY = {"model": "k_anonymity", "k": K}
_OF_ILLNESS = {"attribute": "illness"}
PROMISES: dict[str, list[dict[str, Any]]] = {
    "distinct": [
        _K_ANONYMITY,
        {"model": "l_diversity", **_OF_ILLNESS, "variant": "distinct", "l": 2},
    ],
    "entropy": [
        _K_ANONYMITY,
        {"model": "l_diversity", **_OF_ILLNESS, "variant": "entropy", "l": 1.8},
    ],
    "share": [{"model": "alpha_k_anonymity", **_OF_ILLNESS, "alpha": 0.75, "k": K}],
    "t": [_K_ANONYMITY, {"model": "t_closeness", **_OF_ILLNESS, "t": 0.4, "distance": "equal"}],
    "beta": [
        _K_ANONYMITY,
        {"model": "beta_likeness", **_OF_ILLNESS, "beta": 1, "variant": "basic"},
    ],
}


def _plan(promise: str, *, is_first: bool) -> str:
    return call(
        "_membership_rows",
        given={
            "number": 1,
            "effort": Ref("waiting_effort"),
            "microdata": Ref("waiting_microdata"),
            "record_key": "record",
            "columns": list(COLUMNS),
            "guarantees": PROMISES[promise],
            "sensitive_hierarchies": {},
        },
        stored=None if is_first else Ref("waiting_members"),
        first=0 if is_first else AFTER,
    )


def _released(promise: str) -> str:
    return body(
        "released_classes",
        membership=Ref("waiting_plan"),
        microdata=Ref("waiting_microdata"),
        classes=Ref("waiting_classes"),
        effort=1,
        quasi_identifiers=["label"],
        columns=list(COLUMNS),
        sensitive=["illness"],
        guarantees=PROMISES[promise],
    )


MODELS = {
    **{f"waiting_{promise}": _plan(promise, is_first=False) for promise in PROMISES},
    **{f"waiting_released_{promise}": _released(promise) for promise in PROMISES},
    "waiting_first": call(
        "_first_members",
        effort=Ref("waiting_effort"),
        record_key="record",
        columns=list(COLUMNS),
        labels="x",
    ),
    "waiting_changes": call(
        "_changes_of_members",
        members=Ref("waiting_members"),
        plan=Ref("waiting_plan"),
        values=[f"v_{number}" for number, _ in enumerate(COLUMNS, 1)],
        release=AFTER + 1,
        labels="x",
    ),
}
SEEDS = [
    "waiting_effort",
    "waiting_microdata",
    "waiting_members",
    "waiting_plan",
    "waiting_classes",
]
