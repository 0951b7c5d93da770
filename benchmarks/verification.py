"""Time of the content check, and of its search of a large file beside `grep -F`.

usage: python benchmarks/verification.py [TEXTS [MEGABYTES [PEOPLE]]]

Random numbers of eleven digits in random bytes, ten of them planted. grep reads the same texts
from a file; it is left out where there are more than it can prepare for in minutes. Then the whole
proof: everybody has a name and a telephone number of her own in the vault, a record in the release,
and a text of her own in the warehouse. It is run with all values together, and in four parts.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

import duckdb
import numpy as np

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))

from dbt_anonymize.extensions.identifier_search import values as identifier_values  # noqa: E402 (as the next one)
from dbt_anonymize.extensions.identifier_search.byte_search import BytePatterns  # noqa: E402
from dbt_anonymize.extensions.identifier_search.content import check_content  # noqa: E402
from dbt_anonymize.verify.checked import Checked  # noqa: E402
from tests.verify import clinic as clinics  # noqa: E402

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
        assert (found > 0).sum() == PLANTED, (
            "the search must find what was planted, and nothing else"
        )
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


def content(people: int) -> None:
    """Check a release of so many people, and print what it took."""
    clinics.PEOPLE = people
    with tempfile.TemporaryDirectory() as folder:
        clinic = clinics.open_clinic(Path(folder) / "clinic")
        with duckdb.connect(str(clinic.warehouse_file)) as connection:
            connection.execute(
                "create table letters as select i as number, 'dear ' || md5(i::varchar) as letter "
                "from range(?) as numbers(i)",
                [people],
            )
            connection.execute("insert into letters values (-1, 'dear Person Dowsky-55')")
        for parts in (1, 4):
            # Name, telephone number and record key.
            at_once = -(-3 * people // parts)
            started = time.perf_counter()
            fewer = mock.patch.object(identifier_values, "values_at_once", return_value=at_once)
            with fewer, clinic.open() as warehouse:
                findings = check_content(
                    Checked(warehouse, warehouse, clinic.project, clinic.spec, clinic.release, None)
                )
            seconds = time.perf_counter() - started
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
            found = {finding.subject for finding in findings if not finding.holds}
            assert "main.letters.letter" in found, "the proof must find what was planted"
            print(
                f"content, {people:,} people, {at_once:,} values at once: {seconds:.1f} s "
                f"({people / seconds:,.0f} people/s), at most {memory:.1f} GB of memory"
            )


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    texts, megabytes, people = given + [100_000, 200, 300_000][len(given) :]
    main(texts, megabytes)
    content(people)
