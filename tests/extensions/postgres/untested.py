"""Line at the end of a run without a server."""

from __future__ import annotations

import os

from tests.extensions.postgres.cluster import find_binaries
from tests.extensions.postgres.server import VARIABLE


def untested() -> str | None:
    """Return that nothing ran on a server, or None where something could."""
    if os.environ.get(VARIABLE) or find_binaries():
        return None
    return f"NOT TESTED: Postgres. Install the server, or name one in {VARIABLE}."
