"""Draw rows from a Gaussian copula: ``synthesize.py in.csv out.csv``.

A category becomes a number that is drawn evenly from its own part of 0 to 1, as wide as its share
(Patki, Wedge and Veeramachaneni, The synthetic data vault, DSAA 2016). Numbers are whole, and stay
in their range. Marginals are beta distributions, as SDV has them by default.
"""

# No other module: this runs where dbt-anonymize is not installed.
import sys

import numpy as np
import pandas as pd

SEED = 1


def main(source: str, target: str) -> None:
    """Read a table, and write as many rows as it has."""
    from copulas.multivariate import GaussianMultivariate
    from copulas.univariate import BetaUnivariate

    table = pd.read_csv(source)
    draws = np.random.default_rng(SEED)
    edges = {}
    encoded = pd.DataFrame(index=table.index)
    for name in table:
        if pd.api.types.is_numeric_dtype(table[name]):
            encoded[name] = table[name].astype(float)
            continue
        shares = table[name].value_counts(normalize=True).sort_index()
        edges[name] = (list(shares.index), np.concatenate([[0.0], np.cumsum(shares.to_numpy())]))
        codes = pd.Categorical(table[name], categories=edges[name][0]).codes
        low, high = edges[name][1][codes], edges[name][1][codes + 1]
        encoded[name] = draws.uniform(low, high)
    model = GaussianMultivariate(distribution=BetaUnivariate, random_state=SEED)
    model.fit(encoded)
    drawn = model.sample(len(table))
    rows = pd.DataFrame(index=drawn.index)
    for name in table:
        if name in edges:
            values, ends = edges[name]
            places = np.searchsorted(ends, drawn[name], side="right") - 1
            rows[name] = np.array(values)[np.clip(places, 0, len(values) - 1)]
        else:
            rows[name] = drawn[name].round().clip(table[name].min(), table[name].max()).astype(int)
    rows.to_csv(target, index=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
