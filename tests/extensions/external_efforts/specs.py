"""Specs with the table of another tool, for tests of all generated models."""

from __future__ import annotations

from tests.extensions.external_efforts.world import declared

LIMITS = {"singling_out": 0.1, "linkability": 0.1, "inference": 0.1, "closest_record": 0.1}
SPECS = [declared(measured_limits=LIMITS)]
