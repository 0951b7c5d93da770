"""SSE/SST: the squared error of numbers that are replaced by the mean of their label."""

from __future__ import annotations

from dbt_anonymize.information_loss.base import Measure


class SseSst(Measure):
    """Sum of squared errors over the total sum of squares (Domingo-Ferrer & Mateo-Sanz 2002).

    A search knows labels and counts, no numbers, so it cannot minimize it.
    """

    name = "sse_sst"
    column = (
        "Squared error of numbers that are replaced by the mean of their label, relative to "
        "that of the mean of all, 0 to 1; mean over intervals, NULL without any; lower is better."
    )
    of_attribute_column = "SSE/SST of {} alone, 0 to 1; lower is better."
    is_of_numbers = True
