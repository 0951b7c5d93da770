"""A headless Chromium that tests talk to over pipes, by its DevTools protocol."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import re
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
_SECONDS = 60
_AXE = Path(__file__).parents[1] / ".axe" / "package" / "axe.min.js"


@dataclass
class Page:
    """A page, and every event that the browser told of it."""

    write_to: int
    read_from: int
    session: str | None = None
    events: list[dict[str, Any]] = field(default_factory=list)
    _number: int = 0
    _buffer: bytes = b""

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the answer to a command."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_to, json.dumps(message).encode() + b"\0")
        while True:
            got = self._next()
            if got.get("id") == self._number:
                assert "error" not in got, got
                answer: dict[str, Any] = got["result"]
                return answer
            self.events.append(got)

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page, awaited."""
        answer = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str, code: int) -> None:
        """Press a key, as a person does."""
        for kind in ("rawKeyDown", "keyUp"):
            self.send(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
            )

    def printed_pages(self) -> int:
        """Return how many pages a print has."""
        printed = base64.b64decode(self.send("Page.printToPDF")["data"])
        return len(re.findall(rb"/Type\s*/Page\b", printed))

    def axe(self) -> list[Any]:
        """Return what axe-core complains of; without it, a test is skipped."""
        if not _AXE.is_file():
            pytest.skip("NOT TESTED: accessibility by axe. Run `make chromium` first.")
        self.evaluate(f"{_AXE.read_text(encoding='utf-8')}; 0")
        found = "axe.run().then(r => r.violations.map(v => [v.id, v.nodes[0].html]))"
        complaints: list[Any] = self.evaluate(found)
        return complaints

    def open(self, url: str) -> None:
        """Open a page and wait until its charts are drawn."""
        self.send("Page.navigate", url=url)
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            if self.evaluate("document.documentElement?.dataset.ready") == "yes":
                return
            time.sleep(0.1)
        raise AssertionError(f"the page is not ready; events: {self.problems}")

    @property
    def problems(self) -> list[Any]:
        """Complaints of the console and the page."""
        kinds = {"Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"}
        return [event["params"] for event in self.events if event.get("method") in kinds]

    @property
    def requests(self) -> list[str]:
        """The addresses that were asked for."""
        return [
            str(event["params"]["request"]["url"])
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            assert select.select([self.read_from], [], [], _SECONDS)[0], "Chromium does not answer"
            part = os.read(self.read_from, 1 << 20)
            assert part, "Chromium has ended"
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer


@contextlib.contextmanager
def shown(file: Path, folder: Path) -> Iterator[Page]:
    """Open a file in a browser; without one, a test is skipped, and the last lines say so."""
    if BROWSER is None:
        pytest.skip("NOT TESTED: the report in a browser. Run `make chromium` first.")
    with page(folder) as found:
        found.open(file.as_uri())
        yield found


@contextlib.contextmanager
def page(folder: Path, *, width: int = 1100, height: int = 900) -> Iterator[Page]:
    """Start a browser with one page; its profile lies in the folder."""
    assert BROWSER
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    # Chromium reads commands from 3 and writes to 4; the shell must not overwrite one by the other.
    theirs = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_read, from_write)]
    command = f'exec "$0" "$@" 3<&{theirs[0]} 4>&{theirs[1]}'
    arguments = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--no-first-run",
        "--remote-debugging-pipe",
        f"--user-data-dir={folder}",
        f"--window-size={width},{height}",
        "about:blank",
    ]
    process = subprocess.Popen(
        ["bash", "-c", command, BROWSER, *arguments],
        pass_fds=theirs,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for end in (to_read, from_write, *theirs):
        os.close(end)
    try:
        found = Page(to_write, from_read)
        target = found.send("Target.createTarget", url="about:blank")
        attached = found.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        found.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            found.send(f"{domain}.enable")
        yield found
        found.session = None
        with contextlib.suppress(AssertionError):
            found.send("Browser.close")
    finally:
        process.terminate()
        process.wait(_SECONDS)
        os.close(to_write)
        os.close(from_read)
