"""The columns of a spec by what is done with them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from dbt_anonymize.spec.columns import Column, Role
from dbt_anonymize.spec.masks import Mask
from dbt_anonymize.validation import Hierarchy, generalized_columns


class ColumnsByRole:
    """Views of the declared columns; `Spec` adds what depends on other keys."""

    if TYPE_CHECKING:
        columns: dict[str, Column]

    def columns_with_role(self, *roles: Role) -> list[str]:
        """Return the columns that have one of the roles, in declared order."""
        return [name for name, column in self.columns.items() if column.role in roles]

    @property
    def identifiers(self) -> list[str]:
        """Columns that name a person; of masked ones only the mask is released."""
        return self.columns_with_role("identifier", "masked")

    @property
    def masks(self) -> dict[str, Mask]:
        """Mask of each column that has one."""
        return {name: column.mask for name, column in self.columns.items() if column.mask}

    @property
    def accepted_texts(self) -> list[str]:
        """Columns that may hold free text and are released as they are."""
        return [name for name, column in self.columns.items() if column.free_text]

    @property
    def accepted_unique(self) -> list[str]:
        """Released columns in which nearly every record may have a value of its own.

        A mask with a key gives such values on purpose.
        """
        keyed = [name for name, mask in self.masks.items() if mask.has_key]
        return [n for n in self.kept_columns if self.columns[n].unique or n in keyed]

    @property
    def accepted_repeats(self) -> list[str]:
        """Identifiers whose values several people may share."""
        return [name for name, column in self.columns.items() if column.repeats]

    @property
    def has_mask_keys(self) -> bool:
        """Tell whether a mask has a key, which is kept in the vault."""
        return any(mask.has_key for mask in self.masks.values())

    @property
    def masked_attributes(self) -> list[str]:
        """Columns with their value in effort 0 and their mask in the other efforts."""
        return [name for name in self.masks if self.columns[name].role == "insensitive"]

    def stored_column(self, name: str) -> str:
        """Return the microdata column with the released form of a kept column."""
        return f"{name}_masked" if name in self.masked_attributes else name

    @cached_property
    def quasi_identifiers(self) -> dict[str, Hierarchy]:
        """Hierarchy of each quasi-identifier, in declared order."""
        return {
            name: column.hierarchy
            for name, column in self.columns.items()
            if column.hierarchy is not None and column.role == "quasi_identifier"
        }

    @property
    def weights(self) -> dict[str, float]:
        """Weight of each quasi-identifier in information loss; 1 by default."""
        return {name: self.columns[name].weight or 1.0 for name in self.quasi_identifiers}

    def kind_of_feature(self, name: str) -> str:
        """Return how models read a feature: interval, categorical, masked or plain."""
        if name in self.quasi_identifiers:
            return self.quasi_identifiers[name].kind
        return "masked" if name in self.masks else "plain"

    @property
    def sensitive(self) -> list[str]:
        """Columns whose values nobody may link to a person."""
        return self.columns_with_role("sensitive")

    @property
    def kept_columns(self) -> list[str]:
        """Columns that are released ungeneralized, the target included; masked where declared."""
        return self.columns_with_role("sensitive", "insensitive", "masked")

    @property
    def generalized_columns(self) -> list[str]:
        """Released columns that make a class: of each quasi-identifier the label and its bounds."""
        return generalized_columns(self.quasi_identifiers)
