"""CPU time (user and system) of commands in a project with 20 anonymizations of a small table.

The project is that of ``tests/consumer_project``, its spec under 20 names, built by `dbt build`;
one of them is built twice, so that `diff` has two releases to compare. Byte code is compiled before
anything is measured. Each figure is the median of runs that follow one that is not counted.

    python benchmarks/startup.py                       # this working tree
    python benchmarks/startup.py --against HEAD~3      # and a commit before it, in turn

``--server`` takes a Postgres: postgresql://user:password@host:port/database.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import yaml

REPOSITORY = Path(__file__).resolve().parent.parent
SHOP = REPOSITORY / "tests" / "consumer_project"
SPECS = 20
FIRST = "customers_01"
COMMANDS = ("--help", "generate --check", "generate", "results", f"diff {FIRST}", "doctor")
COMMAND = "import sys; from dbt_anonymize.cli import app; sys.argv[0] = 'dbt-anonymize'; app()"
DBT = "import sys; from dbt.cli.main import cli; cli()"
ON_POSTGRES = """
vars: {dbt_anonymize_python: false}
seeds: {shop: {customers: {+schema: vault}}}
"""


def main() -> None:
    """Print CPU seconds of each command, of this working tree and of a commit beside it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", metavar="COMMIT")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--server", metavar="URL", help="a Postgres in place of DuckDB")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        trees = {"now": REPOSITORY}
        with contextlib.ExitStack() as until_measured:
            if options.against:
                tree = until_measured.enter_context(checked_out(options.against, Path(place)))
                trees = {options.against: tree, **trees}
            columns = {name: measured(tree, Path(place), options) for name, tree in trees.items()}
    print(f"{'CPU seconds':<24}" + "".join(f"{name:>12}" for name in columns))
    for command in COMMANDS:
        cells = "".join(f"{seconds[command]:>12.2f}" for seconds in columns.values())
        print(f"{command:<24}{cells}")


@contextlib.contextmanager
def checked_out(commit: str, place: Path) -> Iterator[Path]:
    """Give a commit in a worktree of its own."""
    tree, git = place / "tree", ["git", "-C", str(REPOSITORY), "worktree"]
    subprocess.run([*git, "add", "-q", "--detach", str(tree), commit], check=True)  # noqa: S603
    try:
        yield tree
    finally:
        subprocess.run([*git, "remove", "--force", str(tree)], check=True)  # noqa: S603


def measured(tree: Path, place: Path, options: argparse.Namespace) -> dict[str, float]:
    """Return the median of CPU seconds of each command, with the code of a tree."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("DBT_", "PYTHON"))}
    environment["PYTHONPATH"] = str(tree / "python")
    for folder in (tree / "python", Path(sys.prefix, "lib")):
        compileall.compile_dir(folder, quiet=2)
    project = place / f"project_{len(list(place.iterdir()))}"
    made(project, tree, options.server, environment)
    return {
        command: statistics.median(
            [cpu_seconds(command, project, environment) for _ in range(options.runs + 1)][1:]
        )
        for command in COMMANDS
    }


def made(project: Path, tree: Path, server: str | None, environment: Mapping[str, str]) -> None:
    """Build the project once, and one anonymization with one customer less."""
    shutil.copytree(
        SHOP, project, ignore=shutil.ignore_patterns("target", "dbt_packages", "*lock*")
    )
    (project / "packages.yml").write_text(yaml.safe_dump({"packages": [{"local": str(tree)}]}))
    shutil.rmtree(project / "models")
    (project / "models").mkdir()
    spec = project / "anonymizations" / "customers.yml"
    text = spec.read_text(encoding="utf-8").replace("details: all\n", "")
    for number in range(1, SPECS + 1):
        name = f"customers_{number:02}"
        own = text.replace("name: customers", f"name: {name}")
        spec.with_name(f"{name}.yml").write_text(own, encoding="utf-8")
    spec.unlink()
    all_at_once, first = ["-c", DBT, "build"], ["--select", f"+path:models/{FIRST}"]
    if server:
        (project / "profiles.yml").write_text(profile_of(server), encoding="utf-8")
        with (project / "dbt_project.yml").open("a", encoding="utf-8") as opened:
            opened.write(ON_POSTGRES)
        all_at_once, first = ["-c", COMMAND, "build"], [FIRST]
    run(["-c", DBT, "deps"], project, environment)
    run(["-c", COMMAND, "generate"], project, environment)
    run(all_at_once, project, environment)
    seed = project / "seeds" / "customers.csv"
    lines = seed.read_text(encoding="utf-8").splitlines(keepends=True)
    seed.write_text("".join(lines[:-1]), encoding="utf-8")
    run([*all_at_once, *first], project, environment)


def profile_of(server: str) -> str:
    """Return a profile of a server of Postgres."""
    url = urlsplit(server)
    output = {
        "type": "postgres",
        "host": url.hostname,
        "port": url.port or 5432,
        "user": url.username,
        "password": url.password or "",
        "dbname": url.path.lstrip("/"),
        "schema": "startup",
        "threads": 2,
    }
    return yaml.safe_dump({"shop": {"target": "dev", "outputs": {"dev": output}}})


def cpu_seconds(command: str, project: Path, environment: Mapping[str, str]) -> float:
    """Return the CPU time that a command takes, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(["-c", COMMAND, *command.split()], project, environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(words: list[str], project: Path, environment: Mapping[str, str]) -> None:
    """Run a command of Python in the project; it must succeed."""
    finished = subprocess.run(  # noqa: S603 (commands of our own)
        [sys.executable, *words],
        cwd=project,
        env=dict(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if finished.returncode:
        sys.exit(f"{' '.join(words)}\n{finished.stdout}")


if __name__ == "__main__":
    main()
