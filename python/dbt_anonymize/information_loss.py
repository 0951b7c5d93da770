"""Measures of information loss of an effort, as columns of ``<n>_information_loss``."""

from __future__ import annotations

from dataclasses import dataclass

# The measure of efforts that no model tests.
LOSS = "loss"


@dataclass(frozen=True)
class Measure:
    """A published measure.

    Attributes
    ----------
    name : str
        That of its macro and of its column.
    column : str
        Description of the column, in which ``{aggregate}`` and ``{targets}`` are filled in.
    of_attribute_column : str
        Description of the column of one quasi-identifier, ``{}``, if it has such columns.
    is_of_numbers : bool
        Only intervals have columns of their own.
    """

    name: str
    column: str
    of_attribute_column: str = ""
    is_of_numbers: bool = False


# In the order of their columns.
MEASURES = (
    Measure(
        "ambiguity",
        (
            "Number of combinations of raw values that a released record may stand for, summed "
            "over records; lower is better."
        ),
    ),
    Measure(
        "average_class_size",
        "Records per equivalence class; all suppressed records form one class.",
    ),
    Measure(
        "classification_metric",
        (
            "Share of records that a majority vote in their class gets wrong, suppressed records "
            "included (Iyengar 2002){targets}; lower is better."
        ),
    ),
    Measure(
        "discernibility",
        (
            "Sum of squared class sizes; a suppressed record costs as much as the table. Lower is"
            " better."
        ),
    ),
    Measure(
        "entropy_based_loss",
        (
            "Entropy of the covered combinations, relative to the domain (Wan et al. 2015); lower"
            " is better."
        ),
    ),
    Measure(
        "granularity",
        "Mean share of the detail that labels keep, 0 to 1; higher is better.",
        of_attribute_column="Granularity of {} alone, 0 to 1; higher is better.",
    ),
    Measure(
        "kl_divergence",
        (
            "Kullback-Leibler divergence in bits between the raw distribution and that of the "
            "release; lower is better."
        ),
    ),
    Measure(
        "loss",
        (
            "Share of the domains that labels cover, aggregated over the quasi-identifiers "
            "({aggregate}); lower is better, 0 where no value is generalized or missing. What a "
            "search minimizes by default."
        ),
        of_attribute_column="Loss of {} alone, 0 to 1; lower is better.",
    ),
    Measure(
        "non_uniform_entropy",
        "Bits about raw values that labels do not carry; lower is better.",
        of_attribute_column="Non-uniform entropy of {} alone, in bits; lower is better.",
    ),
    Measure(
        "precision",
        (
            "1 minus the mean height of generalization, 0 to 1; higher is better. NULL where a "
            "label is no level of the hierarchy: an interval between levels, or a mode."
        ),
        of_attribute_column="Precision of {} alone, 0 to 1; higher is better.",
    ),
    Measure(
        "total_information_loss",
        (
            "Share of the range that intervals cover and of the height that categories are "
            "generalized to, summed over records and quasi-identifiers; lower is better, 0 where "
            "no value is generalized or missing."
        ),
    ),
    Measure(
        "sse_sst",
        (
            "Squared error of numbers that are replaced by the mean of their label, relative to "
            "that of the mean of all, 0 to 1; mean over intervals, NULL without any; lower is "
            "better."
        ),
        of_attribute_column="SSE/SST of {} alone, 0 to 1; lower is better.",
        is_of_numbers=True,
    ),
)
