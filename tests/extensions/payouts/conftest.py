"""The warehouse of the properties, and a project to write specs into."""

from tests.properties.conftest import warehouse
from tests.spec.conftest import write

__all__ = ["warehouse", "write"]
