"""Hooks of mkdocs: pages from above `docs`, and Markdown as GitHub reads it."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# Pages of the site that lie above `docs`.
ABOVE = {
    "README.md": "overview.md",
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)\s#]+)(#[^)\s]*)?\)")
_FENCE = re.compile(r"^(\s*)```(\w+)[ ]+([^\s`]+)$")
_ITEM = re.compile(r"^(?:[-*]|\d+\.) ")


def on_config(config: Any) -> Any:
    """Make the anchors that GitHub makes."""
    from pymdownx.slugs import slugify  # noqa: PLC0415 (only the site needs it)

    config["mdx_configs"].setdefault("toc", {})["slugify"] = slugify(case="lower")
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages from above `docs`."""
    from mkdocs.structure.files import File  # noqa: PLC0415 (only the site needs it)

    for source, place in ABOVE.items():
        content = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, place, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return Markdown that Python's parser reads like GitHub's, with links within the site."""
    return adapted(markdown, page.file.src_uri)


def adapted(markdown: str, place: str) -> str:
    """Return the Markdown of a page of the site."""
    source = {page: above for above, page in ABOVE.items()}.get(place, f"docs/{place}")
    lines: list[str] = []
    is_code = False
    for line in markdown.splitlines():
        text = line
        if line.lstrip().startswith("```"):
            text = _FENCE.sub(r'\1``` { .\2 title="\3" }', line)
            is_code = not is_code
        elif not is_code:
            text = _LINK.sub(lambda found: _link(found, source, place), line)
            if _ITEM.match(line) and not _follows_item(lines):
                lines.append("")
        # What belongs to an item of a list stands four columns in.
        is_inner = re.match(r" {2,3}\S", text) is not None
        lines.append("  " + text if is_inner else text)
    return "\n".join(lines)


def _follows_item(lines: list[str]) -> bool:
    """Tell whether the last lines are an item of a list in one paragraph."""
    for line in reversed(lines):
        if _ITEM.match(line):
            return True
        if not line.startswith("  "):
            return False
    return False


def _link(found: re.Match[str], source: str, place: str) -> str:
    """Return a link as the site has it; of a file that it does not have, the text alone."""
    image, text, target, anchor = found.groups()
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    page = ABOVE.get(path, path.removeprefix("docs/") if path.startswith("docs/") else None)
    if page is None:
        return text
    relative = posixpath.relpath(page, posixpath.dirname(place) or ".")
    return f"{image}[{text}]({relative}{anchor or ''})"
