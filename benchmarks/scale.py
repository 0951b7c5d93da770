"""Cost of a whole build of a large table: seconds, CPU and memory of each relation.

usage: python benchmarks/scale.py [--rows ROWS] [--memory GB] [--threads THREADS]

People with 8 quasi-identifiers and a sensitive column, drawn by a hash of their number, lie in a
Parquet file that a view of the project reads. `dbt build` runs one node after the other. What has
no privacy in it runs before on the same file, as the floor: a copy of the same columns, and a plain
``group by``. CPU and memory are those of this process, in which dbt and DuckDB run. System seconds,
which are part of the CPU seconds, are mostly page faults, and differ between machines.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import yaml
from metering import cpu_of_tree, memory_of_tree

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))

from dbt_anonymize.project.generate import generate  # noqa: E402 (found by the line above)
from tests.projects import Project  # noqa: E402
from tests.worlds.specs import SENSITIVE, categories, intervals, spec_of  # noqa: E402

PERSON = "person_id"
# Values, how skewed they are, and how many of one level become one of the next.
CATEGORIES = {
    "region": (60, 1.5, (5, 20)),
    "sex": (2, 1.0, ()),
    "education": (5, 1.5, (3,)),
    "marital": (4, 2.0, ()),
    "occupation": (8, 1.5, (4,)),
    "household": (4, 2.0, (2,)),
    "origin": (10, 4.0, (3,)),
}
AGES = (100, 1.2, (5, 10, 20))
# From the finest to the coarsest.
EFFORTS = (
    {"age": 2, "region": 1, "education": 0, "occupation": 1, "household": 1, "origin": 1},
    {"age": 3, "region": 2, "education": 1, "occupation": 1, "household": 1, "origin": 1},
    {
        "age": 4,
        "region": 2,
        "education": 1,
        "marital": 1,
        "occupation": 2,
        "household": 1,
        "origin": 2,
    },
)
NAMES = ("age", *CATEGORIES)


def drawn(place: int, values: int, skew: float) -> str:
    """Return the SQL of a number below ``values`` that depends on the person alone."""
    uniform = f"(hash(i * 16 + {place}) % 1000000007) / 1000000007.0::double"
    return f"floor({values} * pow({uniform}, {skew}))::integer"


def write_people(file: Path, rows: int) -> None:
    """Write the table."""
    age = drawn(0, AGES[0], AGES[1])
    columns = [f"{age} as age"]
    for place, (name, (values, skew, _)) in enumerate(CATEGORIES.items(), 1):
        columns.append(f"'{name} ' || {drawn(place, values, skew)} as {name}")
    # Most fall ill as others of their age do.
    illness = f"case when hash(i * 16 + 14) % 10 < 6 then {age} // 10 else {drawn(15, 20, 1.0)} end"
    columns.append(f"'illness ' || {illness} as illness")
    people = f"select i as {PERSON}, {', '.join(columns)} from range({rows}) as numbers(i)"  # noqa: S608
    with duckdb.connect() as connection:
        connection.execute(f"copy ({people}) to '{file}' (format parquet)")


def hierarchy(name: str) -> str:
    """Return a hierarchy as CSV: groups of neighbours, then ``*``."""
    values, _, merged = AGES if name == "age" else CATEGORIES[name]
    keys = "lower_bound,upper_bound" if name == "age" else "value"
    heads = [f"level_{level}" for level in range(1, len(merged) + 2 + (name == "age"))]
    lines = [",".join([keys, *heads])]
    for i in range(values):
        key = f"{i},{i + 1},{name} {i}" if name == "age" else f"{name} {i}"
        lines.append(",".join([key, *(f"{name} {i // n * n}+" for n in merged), "*"]))
    return "\n".join(lines) + "\n"


def spec() -> dict[str, Any]:
    """Return the declaration of the anonymization."""
    columns = {"age": intervals("ages", len(AGES[2]) + 2)}
    columns |= {
        name: categories(f"{name}s", len(merged) + 1) for name, (_, _, merged) in CATEGORIES.items()
    }
    efforts = [{name: levels.get(name, 0) for name in NAMES} for levels in EFFORTS]
    return spec_of(
        "people",
        columns | {"illness": SENSITIVE},
        source={"ref": "census"},
        record_key=PERSON,
        target="illness",
        features=["age", "sex"],
        efforts=efforts,
        guarantees={"k_anonymity": {"k": 5}},
        suppression_limit=0.2,
        mapping="none",
    )


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write files by their paths in a folder."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def write_project(folder: Path, file: Path, settings: dict[str, Any]) -> Project:
    """Write the dbt project around the Parquet file."""
    output = {
        "type": "duckdb",
        "path": "scale.duckdb",
        "threads": 1,
        "settings": settings,
        "attach": [{"path": "vault/vault.duckdb", "alias": "vault"}],
    }
    project = {
        "name": "scale",
        "version": "1.0",
        "profile": "scale",
        "flags": {"send_anonymous_usage_stats": False},
    }
    texts = {
        "dbt_project.yml": json.dumps(project),
        "packages.yml": json.dumps({"packages": [{"local": "package"}]}),
        "profiles.yml": json.dumps({"scale": {"target": "t", "outputs": {"t": output}}}),
        "models/census.sql": f"select * from read_parquet('{file}')",  # noqa: S608
        "anonymizations/people.yml": yaml.safe_dump(spec(), sort_keys=False),
        **{f"seeds/{name}s.csv": hierarchy(name) for name in NAMES},
    }
    write_files(folder, texts)
    for place in ("vault", "package"):
        (folder / place).mkdir(mode=0o700)
    for part in ("dbt_project.yml", "macros"):
        (folder / "package" / part).symlink_to(REPOSITORY / part)
    made = Project(folder, "scale.duckdb")
    assert made.dbt("deps", "--quiet").succeeded
    generate(folder)
    return made


class Meter:
    """Seconds, CPU seconds and the most memory between two moments; ``peak`` is that of all.

    Of this process, or ``with_children`` of those that it has started too; or of the process
    ``root`` and its children.
    """

    def __init__(self, *, with_children: bool = False, root: int | None = None) -> None:
        self.most = self.peak = 0
        self._started = (0.0, 0.0, 0.0)
        has_tree = with_children or root is not None
        self._cpu = partial(cpu_of_tree, root) if has_tree else _cpu
        self._memory = partial(memory_of_tree, root) if has_tree else _memory
        self._pause = 0.5 if has_tree else 0.05
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            self.most = max(self.most, self._memory())
            self.peak = max(self.peak, self.most)
            time.sleep(self._pause)

    def start(self) -> None:
        """Forget what was before."""
        self.most, self._started = 0, (time.perf_counter(), *self._cpu())

    def show(self, name: str, floor: float | None = None) -> float:
        """Print what it took since the start, and return the CPU seconds."""
        now = (time.perf_counter(), *self._cpu())
        wall, user, system = (new - old for new, old in zip(now, self._started, strict=True))
        cpu = user + system
        times = f"{cpu / floor:8.2f} x" if floor else ""
        columns = f"{wall:9.1f}{cpu:9.1f}{system:9.1f}{self.most / 1e9:8.1f}{times}"
        print(f"{name:<34}{columns}", flush=True)
        return cpu


def _memory() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _cpu() -> tuple[float, float]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime, used.ru_stime


def print_heads() -> None:
    """Print what stands in the columns of `Meter.show`."""
    print(f"{'':<34}{'seconds':>9}{'CPU s':>9}{'system':>9}{'GB':>8}")


@contextmanager
def metered(meter: Meter, name: str) -> Iterator[None]:
    """Print what a block takes."""
    meter.start()
    yield
    meter.show(name)


def floors(folder: Path, file: Path, settings: dict[str, Any], meter: Meter) -> dict[str, float]:
    """Run what has no privacy in it; CPU seconds by the relation that they are the floor of."""
    columns = ", ".join(NAMES)
    statements = {
        "microdata": f"create table copied as select * from '{file}'",  # noqa: S608
        "frequencies": (
            f"create table grouped as select {columns}, illness, count(*) as records "  # noqa: S608
            f"from copied group by {columns}, illness"
        ),
    }
    with duckdb.connect(str(folder / "floor.duckdb"), config=settings) as connection:
        found = {}
        for relation, statement in statements.items():
            meter.start()
            connection.execute(statement)
            name = "floor: copy" if relation == "microdata" else "floor: group by"
            found[relation] = meter.show(name)
    (folder / "floor.duckdb").unlink()
    return found


def build(project: Project, meter: Meter, floor: dict[str, float]) -> None:
    """Build every node, and print what each took."""
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager  # noqa: PLC0415

    os.chdir(project.folder)
    errors = run_dbt(project.folder, meter, floor)
    DuckDBConnectionManager.close_all_connections()
    if errors:
        sys.exit(errors)


def run_dbt(folder: Path, meter: Meter, floor: dict[str, float], *arguments: str) -> str:
    """Build what is selected, print what each node took, and return the errors."""
    from dbt.cli.main import dbtRunner  # noqa: PLC0415

    errors: list[str] = []

    def watch(event: Any) -> None:
        if event.info.level == "error":
            errors.append(event.info.msg)
        if event.info.name == "NodeStart":
            meter.start()
        elif event.info.name == "NodeFinished":
            name = event.data.node_info.node_name
            relation = name.removeprefix("people_")
            cpu = meter.show(name, floor.get(relation))
            if relation == "frequencies":
                floor["classes"] = cpu

    command = ["build", "--quiet", "--profiles-dir", str(folder), *arguments]
    succeeded = dbtRunner(callbacks=[watch]).invoke(command).success
    return "" if succeeded else "\n".join(errors) or "dbt failed"


def show_floor_of_classes(database: Path, settings: dict[str, Any], meter: Meter) -> None:
    """Group the frequencies by the labels of every effort, and copy the classes, nothing else."""
    with duckdb.connect(str(database), config=settings) as connection:
        with metered(meter, "floor of classes: its group by"):
            for number, effort in enumerate(({}, *EFFORTS)):
                leveled = [name for name in NAMES if effort.get(name)]
                labels = [f"{name}s.level_{effort[name]}" for name in leveled]
                labels += [f"found.{name}" for name in NAMES if name not in leveled]
                joins = " ".join(
                    f"join {name}s on {name}_leaf = {name}s."
                    + ("lower_bound" if name == "age" else "value")
                    for name in leveled
                )
                connection.execute(
                    f"create temp table grouped_{number} as select {', '.join(labels)}, illness, "  # noqa: S608
                    f"sum(records) as records from people_frequencies as found {joins} group by all"
                )
        with metered(meter, "floor of classes: its copy"):
            connection.execute("create table copied as from people_classes")


def show_counts_of_release(project: Path, settings: dict[str, Any], meter: Meter) -> None:
    """Count the rows of the release once more: what is left is its file, and the check of both."""
    (compiled,) = (project / "target" / "compiled").rglob("people_anonymized.sql")
    counts = compiled.read_text(encoding="utf-8")
    warehouse = duckdb.connect(str(project / "scale.duckdb"), config=settings)
    with warehouse as connection, metered(meter, "of the release: its counts"):
        connection.execute(f"create table counted as {counts}")


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--memory", type=int, default=8, help="limit of DuckDB in GB (default 8)")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    settings = {"threads": given.threads, "memory_limit": f"{given.memory}GB"}
    meter = Meter()
    print(f"{given.rows:,} records, DuckDB {duckdb.__version__}, {settings}")
    print_heads()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "people.parquet"
        with metered(meter, "(writing the Parquet file)"):
            write_people(file, given.rows)
        floor = floors(Path(folder), file, settings, meter)
        project = write_project(Path(folder) / "project", file, settings)
        build(project, meter, floor)
        show_floor_of_classes(project.folder / "scale.duckdb", settings, meter)
        show_counts_of_release(project.folder, settings, meter)
        released = Path(folder) / "project" / "release"
        (release,) = released.rglob("*.duckdb")
        with duckdb.connect(str(Path(folder) / "copy.duckdb"), config=settings) as connection:
            connection.execute(f"attach '{release}' as released (read_only)")
            meter.start()
            connection.execute("create table copied as from released.people_anonymized")
            meter.show("floor of the release: its copy")
            # A file that others can open is one without a log.
            connection.execute("checkpoint")
            meter.show("floor of the release: its file")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"peak of the process: {peak:.1f} GB")


if __name__ == "__main__":
    main()
