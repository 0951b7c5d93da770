"""How fast many texts are searched for in a large file, beside `grep -F` in the same run.

usage: python benchmarks/verification.py [TEXTS [MEGABYTES]]

Random numbers of eleven digits in random bytes, ten of them planted. grep reads the same texts
from a file; it is left out where there are more than it can prepare for in minutes.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from dbt_anonymize.verification.byte_search import BytePatterns

PLANTED = 10
_MEGABYTE = 1 << 20
_MOST_FOR_GREP = 100_000


def main(texts: int, megabytes: int) -> None:
    """Write a file, search it both ways, and print what it took."""
    random = np.random.default_rng(1)
    numbers = random.choice(10**11, size=texts + PLANTED, replace=texts > 10**7)
    patterns = [b"%011d" % number for number in numbers]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        with path.open("wb") as file:
            for _ in range(megabytes):
                file.write(random.integers(0, 256, _MEGABYTE, dtype=np.uint8).tobytes())
            file.write(b" ".join(patterns[:PLANTED]))
        started = time.perf_counter()
        search = BytePatterns(patterns)
        prepared = time.perf_counter()
        found = search.occur_in_file(path)
        seconds = time.perf_counter() - prepared
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
        assert found.sum() == PLANTED, "the search must find what was planted, and nothing else"
        print(
            f"{texts:,} texts in {megabytes:,} MB: prepared in {prepared - started:.1f} s, "
            f"searched in {seconds:.1f} s ({megabytes / seconds:.0f} MB/s), "
            f"{memory:.1f} GB of memory"
        )
        if texts <= _MOST_FOR_GREP:
            _grep(Path(folder), path, patterns)


def _grep(folder: Path, path: Path, patterns: list[bytes]) -> None:
    """Search for the same texts with grep, the usual tool."""
    grep = shutil.which("grep")
    if grep is None:
        print("grep: not installed")
        return
    listed = folder / "texts"
    listed.write_bytes(b"\n".join(patterns))
    started = time.perf_counter()
    command = [grep, "-aoF", "-f", str(listed), str(path)]
    finished = subprocess.run(command, capture_output=True, check=True, env={"LC_ALL": "C"})  # noqa: S603
    seconds = time.perf_counter() - started
    assert len(set(finished.stdout.split())) == PLANTED, "grep must find the same"
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024**2
    print(f"grep -F: {seconds:.1f} s, {memory:.1f} GB of memory")


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(*(given + [100_000, 200][len(given) :]))
