"""Postgres as an engine: a server with roles and transactions in the place of files."""

from __future__ import annotations

from dbt_anonymize.extension import Extension

EXTENSION = Extension(name="postgres", engines={"postgres": "engine"})
