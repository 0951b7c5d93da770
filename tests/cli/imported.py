"""Libraries that a command imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

IMPORTED = """
import sys
SLOW = {{'dbt', 'dbt_common', 'numpy', 'pandas', 'scipy', 'sklearn', 'sqlglot'}}
from dbt_anonymize.cli import app
try:
    app({words!r})
except SystemExit as end:
    print(end.code, file=sys.stderr)
print(sorted(SLOW & set(sys.modules)), file=sys.stderr)
"""


def imported(folder: Path, command: str) -> str:
    """Return which of these libraries a command imports, which must succeed."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED.format(words=command.split())],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    code, libraries = done.stderr.splitlines()[-2:]
    assert code == "0", done.stderr
    return libraries
