"""Link a virtual environment to a second place, for a few packages that differ there.

Files are hard links: pip replaces files and never writes into them, so what is installed into one
environment does not change the other. It takes a second and a few megabytes.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def link_venv(source: Path, target: Path) -> None:
    """Make a virtual environment with the packages of another.

    Parameters
    ----------
    source : Path
        A virtual environment.
    target : Path
        Folder of the new one; what was there is removed.
    """
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(source, target, symlinks=True, copy_function=os.link)
    # Scripts name the interpreter that runs them.
    old, new = (str(folder.absolute()).encode() for folder in (source, target))
    for script in (target / "bin").iterdir():
        is_own = script.is_file() and not script.is_symlink()
        if is_own and old in (text := script.read_bytes()):
            mode = script.stat().st_mode
            script.unlink()
            script.write_bytes(text.replace(old, new))
            script.chmod(mode)


if __name__ == "__main__":
    link_venv(*map(Path, sys.argv[1:]))
