"""Class size that differential privacy by sampling demands, computed independently.

The build reads it from the class of the model, which therefore cannot judge it.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, localcontext
from importlib import import_module
from typing import Any

import numpy as np


def private_size(guarantee: Mapping[str, Any]) -> int:
    """Return the class size that (epsilon, delta)-privacy demands of a sample of some share.

    From every class of n people of the source that may be released, more than gamma n are drawn
    with a probability below delta; gamma = 1 - (1 - share) exp(-epsilon).
    """
    betainc = import_module("scipy.special").betainc  # imported here: few specs need it

    with localcontext() as context:
        context.prec = 60
        epsilon = Decimal(repr(guarantee["epsilon"])) - Decimal(
            repr(guarantee.get("search_epsilon", 0))
        )
        share, k, n = guarantee["share"], 1, 0
        gamma = 1 - (1 - Decimal(repr(share))) * (-epsilon).exp()
        above, drawn = float(gamma), float(share)
        rate = above * np.log(above / drawn) - (above - drawn)
        while np.exp(-n * rate) >= guarantee["delta"]:
            n += 1
            most = int(gamma * n)
            # The probability of drawing more than `most` of n.
            if most < n and betainc(most + 1, n - most, drawn) >= guarantee["delta"]:
                # A released class then has more than n people.
                k = int(gamma * (n + 1)) + 1
    return k
