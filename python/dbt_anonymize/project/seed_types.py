"""Column types of a seed, as a dbt project declares them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dbt_anonymize.hierarchies.label_types import is_text, text_lines
from dbt_anonymize.hierarchies.table import Kind
from dbt_anonymize.project.engines import text_type


@dataclass(frozen=True)
class SeedTypes:
    """The declared types of a seed, the file that declares them, and their engine."""

    name: str
    types: dict[str, str]
    place: str | None
    engine: str

    @classmethod
    def of_node(cls, manifest: Any, node: Any) -> SeedTypes:
        """Return the types of a seed from the manifest."""
        types = {str(name): str(kind) for name, kind in (node.config.column_types or {}).items()}
        place = node.patch_path.partition("://")[2] if node.patch_path else None
        return cls(node.name, types, place, str(manifest.metadata.adapter_type))

    def is_text(self, column: str) -> bool:
        """Tell whether a column is declared as text."""
        return is_text(self.types.get(column, ""))

    def remedy(self, kind: Kind, levels: int) -> str:
        """Return the lines that declare its labels as text, and the command to reload it."""
        text = text_type(self.engine)
        lines = text_lines(self.name, kind, levels, declared=self.types, text=text)
        where = (
            f"its entry in {self.place}"
            if self.place
            else "a file of properties, such as seeds/hierarchies.yml"
        )
        loading = f"dbt seed --full-refresh --select {self.name}"
        return f"Write into {where}\n{lines}\nand run `{loading}`."
