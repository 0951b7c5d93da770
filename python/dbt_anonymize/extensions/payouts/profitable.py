"""A profitable release (Wan et al. 2015): see ``docs/extensions/payouts/profitable.md``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from dbt_anonymize.arrays import Bools, Floats, np
from dbt_anonymize.extensions.payouts.label_losses import LabelLosses
from dbt_anonymize.extensions.payouts.no_attack import size_without_attack
from dbt_anonymize.privacy.compiler import Compiler
from dbt_anonymize.privacy.guarantees import TOLERANCE
from dbt_anonymize.privacy.model import Positive, PrivacyModel, Weakest
from dbt_anonymize.privacy.table import Classes, Table


class Profitable(PrivacyModel):
    """Every released record brings its publisher more than what an attack is expected to cost."""

    WEAKEST = (Weakest("adversary_gain", 0, 1),)
    MAY_DIFFER_BY_EFFORT = True
    READS_SIZES_ALONE = True
    READS_LABELS = True

    publisher_benefit: Positive = 1200
    """Worth of an untouched record to its publisher."""
    publisher_loss: Annotated[float, Field(ge=0)] = 300
    """Loss of the publisher if the person of a record is found."""
    adversary_gain: Annotated[float, Field(ge=0)] = 300
    """Gain of an attacker from finding a person."""
    adversary_cost: Positive = 4
    """Cost of one attempt to the attacker."""
    attacker: Literal["prosecutor", "journalist"] = "prosecutor"
    """Knowledge of the attacker: that the person is in the table (prosecutor), or only in the
    population (journalist).
    """

    def compile(self, compiler: Compiler) -> None:
        """Add the rule for classes: finer labels are worth more, larger classes risk less."""
        if self.attacker == "journalist" and compiler.table.population is None:
            compiler.problem("needs the population for a journalist", "none", "Declare it")
        losses = self.label_losses(compiler.table)

        def violating(classes: Classes) -> Bools:
            payouts = self.payouts(classes, losses.of_classes(classes))
            return payouts <= TOLERANCE * self.publisher_benefit

        compiler.class_rules.append(violating)
        compiler.is_monotone_in_generalization = False
        compiler.is_monotone_in_suppression = False

    @classmethod
    def recounted_losses(cls, *counted: Any) -> Floats:
        """Return the loss of the labels of each class, by SQL of its own."""
        from dbt_anonymize.extensions.payouts.recounted_losses import (  # noqa: PLC0415 (a cycle)
            losses_of_classes,
        )

        return losses_of_classes(*counted)

    def label_losses(self, table: Table) -> LabelLosses:
        """Return the losses of labels by the hierarchies of a table."""
        return LabelLosses(table)

    def payouts(self, classes: Classes, losses: Floats) -> Floats:
        """Return the payout of one record of each class (classes,), less the loss of its labels."""
        candidates = classes.people
        if self.attacker == "journalist" and classes.population is not None:
            candidates = np.where(classes.population > 0, classes.population, classes.people)
        safe = size_without_attack(self.adversary_gain, self.adversary_cost)
        expected = self.publisher_loss / np.maximum(candidates, 1)
        lost = np.where(candidates < safe, expected, 0.0)
        return np.asarray(self.publisher_benefit * (1.0 - losses) - lost)
