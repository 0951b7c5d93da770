"""Draw hostile names for every column, text and place of the table."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from hypothesis import strategies as st

from dbt_anonymize.spec.column_rules import DERIVED_SUFFIXES, RESERVED_COLUMNS
from tests.sql_safety.hostile import TEXTS
from tests.worlds.hostile import COLUMNS, DOMAINS, Naming

_SUFFIXES = tuple({suffix for suffixes in DERIVED_SUFFIXES.values() for suffix in suffixes})
# Without a question mark, after which DuckDB takes a path for a query, and without a single quote,
# which dbt-duckdb does not escape where it loads a seed.
FOLDER = 'say "a"; -- 😀 {{ 1/0 }} $HOME %s'
_SHORT = [text for text in TEXTS if len(text) < 12]
# dbt itself renders Jinja within its variables.
RELEASE_FOLDER = 'it\'s "released"; -- 😀 %s'


def usable(names: Iterable[str]) -> list[str]:
    """Return names that columns of one table may have, each once whatever its case."""
    found: dict[str, str] = {}
    for name in names:
        folded = name.casefold()
        if name.strip() and folded not in RESERVED_COLUMNS and not folded.endswith(_SUFFIXES):
            found.setdefault(folded, name)
    return list(found.values())


@st.composite
def namings(draw: st.DrawFn, names: Sequence[str], *, extra: int) -> Naming:
    """Draw a naming, with up to so many extra columns, which are only released."""
    # Texts by a seed: hypothesis draws single ones far too slowly for tables of this size.
    chance = random.Random(draw(st.integers(0, 2**32)))
    drawn = draw(
        st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), max_size=5)
    )
    # PyYAML writes the second one as a line break, which it reads as a space.
    pool = usable([*names, *(text.replace("\0", "").replace("\x85", "") for text in drawn)])
    chance.shuffle(pool)
    return Naming(
        columns=dict(zip(COLUMNS, pool, strict=False)),
        texts=_texts(chance),
        extra=pool[len(COLUMNS) :][:extra],
        prose=" ".join(chance.sample(TEXTS, 12)),
        purpose=" ".join("".join(chance.sample(_SHORT, 6)).split()),
        release_folder=RELEASE_FOLDER,
    )


def _texts(chance: random.Random) -> dict[str, list[str]]:
    """Return hostile texts for every kind, sorted like the plain ones that they stand for."""
    found = {}
    for kind, plain in DOMAINS.items():
        # Labels of two levels of one hierarchy differ, or a recoding by record would join them.
        mark = kind[-1] if kind[-1].isdigit() else ""
        pool = [f"{text}{mark}" for text in chance.sample(TEXTS, len(TEXTS))]
        pool += [f"{chance.choice(TEXTS)}{number}" for number in range(len(plain) - len(pool))]
        found[kind] = sorted(pool[: len(plain)])
    return found
