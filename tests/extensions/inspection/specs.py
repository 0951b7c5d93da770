"""A spec that declares all inspections."""

from __future__ import annotations

from tests.spec.declarations import SPEC, spec

INSPECTED = {"groups": {"city": 1}, "importance": True, "decision_grid": ["age", "city"]}
SPECS = [spec(quality={**SPEC["quality"], **INSPECTED})]
