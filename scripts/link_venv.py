"""Link a virtual environment to a second place, for a few packages that differ there.

Files are hard links: pip replaces files and never writes into them, so what is installed into one
environment does not change the other. It takes a second and a few megabytes.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def link_venv(source: Path, target: Path, packages: Path | None = None) -> None:
    """Make a virtual environment with the packages of another.

    Parameters
    ----------
    source : Path
        A virtual environment.
    target : Path
        Folder of the new one; what was there is removed.
    packages : Path, optional
        Further packages, as ``pip install --target`` leaves them.
    """
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(source, target, symlinks=True, copy_function=os.link)
    if packages is not None:
        (own,) = (target / "lib").glob("python3*/site-packages")
        for path in packages.iterdir():
            if path.is_dir() and path.name != "bin":
                place = own / path.name
                shutil.copytree(path, place, copy_function=_link_new, dirs_exist_ok=True)
    # Scripts name the interpreter that runs them.
    old, new = (str(folder.absolute()).encode() for folder in (source, target))
    for script in (target / "bin").iterdir():
        is_own = script.is_file() and not script.is_symlink()
        if is_own and old in (text := script.read_bytes()):
            mode = script.stat().st_mode
            script.unlink()
            script.write_bytes(text.replace(old, new))
            script.chmod(mode)


def _link_new(source: str, target: str) -> None:
    """Link a file; packages of one namespace share some."""
    if not os.path.lexists(target):
        os.link(source, target)


if __name__ == "__main__":
    link_venv(*map(Path, sys.argv[1:]))
