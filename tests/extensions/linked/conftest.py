"""The warehouse of the properties."""

from tests.properties.conftest import warehouse

__all__ = ["warehouse"]
