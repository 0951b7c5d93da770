"""Tasks of the processes that the launcher starts."""

from __future__ import annotations

import itertools
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import duckdb
import sklearn.tree  # noqa: F401 (imported once, not by every build)
from dbt.adapters.duckdb.connections import DuckDBConnectionManager
from dbt.cli.main import dbtRunner

from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import open_warehouse
from dbt_anonymize.release import audit as release_audit
from dbt_anonymize.release import lock as release_lock
from dbt_anonymize.release import publish as publish_module
from dbt_anonymize.release.publish import publish
from dbt_anonymize.spec import load_specs
from tests.faults.people import RELEASE, TABLE

_REQUESTS_OF_A_SESSION = 5
_PUBLISHING = {str(module.__file__) for module in (publish_module, release_audit, release_lock)}


def dbt(folder: str, arguments: list[str]) -> int:
    """Run a dbt command."""
    os.chdir(folder)
    result = dbtRunner().invoke([*arguments, "--profiles-dir", folder])
    if result.exception is not None:
        print(result.exception)  # noqa: T201 (as the command line does)
    # The process ends at once, without what closes databases at the end of an interpreter.
    DuckDBConnectionManager.close_all_connections()
    return 0 if result.success else 1


def publish_table(
    folder: str, warehouse: str, relation: str, longest_wait: float = release_lock.LONGEST_WAIT
) -> int:
    """Publish once."""
    release_lock.LONGEST_WAIT = longest_wait
    with duckdb.connect(f"{folder}/{warehouse}") as session:
        publish(session, relation=relation, table=TABLE, folder=folder, path=RELEASE)
    return 0


def publish_in_turn(folder: str, warehouse: str, relations: list[str], times: int) -> int:
    """Publish so many times, one relation after the other."""
    with duckdb.connect(f"{folder}/{warehouse}") as session:
        for relation in itertools.islice(itertools.cycle(relations), times):
            publish(session, relation=relation, table=TABLE, folder=folder, path=RELEASE)
    return 0


def hold_lock(folder: str, holds: str) -> int:
    """Keep others from publishing until this is killed."""
    with release_lock.exclusive_publication(Path(folder) / RELEASE):
        Path(holds).touch()
        signal.pause()
    return 0


def publish_until_line(folder: str, warehouse: str, relation: str, number: int) -> int:
    """Publish, and be killed before that line of the code that publishes.

    Lines are counted as they run for the first time.
    """
    seen: set[tuple[str, int]] = set()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in _PUBLISHING:
            return None
        if event == "line":
            seen.add((frame.f_code.co_filename, frame.f_lineno))
            if len(seen) > number:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    with duckdb.connect(f"{folder}/{warehouse}") as session:
        sys.settrace(trace)
        publish(session, relation=relation, table=TABLE, folder=folder, path=RELEASE)
        sys.settrace(None)
    return 0


def relink_again_and_again(folder: str, purpose: str, values: list[str]) -> int:
    """Go back to people until this is killed; each request has a row more than the one before.

    Prints the number of each attempt, and how many rows a request had once it shows people.
    """
    from dbt_anonymize.extensions.custody.relink.released_rows import GivenRows
    from dbt_anonymize.extensions.custody.relink.run import relink

    project = find_project(Path(folder))
    (spec,) = load_specs(project.root, ["customers"])
    rows = 0
    while True:
        with open_warehouse(project) as warehouse:
            for _ in range(_REQUESTS_OF_A_SESSION):
                rows += 1
                given = GivenRows(rows, {values[rows % len(values)]: rows})
                people = relink(
                    warehouse, spec, purpose=purpose, input_rows=given, on_recorded=_print_attempt
                )
                for _ in people.batches:
                    _print_now("shown", rows)


def _print_attempt(_: object, number: int) -> None:
    _print_now("attempt", number)


def _print_now(*words: object) -> None:
    os.write(1, f"{' '.join(map(str, words))}\n".encode())


def write_and_wait(file: str, sql: str, written: str) -> int:
    """Change a database and keep it open, with its log, until this is killed."""
    with duckdb.connect(file) as session:
        session.execute(sql)
        Path(written).touch()
        signal.pause()
    return 0


def read_while_open(file: str, query: str, stop: str) -> int:
    """Keep a release open and read it again and again; fail if it ever differs.

    Prints how often it has read.
    """
    with duckdb.connect(file, read_only=True) as reader:
        first = reader.execute(query).fetchall()
        times = 0
        while not Path(stop).exists():
            assert reader.execute(query).fetchall() == first
            times += 1
            if times == 1:
                Path(f"{stop}.reading").touch()
    print(times)  # noqa: T201 (read by the test)
    return 0
