"""What the name of a column says about it, in a few languages."""

from __future__ import annotations

import re
from itertools import pairwise

_KEY = "id key uuid guid nr no number code index pk"
_IDENTIFIER = """
    name names firstname lastname fullname surname forename nickname vorname nachname familienname
    nombre nombres apellido apellidos nome cognome sobrenome apelido prenom nom email mail correo
    phone telephone tel mobile cell fax telefon handy telefono telefone celular iban bic account
    konto cuenta conta card ssn nin nif nie dni cpf nhs passport pasaporte reisepass license licence
    plate kennzeichen taxid steuerid vat insurance username login user address adresse direccion
    endereco street strasse calle rua ip mac url website social handle contact
    avatar photo signature
"""
_FREE_TEXT = """
    note notes comment comments remark remarks memo description text message feedback anamnesis
    notiz bemerkung kommentar nota notas comentario observacion observaciones commentaire
"""
_QUASI = """
    age birth birthdate birthday born dob yob geburtsdatum geburtstag alter edad nacimiento idade
    nascimento naissance zip zipcode postcode postal postalcode plz cp cep city town ort stadt
    ciudad
    cidade ville municipality county district state province region country land pais pays
    gender sex
    geschlecht genero sexo sexe race ethnicity ethnic nationality nationalitaet nacionalidad
    citizenship language marital maritalstatus familienstand religion education ausbildung school
    occupation profession job beruf profesion employer workclass department height weight children
    household veteran latitude longitude lat lon
"""
_BIRTH = "birth birthdate birthday born dob geburtsdatum nacimiento"
_AGE = "age ages alter edad edades idade eta leeftijd"
_FULL_NAME = "name names fullname nombre nome username login"
# A part of a name is that of many.
_PARTS = {"first", "last", "given", "family", "middle", "maiden", "street"}
_SHARED_NAMES = """
    firstname lastname surname forename nickname vorname nachname familienname apellido apellidos
    cognome sobrenome apelido prenom address adresse direccion endereco street strasse calle rua
"""
_SENSITIVE = """
    diagnosis diagnose diagnoses disease illness condition icd treatment therapy medication drug
    salary income wage earnings gehalt einkommen salario renda debt credit score criminal offence
    crime politics party orientation pregnant pregnancy hiv disability blood genetic
"""
_TARGET = """
    target label outcome class churn churned default defaulted fraud survived readmitted readmission
    converted response responded event died death diagnosis approved left attrition result
"""
_NUMBER = {"number", "num", "no", "nr", "nummer", "numero"}
# Codes and indexes are of anything, unless a person is named beside.
_KEY_OF_ROWS = {"id", "key", "uuid", "guid", "pk"} | _NUMBER
_PERSON = """
    patient patients patienten customer client member person personal people user employee staff
    subject student pupil participant donor guest driver tenant citizen resident insured beneficiary
    kunde kunden mitglied mitglieds versicherten paciente cliente usuario empleado utente doente
"""
# Keys of things that many people have in common.
_SHARED = {
    *("ward", "hospital", "clinic", "department", "dept", "region", "district", "area", "country"),
    *("store", "shop", "branch", "site", "station", "room", "type", "status", "group", "class"),
    *("level", "version", "line", "page", "zone", "team", "currency", "course", "diagnosis"),
}
_WORDS = {
    kind: frozenset(text.split())
    for kind, text in {
        "identifier": _IDENTIFIER,
        "free_text": _FREE_TEXT,
        "quasi_identifier": _QUASI,
        "sensitive": _SENSITIVE,
        "target": _TARGET,
        "person": _PERSON,
        "full_name": _FULL_NAME,
        "age": _AGE,
        "birth": _BIRTH,
        "shared": _SHARED_NAMES,
        "key": _KEY,
    }.items()
}
# Names of things, not of people.
_NOT_OF_PEOPLE = {"product", "plan", "item", "brand", "category", "campaign", "channel", "file"}


def words(name: str) -> list[str]:
    """Return the words of a name, and neighbours put together.

    Examples
    --------
    >>> words("fullName"), words("e-mail")
    (['full', 'name', 'fullname'], ['e', 'mail', 'email'])
    """
    parts = re.sub(r"(?<=[a-zà-ÿ0-9])(?=[A-Z])", " ", name)
    single = [word.lower() for word in re.split(r"[\W_]+", parts) if word]
    return [*single, *(a + b for a, b in pairwise(single))]


def said_by(name: str, kind: str) -> bool:
    """Whether a name says that a column is of a kind.

    Examples
    --------
    >>> said_by("Birth date", "quasi_identifier"), said_by("product_name", "identifier")
    (True, False)
    """
    found = set(words(name))
    if kind == "identifier" and found & _NOT_OF_PEOPLE:
        return False
    if kind == "full_name" and found & _PARTS:
        return False
    return bool(found & _WORDS[kind])


def is_key(name: str) -> bool:
    """Tell whether a name is that of a key of a person, or of something a person has.

    Examples
    --------
    >>> [is_key(name) for name in ("patient_no", "order_id", "customer code", "MRN")]
    [True, True, True, True]
    >>> [is_key(name) for name in ("number_of_visits", "ward_id", "icd_code", "product_id")]
    [False, False, False, False]
    """
    found = {*words(name)}
    if found & (_NOT_OF_PEOPLE | _SHARED) or (found & _NUMBER and found & {"of", "de", "der"}):
        return False
    return bool(found & _KEY_OF_ROWS) or is_key_of_person(name)


def is_key_of_person(name: str) -> bool:
    """Tell whether a name says that a number, key or code is a person's.

    Examples
    --------
    >>> [is_key_of_person(name) for name in ("patient_no", "PatientID", "customerid", "order_id")]
    [True, True, True, False]
    """
    found, keys = {*words(name)}, _WORDS["key"] | _KEY_OF_ROWS
    is_named = found & _WORDS["person"] and found & keys and not found & _SHARED
    endings = [(word, key) for word in found for key in keys if word.endswith(key)]
    joined = any(word.removesuffix(key) in _WORDS["person"] for word, key in endings)
    return bool(is_named or joined or "mrn" in found)
