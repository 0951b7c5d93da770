"""The wheel carries the dbt package: `dbt-anonymize new` points packages.yml to it."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent


class BuildWithDbtPackage(build_py):
    """Copies what dbt reads beside the modules; an editable installation uses the clone itself."""

    def run(self) -> None:
        """Build the modules, then the folder `dbt_package`."""
        super().run()
        if self.editable_mode:
            return
        folder = Path(self.build_lib) / "dbt_anonymize" / "dbt_package"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(ROOT / "macros", folder / "macros")
        shutil.copy(ROOT / "dbt_project.yml", folder / "dbt_project.yml")


setup(cmdclass={"build_py": BuildWithDbtPackage})
