"""A synthetic fertility clinic and its branch: invented people of a seeded random generator.

Nobody in this table exists. Names and streets come from the short lists below, e-mail addresses
use the domains that RFC 2606 reserves for examples, and telephone numbers lie in the ranges that
the British regulator Ofcom keeps free for drama. The medical values only look plausible: their
relations are written down in :func:`draw_medical`, not learned from anybody's data.
"""

from __future__ import annotations

import unicodedata
from datetime import date, timedelta

import numpy as np
import pandas as pd


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split("|"))


FIRST_NAMES = _words(
    "Ada|Aisha|Alma|Amélie|Anna|Beatriz|Bronagh|Chloë|Clara|Dalia|Edith|Elif|Esra|Farah|Freya|"
    "Greta|Hanna|Ines|Ingrid|Íris|Jana|Joana|Karin|Lea|Léa|Leonie|Lucía|Maja|Mary-Ann|Mei|Nadia|"
    "Nora|Olena|Priya|Rosa|Ruth|Sanne|Siân|Sofía|Tess|Uma|Vera|Wiebke|Xenia|Yara|Zoë"
)
SURNAMES = _words(
    "Abebe|Ahlgren|Becker|Brandão|Castellano|D'Angelo|da Silva|Dvořák|Eriksen|Fairweather|García|"
    "Haddad|Hollis|Ibáñez|Jansen|Kaya|Kowalska|Lindqvist|Löwe|MacLeod|Marchetti|Nguyễn|Novák|Núñez|"
    "O'Brien|O'Shea|Okafor|Öztürk|Patel|Peeters|Quiroga|Rasmussen|Rossi|Sørensen|Šimková|Smith-Lang|"
    "Tanaka|Thorne|Ulrich|van den Berg|Vasquez|Weiß|Winter|Yildiz|Young|Zając|Zimmermann"
)
STREETS = _words(
    "Alder Close|Beech Walk|Castle Hill|Dove Lane|Elm Grove|Ferry Road|Garden Street|Harbour View|"
    "Ivy Terrace|Juniper Way|King's Parade|Larch Lane|Mill Lane|North Quay|Orchard Street"
)
TOWNS = ("Ashford Magna", "Brackwater", "Combe St. Ives", "Dunmoor", "Elverton", "Fenwick-on-Sea")
MAIL_DOMAINS = ("example.org", "example.com", "example.net")
PHONE_RANGES = ("07700 900", "020 7946 0", "0113 496 0", "01632 960")
TREATMENTS = ("IVF", "ICSI", "IUI", "ovulation_induction")
TREATMENT_SHARES = (0.38, 0.27, 0.20, 0.15)
RESULTS = ("pregnant", "pregnancy_lost", "not_pregnant")
SEED = 20_240_613
PATIENTS = 2_400
BRANCH_PATIENTS = 1_400
BRANCH_YEAR = 2025


def _pick(rng: np.random.Generator, values: tuple[str, ...], size: int) -> list[str]:
    return [values[int(position)] for position in np.floor(rng.random(size) * len(values))]


def _mailbox(first_name: str, surname: str) -> str:
    """Return an ASCII mailbox name, such as ``lea.nunez`` for Léa Núñez."""
    letters = unicodedata.normalize("NFKD", f"{first_name}.{surname}".lower())
    return "".join(c for c in letters if c.isascii() and (c.isalnum() or c == "."))


def _addresses(rng: np.random.Generator, size: int) -> list[str]:
    """Return postal addresses; some hold commas, apostrophes and quotation marks."""
    numbers = 1 + np.floor(rng.random(size) * 140).astype(int)
    kinds = rng.random(size)
    addresses = []
    for number, kind, street, town in zip(
        numbers, kinds, _pick(rng, STREETS, size), _pick(rng, TOWNS, size), strict=True
    ):
        if kind < 0.06:
            addresses.append(f'"Rose Cottage", {street}, {town}')
        elif kind < 0.3:
            addresses.append(f"{number} {street}, Flat {1 + number % 9}, {town}")
        else:
            addresses.append(f"{number} {street}, {town}")
    return addresses


def draw_identities(rng: np.random.Generator, size: int) -> pd.DataFrame:
    """Draw what identifies a patient; unrelated to every medical value.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness.
    size : int
        Number of patients, at most 4,000 (the fictitious telephone numbers run out).

    Returns
    -------
    pandas.DataFrame
        One row per patient: record key, patient number, names, telephone, e-mail, address.
    """
    first_names, surnames = _pick(rng, FIRST_NAMES, size), _pick(rng, SURNAMES, size)
    phones = rng.permutation(1_000 * len(PHONE_RANGES))[:size]
    domains = _pick(rng, MAIL_DOMAINS, size)
    return pd.DataFrame(
        {
            "visit_id": 100_000 + rng.permutation(900_000)[:size],
            "patient_number": [f"{number:07d}" for number in rng.permutation(2_000_000)[:size]],
            "first_name": first_names,
            "surname": surnames,
            "phone": [f"{PHONE_RANGES[phone // 1_000]}{phone % 1_000:03d}" for phone in phones],
            "email": [
                f"{_mailbox(first, last)}{position % 97}@{domain}"
                for position, (first, last, domain) in enumerate(
                    zip(first_names, surnames, domains, strict=True)
                )
            ],
            "address": _addresses(rng, size),
        }
    )


def draw_medical(rng: np.random.Generator, size: int) -> pd.DataFrame:
    """Draw age, hormone levels, treatment and outcomes.

    The ovarian reserve (not in the table) falls with age and moves AMH and FSH. Whether a patient
    needs Meriestra depends mostly on age and estradiol, a little on AMH and earlier treatments,
    and on chance.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness.
    size : int
        Number of patients.

    Returns
    -------
    pandas.DataFrame
        One row per patient.
    """
    age = np.clip(np.round(19.5 + 28 * rng.beta(2.2, 2.0, size)), 20, 47).astype(int)
    years = (age - 34) / 7
    reserve = -0.65 * years + 0.75 * rng.standard_normal(size)
    estradiol = np.round(np.exp(4.2 + 0.25 * years + 0.55 * rng.standard_normal(size)), 1)
    amh = np.round(np.exp(0.55 + 0.55 * reserve + 0.35 * rng.standard_normal(size)), 2)
    fsh = np.round(np.exp(1.95 - 0.16 * reserve + 0.22 * rng.standard_normal(size)), 1)
    lh = np.round(np.exp(1.7 - 0.05 * reserve + 0.3 * rng.standard_normal(size)), 1)
    progesterone = np.round(np.exp(-0.45 + 0.45 * rng.standard_normal(size)), 2)
    previous = np.minimum(5, rng.poisson(np.clip(0.9 + 0.5 * years, 0.2, None)))
    need = 3.6 * years - 3.9 * (np.log(estradiol) - 4.2) / 0.6
    need += -0.65 * (np.log(amh) - 0.55) + 0.45 * (previous - 1) - 0.4
    pregnant = 1 / (1 + np.exp(0.4 + 0.7 * years - 0.4 * reserve))
    outcome = rng.random(size)
    treatment = np.searchsorted(np.cumsum(TREATMENT_SHARES)[:-1], rng.random(size), side="right")
    return pd.DataFrame(
        {
            "age": age,
            "estradiol": estradiol,
            "previous_treatments": previous,
            "treatment": [TREATMENTS[position] for position in treatment],
            "fsh": fsh,
            "lh": lh,
            "amh": amh,
            "progesterone": progesterone,
            "pregnancy_result": np.select(
                [outcome < 0.8 * pregnant, outcome < pregnant],
                ["pregnant", "pregnancy_lost"],
                "not_pregnant",
            ),
            "needs_meriestra": np.where(rng.random(size) < 1 / (1 + np.exp(-need)), "yes", "no"),
        }
    )


def draw_patients(size: int = PATIENTS, *, seed: int = SEED) -> pd.DataFrame:
    """Draw the table of the synthetic clinic.

    Parameters
    ----------
    size : int, default 2400
        Number of patients.
    seed : int
        Seed of the generator; the same seed gives the same table.

    Returns
    -------
    pandas.DataFrame
        One row per patient, in an order that carries nothing.
    """
    medical, identities = (np.random.default_rng([seed, part]) for part in (0, 1))
    return pd.concat([draw_identities(identities, size), draw_medical(medical, size)], axis=1)


def draw_visits(patients: int = BRANCH_PATIENTS, *, seed: int = SEED) -> pd.DataFrame:
    """Draw the visits of the first year of a branch of the clinic, several of many patients.

    A patient comes back after four to six weeks until she is pregnant or gives up. More and more
    come, and the older they are, the fewer are pregnant.

    Parameters
    ----------
    patients : int, default 1400
        Number of patients.
    seed : int
        Seed of the generator; the same seed gives the same table.

    Returns
    -------
    pandas.DataFrame
        One row per visit, in an order that carries nothing.
    """
    rng = np.random.default_rng([seed, 2])
    rows = []
    for number in rng.permutation(2_000_000)[:patients]:
        age = int(20 + 28 * rng.beta(2.2, 2.0))
        pregnant = 1 / (1 + np.exp(1.3 + 0.1 * (age - 34)))
        day = date(BRANCH_YEAR, 1, 1) + timedelta(days=int(365 * rng.random() ** 0.8))
        is_treated = True
        while is_treated and day.year == BRANCH_YEAR:
            bounds = (pregnant, 1.3 * pregnant)
            result = RESULTS[int(np.searchsorted(bounds, rng.random(), side="right"))]
            rows.append((f"{number:07d}", day, age, result))
            is_treated = result != "pregnant" and rng.random() < 0.8
            day += timedelta(days=int(rng.integers(28, 43)))
    visits = pd.DataFrame(rows, columns=["patient_number", "visited_on", "age", "result"])
    visits = visits.iloc[rng.permutation(len(visits))]
    visits.insert(0, "visit_id", 100_000 + rng.permutation(900_000)[: len(visits)])
    return visits
