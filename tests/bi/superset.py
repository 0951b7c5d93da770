"""Apache Superset of the tests' own, driven by its REST API: `make bi` installs it."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import secrets
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.chromium import Page
from tests.engines.ports import free_port
from tests.projects import REPOSITORY

PROGRAM = REPOSITORY / ".venv-bi" / "bin" / "superset"
NOT_TESTED = "NOT TESTED: Superset. Run `make bi`."
USER = "reader"
# As docs/dashboards.md says. Without the second, SQL reads every file that the server may read.
OPTIONS = "access_mode=read_only&enable_external_access=false"
_SECONDS = 300
# Bars grow for a second.
_SECONDS_TO_GROW = 4
_LOG_IN = """
(async () => {
    const [name, password] = %s, form = new FormData();
    form.append('username', name);
    form.append('password', password);
    form.append('csrf_token', document.querySelector('input[name=csrf_token]').value);
    await fetch('/login/', {method: 'POST', body: form});
})()
"""
_CROSSTAB = """
[...document.querySelectorAll('table.pvtTable tr')].map(row => [...row.cells].map(c => c.innerText))
"""
_CONFIG = """
SECRET_KEY = {key!r}
SQLALCHEMY_DATABASE_URI = "sqlite:///{folder}/superset.db"
TALISMAN_ENABLED = False
# The API would ask for a second token, of a session.
WTF_CSRF_ENABLED = False
"""


@dataclass(frozen=True)
class Superset:
    """A running server, and somebody who has logged in."""

    address: str
    token: str
    password: str

    def ask(self, path: str, body: Any = None, *, method: str | None = None) -> Any:
        """Return the answer of the API; one that is an error is raised with its text."""
        status, answer = _ask(f"{self.address}/api/v1/{path}", body, self.token, method)
        assert status < 400, f"{path}: {status} {answer}"
        return answer

    def add_database(self, name: str, address: str) -> int:
        """Connect a database, given as an address of SQLAlchemy, and return its number."""
        found = self.ask("database/", {"database_name": name, "sqlalchemy_uri": address})
        return int(found["id"])

    def add_release(self, name: str, file: Path) -> int:
        """Connect the file of a release, for reading it alone, and return its number."""
        return self.add_database(name, f"duckdb:///{file}?{OPTIONS}")

    def query(self, database: int, sql: str) -> list[dict[str, Any]]:
        """Return what SQL Lab finds, where people write their own queries."""
        asked = {"database_id": database, "sql": sql, "client_id": secrets.token_hex(4)}
        rows: list[dict[str, Any]] = self.ask("sqllab/execute/", asked)["data"]
        return rows

    def add_dataset(self, database: int, schema: str, table: str) -> int:
        """Make a data set of a table, and return its number."""
        table_ = {"database": database, "schema": schema, "table_name": table}
        return int(self.ask("dataset/", table_)["id"])

    def columns(self, dataset: int) -> dict[str, dict[str, Any]]:
        """Return what Superset knows of each column."""
        found = self.ask(f"dataset/{dataset}")["result"]["columns"]
        return {column["column_name"]: column for column in found}

    def save_chart(self, dataset: int, name: str, *, kind: str, **settings: Any) -> int:
        """Save a chart as somebody draws it in the browser, and return its number."""
        settings = {"viz_type": kind, "datasource": f"{dataset}__table", **settings}
        chart = {"slice_name": name, "viz_type": kind, "params": json.dumps(settings)}
        place = {"datasource_id": dataset, "datasource_type": "table"}
        return int(self.ask("chart/", chart | place)["id"])

    def draw(self, page: Page, chart: int) -> tuple[list[dict[str, Any]], bytes]:
        """Log in with a browser, draw a chart, and return the rows it is drawn of and a PNG."""
        self._open(page, chart, "canvas")
        time.sleep(_SECONDS_TO_GROW)
        answers = [
            event["params"]["requestId"]
            for event in page.events
            if event.get("method") == "Network.responseReceived"
            and "/chart/data" in event["params"]["response"]["url"]
        ]
        body = page.send("Network.getResponseBody", requestId=answers[-1])["body"]
        rows: list[dict[str, Any]] = json.loads(body)["result"][0]["data"]
        picture = page.send("Page.captureScreenshot", format="png")["data"]
        return rows, base64.b64decode(picture)

    def crosstab(self, page: Page, chart: int) -> list[list[str]]:
        """Return the lines of a pivot table as a browser shows them, from the first label on."""
        self._open(page, chart, "table.pvtTable")
        shown: list[list[str]] = page.evaluate(_CROSSTAB)
        return shown

    def _open(self, page: Page, chart: int, drawn: str) -> None:
        page.send("Page.navigate", url=f"{self.address}/login/")
        _wait_for(page, "document.querySelector('input[name=csrf_token]')?.value !== undefined")
        page.evaluate(_LOG_IN % json.dumps([USER, self.password]))
        page.events.clear()
        page.send("Page.navigate", url=f"{self.address}/explore/?slice_id={chart}&standalone=1")
        _wait_for(page, f"document.querySelectorAll('{drawn}').length > 0")

    def chart(self, dataset: int, **query: Any) -> list[dict[str, Any]]:
        """Return the rows that a chart draws."""
        asked = {
            "datasource": {"id": dataset, "type": "table"},
            "queries": [{"row_limit": 10_000, **query}],
            "result_format": "json",
            "result_type": "full",
        }
        rows: list[dict[str, Any]] = self.ask("chart/data", asked)["result"][0]["data"]
        return rows


def metric(sql: str, label: str) -> dict[str, str]:
    """Return a metric that somebody writes in SQL."""
    return {"expressionType": "SQL", "sqlExpression": sql, "label": label}


def _wait_for(page: Page, condition: str) -> None:
    end = time.monotonic() + _SECONDS
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"waited in vain for {condition}"
        time.sleep(0.2)


@contextlib.contextmanager
def superset(folder: Path) -> Iterator[Superset]:
    """Set one up in a folder, and stop it at the end."""
    password, port = secrets.token_hex(8), free_port()
    config = folder / "superset_config.py"
    config.write_text(_CONFIG.format(key=secrets.token_hex(32), folder=folder), encoding="utf-8")
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "PATH") if name in os.environ}
    environment = {**kept, "SUPERSET_CONFIG_PATH": str(config), "SUPERSET_HOME": str(folder)}

    def start(log: Any, *arguments: str) -> subprocess.Popen[bytes]:
        command: Sequence[str | Path] = [PROGRAM, *arguments]
        return subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
        )

    log = folder / "log"
    with log.open("wb") as written:
        who = ("--username", USER, "--firstname", "R", "--lastname", "R")
        admin = ("fab", "create-admin", *who, "--email", "r@r.example", "--password", password)
        for arguments in (("db", "upgrade"), ("init",), admin):
            assert start(written, *arguments).wait(_SECONDS) == 0, log.read_text("utf-8")[-2000:]
        server = start(written, "run", "--port", str(port), "--with-threads")
        address = f"http://127.0.0.1:{port}"
        try:
            yield Superset(address, _log_in(server, address, password, log), password)
        finally:
            server.terminate()
            server.wait(60)


def _log_in(server: subprocess.Popen[bytes], address: str, password: str, log: Path) -> str:
    person = {"username": USER, "password": password, "provider": "db", "refresh": False}
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end and server.poll() is None:
        with contextlib.suppress(OSError):
            status, answer = _ask(f"{address}/api/v1/security/login", person)
            assert status == 200, answer
            return str(answer["access_token"])
        time.sleep(0.5)
    raise AssertionError(f"Superset did not start:\n{log.read_text('utf-8')[-2000:]}")


def _ask(
    address: str, body: Any = None, token: str | None = None, method: str | None = None
) -> tuple[int, Any]:
    headers = {"Content-Type": "application/json"}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(address, data, headers, method=method)  # noqa: S310 (our server)
    try:
        with urllib.request.urlopen(asked, timeout=_SECONDS) as answer:  # noqa: S310
            return answer.status, json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()[:2000]


def values(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Return the values of rows as a chart draws them."""
    return [tuple(row.values()) for row in rows]
