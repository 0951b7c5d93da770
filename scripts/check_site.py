"""Check that a built site loads nothing from another host: `check_site.py build/site`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

# A link leads away when somebody follows it; these load by themselves.
_LOADS = {"src", "srcset", "poster", "data", "background", "action"}
_ELSEWHERE = re.compile(r"^\s*(?:[a-z]+:)?//", re.I)
_IN_CSS = re.compile(r"(?:url\(|@import)\s*[\"']?\s*((?:https?:)?//[^\s\"')]+)", re.I)


class _Loads(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._is_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag loads, and what makes the theme load a script."""
        given = {name: value or "" for name, value in attrs}
        loads = {*_LOADS, "href"} if tag in {"link", "base", "use", "image"} else _LOADS
        self.found += [v for n, v in given.items() if n in loads and _ELSEWHERE.match(v)]
        self.found += _IN_CSS.findall(given.get("style", ""))
        if "mermaid" in given.get("class", "").split():
            self.found.append("mermaid, which the theme loads from a host")
        self._is_style = tag == "style"

    def handle_data(self, data: str) -> None:
        """Note what a style sheet within the page loads."""
        if self._is_style:
            self.found += _IN_CSS.findall(data)


def loads(path: Path) -> list[str]:
    """Return what a page, picture or style sheet loads from another host."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".css":
        return _IN_CSS.findall(text)
    parser = _Loads()
    parser.feed(text)
    return parser.found


def findings(folder: Path) -> Iterator[str]:
    """Give a line for each thing that the site loads from another host."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".html", ".css", ".svg"}:
            for found in loads(path):
                yield f"{path.relative_to(folder)}: loads {found}"


if __name__ == "__main__":
    site = Path(sys.argv[1])
    if not (site / "index.html").is_file():
        sys.exit(f"{site}: no site")
    if lines := list(findings(site)):
        sys.exit("\n".join(lines))
