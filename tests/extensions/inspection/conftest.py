"""Fixtures of the evaluation, and the warehouse of the properties."""

from tests.evaluation.conftest import _one_worker, connection, log
from tests.properties.conftest import warehouse

__all__ = ["_one_worker", "connection", "log", "warehouse"]
