"""Whoever watches a server is heard if that ends early; this needs no server."""

from __future__ import annotations

import time
from typing import Any, cast

import pytest

from tests.extensions.postgres.server import Server, Watch


class Gone:
    """A server that lets nobody in."""

    builder = "builder"

    def connection(self, user: str) -> Any:
        """Refuse."""
        raise ConnectionError(f"no connection for {user}")


def test_a_watch_that_ended_early_has_seen_nothing() -> None:
    watch = Watch(cast(Server, Gone()), "analyst", "vault")
    with pytest.raises(ConnectionError, match="builder"), watch.running():
        time.sleep(0.1)
    assert watch.looks == 0


def test_an_error_of_what_is_watched_is_not_hidden() -> None:
    with pytest.raises(ValueError, match="build"), Watch(cast(Server, Gone()), "a", "v").running():
        raise ValueError("the build failed")
