"""A Postgres of the tests' own: a cluster in a temporary folder, on the loopback address alone."""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.engines.ports import free_port

# Whom the server runs as where the tests run as root, which it refuses.
ACCOUNTS = ("postgres", "nobody")
_SECONDS_TO_START = 30
# Nothing of it outlives the tests, so that nothing needs to survive a power cut.
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "50",
}


def find_binaries() -> Path | None:
    """Return the folder of `postgres` and `initdb`, or None where there is no server."""
    found = shutil.which("postgres")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((f for f in folders if (f / "postgres").exists() and (f / "initdb").exists()), None)


@contextlib.contextmanager
def temporary_cluster(binaries: Path) -> Iterator[str]:
    """Start a server, and give the URL of its superuser; it is stopped and removed again."""
    account = _account()
    owner = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if account else {}
    folder = Path(tempfile.mkdtemp(prefix="dbt_anonymize_postgres_"))
    password, port = secrets.token_hex(16), free_port()
    try:
        (folder / "password").write_text(password, encoding="utf-8")
        if account:
            for path in (folder / "password", folder):
                os.chown(path, account.pw_uid, account.pw_gid)
        subprocess.run(
            [
                *(binaries / "initdb", "--pgdata", folder / "data", "--username", "tests"),
                *("--auth", "scram-sha-256", "--pwfile", folder / "password"),
                *("--encoding", "UTF8", "--no-locale", "--no-sync"),
            ],
            **owner,
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        settings = [part for k, v in _SETTINGS.items() for part in ("-c", f"{k}={v}")]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [binaries / "postgres", "-D", folder / "data", "-p", str(port), *settings],
                **owner,
                cwd=folder,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            url = f"postgresql://tests:{password}@127.0.0.1:{port}/postgres"
            _wait(server, url, folder / "log")
            yield url
        finally:
            server.send_signal(signal.SIGINT)  # without waiting for clients
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _account() -> pwd.struct_passwd | None:
    """Return whom the server runs as; None for whoever runs the tests."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    return next(known[name] for name in ACCOUNTS if name in known)


def _wait(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    import psycopg2

    end = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < end and server.poll() is None:
        with contextlib.suppress(psycopg2.OperationalError):
            psycopg2.connect(url).close()
            return
        time.sleep(0.05)
    raise RuntimeError(f"Postgres did not start:\n{log.read_text('utf-8', errors='replace')}")
