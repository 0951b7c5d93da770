"""Attacks as a check of `verify`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt_anonymize.extension import Check, Reads
from dbt_anonymize.extensions.attacks import EXTENSION
from tests.projects import Project
from tests.verify.test_command import run


def test_a_broken_extension_breaks_no_other_check(
    consumer: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    consumer.build("--select", "+customers_anonymized")
    broken = Check("attacks", "gone.check_attacks", Reads.release)
    attacked = replace(EXTENSION, checks=(broken,))
    monkeypatch.setattr("dbt_anonymize.verify.checks.extensions", lambda: (attacked,))
    assert run(consumer, "--check", "guarantees").exit_code == 0
    result = run(consumer, "--check", "attacks")
    assert result.exit_code == 1, result.output
    assert "the extension attacks is broken" in result.output
