"""Failures of the last build, from dbt's run results."""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbt_anonymize.project.layout import Project

_FAILED = frozenset({"error", "fail", "runtime error"})
# Beginning of the reasons of our own macros, which never hold a value.
_OURS = "is stopped; nothing is released and the earlier release is unchanged."
_STACK = "> in macro"
# Beginning of the last line of a Python model that we stop; our messages never hold a value.
_OF_PYTHON = re.compile(r"^\s*dbt_anonymize\.errors\.\w+: ", re.MULTILINE)


@dataclass(frozen=True)
class Failure:
    """A failure of a build.

    ``text`` names the failed nodes with our own reasons and nothing that could hold a value.
    ``has_results``: the same build made the results before it failed.
    """

    text: str
    has_results: bool


def last_failure(project: Project, manifest: Any, name: str) -> Failure | None:
    """Return the failures of the last dbt command upstream of a release; None if unknown."""
    file = project.root / os.environ.get("DBT_TARGET_PATH", "target") / "run_results.json"
    try:
        results = _read(file, file.stat().st_mtime_ns)
    except (OSError, ValueError, KeyError):
        return None
    nodes = {**manifest.nodes, **manifest.unit_tests}
    upstream = _upstream(nodes, f"{name}_anonymized")
    statuses = {result["unique_id"]: result["status"] for result in results}
    failed = [
        _redacted_message(nodes[result["unique_id"]], result.get("message") or "")
        for result in results
        if result["status"] in _FAILED
        and result["unique_id"] in nodes
        and upstream & {result["unique_id"], *_reads(nodes[result["unique_id"]])}
    ]
    if not failed:
        return None
    of_results = [key for key in upstream if nodes[key].name == f"{name}_results"]
    has_results = any(statuses.get(key) == "success" for key in of_results)
    return Failure(f"{name}: the last build failed. " + " ".join(failed), has_results)


@functools.lru_cache(maxsize=1)  # one file for all anonymizations
def _read(file: Path, _changed: int) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["results"]
    return results


def _upstream(nodes: dict[str, Any], name: str) -> set[str]:
    upstream: set[str] = set()
    queue = [key for key, node in nodes.items() if node.name == name]
    while queue:
        key = queue.pop()
        if key in nodes and key not in upstream:
            upstream.add(key)
            queue.extend(_reads(nodes[key]))
    return upstream


def _reads(node: Any) -> list[str]:
    return list(getattr(node.depends_on, "nodes", ()))  # a seed reads nothing


def _redacted_message(node: Any, message: str) -> str:
    """Return the failed node, and the reason if it is one of ours."""
    comment = re.search(r"/\* (.*) \*/", message) if node.resource_type == "test" else None
    reason = comment[1] + "." if comment else " ".join(_reason(message))
    reason = reason or "Its message is in the log of dbt."
    return f"{node.resource_type} {node.name}: {reason}"


def _reason(message: str) -> Iterator[str]:
    if stopped := list(_OF_PYTHON.finditer(message)):
        # Text after an empty line belongs to another exception.
        yield " ".join(message[stopped[-1].end() :].partition("\n\n")[0].split())
        return
    lines = iter(message.splitlines())
    if not any(_OURS in line for line in lines):
        return
    for line in lines:
        if line.strip().startswith(_STACK):
            return
        if line.strip():
            yield line.strip().removeprefix("- ")
