"""A project from Python: what commands show, as objects that a notebook draws."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt_anonymize.errors import ProjectError

if TYPE_CHECKING:
    import pandas as pd

    from dbt_anonymize.extensions.diff.differences import Comparison
    from dbt_anonymize.extensions.report.reading import Findings
    from dbt_anonymize.project.layout import Project
    from dbt_anonymize.spec import Effort, Spec

_FRAME = '<iframe title="{}" style="width: 100%; height: 40em; border: 0" srcdoc="{}"></iframe>'


@dataclass(frozen=True)
class Rows(Sequence[Any]):
    """Objects of one kind, in order, and the table that a notebook shows."""

    items: tuple[Any, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Any, ...], ...]

    def __getitem__(self, place: Any) -> Any:
        return self.items[place]

    def __len__(self) -> int:
        return len(self.items)

    def df(self) -> pd.DataFrame:
        """Return them as a data frame of pandas."""
        import pandas as pd  # noqa: PLC0415 (keeps the import of the package fast)

        return pd.DataFrame(self.cells, columns=pd.Index(self.columns))

    def _repr_html_(self) -> str:
        return "".join(_table(self.columns, self.cells))


@dataclass(frozen=True)
class Differences(Rows):
    """The figures of two releases; ``comparison`` also has the changes and broken tolerances."""

    comparison: Comparison

    def _repr_html_(self) -> str:
        from dbt_anonymize.extensions.diff.differences import HEADINGS  # noqa: PLC0415 (as above)

        sentences = "".join(
            f"<p>{html.escape(sentence)}</p>" for sentence in self.comparison.sentences
        )
        return "".join([*_table(HEADINGS, self.comparison.lines), sentences])


@dataclass(frozen=True)
class PublishedFile:
    """A published release; ``file`` is the file that everybody may read."""

    file: Path
    table: str

    def df(self) -> pd.DataFrame:
        """Return its rows as a data frame of pandas, in the order of the file."""
        import duckdb  # noqa: PLC0415 (not every adapter has it)

        with duckdb.connect(str(self.file), read_only=True) as connection:
            rows: pd.DataFrame = connection.table(self.table).df()
            return rows

    def _repr_html_(self) -> str:
        rows = self.df().head(10)
        caption = f"{self.table}: the first rows of {self.file.name}"
        return f"<p>{html.escape(caption)}</p>{rows.to_html(index=False)}"


@dataclass(frozen=True)
class Report:
    """Findings of a build, in the three forms of `dbt-anonymize report`."""

    findings: Findings

    @property
    def html(self) -> str:
        """The page with charts, which loads nothing; needs the extra ``report``."""
        from dbt_anonymize.extensions.report.rendering import as_html  # noqa: PLC0415 (charts take a while)

        return as_html(self.findings)

    @property
    def markdown(self) -> str:
        """The text for a pull request."""
        from dbt_anonymize.extensions.report.rendering import as_markdown  # noqa: PLC0415 (as above)

        return as_markdown(self.findings)

    @property
    def json(self) -> str:
        """The figures for programs."""
        from dbt_anonymize.extensions.report.rendering import as_json  # noqa: PLC0415 (as above)

        return as_json(self.findings)

    def _repr_html_(self) -> str:
        return _FRAME.format("Report", html.escape(self.html))


@dataclass(frozen=True)
class OpenProject:
    """A dbt project with anonymizations; each method opens and closes the warehouse."""

    project: Project
    target: str | None = None

    @property
    def names(self) -> list[str]:
        """The anonymizations that are declared."""
        from dbt_anonymize.spec import load_specs  # noqa: PLC0415 (as above)

        return [spec.name for spec in load_specs(self.project.root)]

    def results(self, name: str) -> Rows:
        """Return the rows of ``<n>_results``, one `EffortResult` per effort."""
        from dbt_anonymize.project.results import EffortResult, read_results  # noqa: PLC0415
        from dbt_anonymize.project.warehouse import open_warehouse  # noqa: PLC0415

        self._spec(name)
        with open_warehouse(self.project, self.target) as warehouse:
            efforts = tuple(read_results(warehouse, name))
        columns = tuple(field.name for field in fields(EffortResult))
        cells = tuple(tuple(getattr(effort, column) for column in columns) for effort in efforts)
        return Rows(efforts, columns, cells)

    def efforts(self, name: str) -> Rows:
        """Return the `Effort` of each number, effort 0 first, as the spec declares them."""
        efforts: dict[int, Effort] = self._spec(name).numbered_efforts
        cells = tuple(
            (number, effort.kind, effort.shown_levels, effort.k)
            for number, effort in efforts.items()
        )
        return Rows(tuple(efforts.values()), ("effort", "recoding", "levels", "k"), cells)

    def register(self, name: str) -> Rows:
        """Return the rows of ``<n>_register``, one per release, the first one first."""
        from dbt_anonymize.project.register import (  # noqa: PLC0415 (as above)
            SHOWN_COLUMNS,
            read_register,
            rows_of_register,
        )
        from dbt_anonymize.project.warehouse import open_warehouse  # noqa: PLC0415 (as above)

        self._spec(name)
        with open_warehouse(self.project, self.target) as warehouse:
            releases = read_register(warehouse, name)
        without_source = tuple(replace(release, source=None) for release in releases)
        return Rows(without_source, SHOWN_COLUMNS, tuple(rows_of_register(releases)))

    def diff(self, name: str, against: int | str | Path | None = None) -> Differences:
        """Compare what the last build chose with an earlier release, by default the one before.

        ``against`` is the number of a release, or a file of `dbt-anonymize results --history`.
        """
        from dbt_anonymize.extensions.diff.differences import VALUES, compare  # noqa: PLC0415 (as above)
        from dbt_anonymize.project.warehouse import open_warehouse  # noqa: PLC0415 (as above)

        spec = self._spec(name)
        with open_warehouse(self.project, self.target) as warehouse:
            release = None if against is None else str(against)
            comparison = compare(self.project, warehouse, spec, release)
        differences = (*comparison.differences, *comparison.counts)
        return Differences(
            differences, VALUES, tuple(difference.cells for difference in differences), comparison
        )

    def release(self, name: str) -> PublishedFile:
        """Return the published release; a `ProjectError` where no file is published."""
        from dbt_anonymize.project.results import release_file  # noqa: PLC0415 (as above)
        from dbt_anonymize.project.warehouse import open_warehouse  # noqa: PLC0415 (as above)

        self._spec(name)
        with open_warehouse(self.project, self.target) as warehouse:
            file = self.project.root / release_file(warehouse, name)
            if not warehouse.is_duckdb or not file.is_file():
                raise ProjectError(
                    f"{name}: must have a release file, which a build on DuckDB publishes; there "
                    "is none. Run `dbt build`, or read the relation in your warehouse."
                )
        return PublishedFile(file, f"{name}_anonymized")

    def report(self, name: str) -> Report:
        """Return what the last build found."""
        from dbt_anonymize.extensions.report.reading import read_findings  # noqa: PLC0415 (as above)
        from dbt_anonymize.project.warehouse import open_warehouse  # noqa: PLC0415 (as above)

        spec = self._spec(name)
        with open_warehouse(self.project, self.target) as warehouse:
            return Report(read_findings(warehouse, spec))

    def _spec(self, name: str) -> Spec:
        from dbt_anonymize.spec.loading import load_specs, require_records  # noqa: PLC0415 (as above)

        (spec,) = load_specs(self.project.root, [name])
        return require_records(spec)

    def _repr_html_(self) -> str:
        return "".join(_table(("anonymization",), [(name,) for name in self.names]))


def open_project(folder: str | Path = ".", *, target: str | None = None) -> OpenProject:
    """Open the dbt project in a folder or above it, with the profile that dbt would take."""
    from dbt_anonymize.project.layout import find_project  # noqa: PLC0415 (as above)

    return OpenProject(find_project(Path(folder)), target)


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    def line(cells: Sequence[Any], tag: str) -> str:
        texts = ("" if cell is None else html.escape(str(cell)) for cell in cells)
        return f"<tr>{''.join(f'<{tag}>{text}</{tag}>' for text in texts)}</tr>"

    yield f"<table><thead>{line(columns, 'th')}</thead><tbody>"
    yield from (line(row, "td") for row in rows)
    yield "</tbody></table>"
