"""Keys of a spec that are about releases of the same table month after month."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from dbt_anonymize.errors import SpecError
from dbt_anonymize.validation import BESIDE_RESULTS, Strict

if TYPE_CHECKING:
    from dbt_anonymize.spec import Effort, Spec


class ReleaseKeys(Strict):
    """Keys of the release."""

    joiners: Annotated[Literal["wait", "publish"] | None, BESIDE_RESULTS] = None
    """New records wait until those of a class keep every guarantee by themselves (default of a
    frozen effort), or are published at once.
    """


class Keys(Strict):
    """Keys of the spec."""

    if TYPE_CHECKING:
        name: str
        efforts: tuple[Effort, ...]
        release: Any
        differential_privacy: object

    freeze: bool = False
    """Release the same effort with the same labels in every build, without search or training."""

    @property
    def is_frozen(self) -> bool:
        """Tell whether every build releases the same effort with the same labels."""
        return self.freeze

    @property
    def holds_back_joiners(self) -> bool:
        """Tell whether new records wait: the default of a frozen effort with fixed labels."""
        default = "wait" if self.freeze and self.differential_privacy is None else "publish"
        return bool(self.efforts) and (self.release.joiners or default) == "wait"

    @property
    def numbered_efforts(self) -> dict[int, Effort]:
        """Each effort by its number; where one is frozen, beside it the baseline alone."""
        declared: dict[int, Effort] = cast(Any, super()).numbered_efforts
        if self.freeze:
            return {n: effort for n, effort in declared.items() if n in {0, self.release.effort}}
        return declared

    @property
    def frozen_labels(self) -> str | None:
        """The seed that holds the labels of a frozen effort."""
        return f"{self.name}_frozen_labels" if self.freeze else None

    def require_seeds(self, folder: Path) -> None:
        """Stop if labels of a frozen effort are not committed: dbt would report a missing node."""
        if self.freeze and not any(folder.rglob(f"{self.frozen_labels}.csv")):
            raise SpecError(
                f"{self.name}: freeze must have the seed {self.frozen_labels}.csv, which holds the "
                f"labels; it is not in {folder.name}/. Restore it, or remove `freeze`, "
                f"build, and run `dbt-anonymize freeze {self.name}`."
            )

    @property
    def labels_digest(self) -> str:
        """Digits that change with the released form of a record: columns, labels and masks."""
        from dbt_anonymize.spec.fingerprint import NOT_OF_ROWS, digest  # noqa: PLC0415 (a cycle)

        fields = {"name", "record_key", "columns", "efforts", "release", "sample"}
        content = self.model_dump(mode="json", include=fields, exclude_none=True)
        for column in content["columns"].values():
            for name in NOT_OF_ROWS:
                column.pop(name, None)
        number = content.pop("release")["effort"]
        content["efforts"] = [number, content["efforts"][number - 1]]
        return digest(content)[:16]


def labels_digest_of(spec: Spec) -> str:
    """Return digits that change with what the release of a frozen effort shows of a record."""
    digest: str = cast(Any, spec).labels_digest
    return digest
