"""Rows are read of a Spark in the process of the command, and of no other."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.project import profile


def test_rows_of_a_spark_elsewhere_are_refused_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reach(method: str) -> None:
        credentials = SimpleNamespace(type="spark", method=method)
        found = SimpleNamespace(credentials=credentials)
        monkeypatch.setattr(profile, "read_profile", lambda *_: found)
        profile.require_reachable(tmp_path, None)

    reach("session")
    with pytest.raises(WarehouseError, match="reach only a Spark with `method: session`"):
        reach("thrift")
