"""Check that models learn enough to choose levels.

If nothing can be learned, the best of many candidates looks good by luck. So two tables that were
chosen without the target are scored first: the untouched one, and that of least loss.
"""

from __future__ import annotations

import numpy as np

from dbt_anonymize.arrays import Floats
from dbt_anonymize.errors import SearchError
from dbt_anonymize.evaluation.measures import LOWER_IS_BETTER
from dbt_anonymize.extensions.search.by_quality import corrected_interval
from dbt_anonymize.extensions.search.race import SPLITS, Budget, Candidate, Track

# Numbers of splits after which the models are compared with the zero rule.
LOOKS = (3, 6, SPLITS)
# Probability that a model that learns nothing passes, over all comparisons of both tables.
CHANCE = 0.025


class NothingLearnedError(SearchError):
    """Models learn nothing that levels could be chosen by."""


def check_learned(track: Track, least_loss: Candidate | None, budget: Budget) -> None:
    """Raise a `NothingLearnedError` unless models surely beat the zero rule before any search.

    ``least_loss`` is a candidate that was chosen by the measure loss. Training costs seconds, but
    no evaluations, which are those of candidates.
    """
    chance = CHANCE / (2 * len(LOOKS))
    for count in LOOKS:
        untouched, zero_rule = track.baselines(range(count), budget)
        scored = [untouched]
        if least_loss is not None:
            scored.append(track.trained(least_loss, range(count), budget))
        differences = [np.array(scores) - zero_rule for scores in scored]
        if any(_is_sure(difference, track.test_share, chance) for difference in differences):
            return
    sign = -1.0 if track.quality.measure in LOWER_IS_BETTER else 1.0
    mean, floor = (sign * float(np.mean(values)) for values in (untouched, zero_rule))
    raise NothingLearnedError(
        f"models must surely learn something before levels are chosen by what they learn; on the "
        f"untouched table {track.quality.measure} is {mean:.3f}, with {floor:.3f} for the zero "
        "rule, so the best of many levels would be best by luck. Predict another column, add "
        "features or records, or draft with `init` and choose levels without models by `search "
        "--measure loss`."
    )


def _is_sure(differences: Floats, test_share: float, chance: float) -> bool:
    if not np.isfinite(differences).all():
        return False
    return corrected_interval(differences, test_share, chance)[0] > 0
