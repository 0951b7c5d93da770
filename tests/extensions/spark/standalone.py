"""A standalone Spark on the loopback address: a master, and two workers, an executor each."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from tests.engines.ports import free_port

# Where the tests find its address.
VARIABLE = "DBT_ANONYMIZE_SPARK_MASTER"
# What they are told to start one.
STANDALONE = "standalone"
_SECONDS_TO_START = 60
_DEPLOYED = "org.apache.spark.deploy"


@contextlib.contextmanager
def standalone(folder: Path) -> Iterator[str]:
    """Start master and workers, and give the address; they end with the tests."""
    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    local = ("--host", "127.0.0.1", "--webui-port", "0")
    with contextlib.ExitStack() as running:
        running.enter_context(_started(folder, "master.Master", *local, "--port", str(port)))
        _wait(folder / "master.Master.log", "I have been elected leader")
        for number in (1, 2):
            worker = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"w{number}"))
            running.enter_context(_started(folder, "worker.Worker", *local, *worker, url))
        _wait(folder / "worker.Worker.log", "Successfully registered with master", times=2)
        yield url


@contextlib.contextmanager
def _started(folder: Path, name: str, *arguments: str) -> Iterator[None]:
    package = find_spec("pyspark")
    assert package is not None
    assert package.origin is not None
    command = Path(package.origin).parent / "bin" / "spark-class"
    with (folder / f"{name}.log").open("ab") as log:
        process = subprocess.Popen(
            [command, f"{_DEPLOYED}.{name}", *arguments], stdout=log, stderr=subprocess.STDOUT
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


def _wait(log: Path, said: str, times: int = 1) -> None:
    end = time.monotonic() + _SECONDS_TO_START
    while log.read_text("utf-8", "replace").count(said) < times:
        assert time.monotonic() < end, log.read_text("utf-8", "replace")
        time.sleep(0.2)
