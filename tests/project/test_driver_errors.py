"""Errors of drivers, and errors that are none of theirs."""

from __future__ import annotations

import pytest

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.project.driver_errors import explain_driver_errors


def test_a_pipe_whose_reader_has_gone_is_no_error_of_the_warehouse() -> None:
    with pytest.raises(BrokenPipeError), explain_driver_errors():
        raise BrokenPipeError
    with pytest.raises(WarehouseError, match="could not be read"), explain_driver_errors():
        raise OSError("connection reset")
