"""Spark as an engine: tables in folders, without transactions and grants."""

from __future__ import annotations

from dbt_anonymize.extension import Extension

EXTENSION = Extension(name="spark", engines={"spark": "engine"})
