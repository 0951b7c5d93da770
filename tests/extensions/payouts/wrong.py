"""Specs that declare a game wrongly: what is changed, and what the error says."""

from __future__ import annotations

WRONG: list[tuple[str, object, str, str]] = [
    (
        "efforts",
        [
            {
                "levels": {"age": 1, "city": 1},
                "guarantees": {"no_attack": {"attacker": "journalist"}},
            }
        ],
        "efforts.1.guarantees.no_attack.attacker",
        "must be prosecutor where an effort declares it",
    ),
    (
        "guarantees.no_attack",
        {"attacker": "journalist"},
        "guarantees.no_attack",
        "must have a table of the population",
    ),
    (
        "guarantees.no_attack",
        {"adversary_cost": 0},
        "guarantees.no_attack.adversary_cost",
        "must be > 0; got 0",
    ),
]
