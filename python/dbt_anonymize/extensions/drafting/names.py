"""Infer the kind of a column from its name, in a few languages."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
# Even with few values, these name people rather than facts about them (insurance: yes, no).
_NAMES_PERSON = """
    name names firstname lastname fullname surname forename nickname vorname nachname familienname
    nombre nombres apellido apellidos nome cognome sobrenome apelido prenom nom email mail phone
    telephone telefon telefono telefone iban ssn nin nif nie dni cpf passport username login
    address adresse direccion endereco
    doctor physician nurse surgeon therapist clinician carer teacher manager advisor midwife arzt
    medico
"""
_ROW_NUMBER = """
    rowname rownames rownum rownumber rowid index unnamed unnamed0 obs observation lfdnr
"""
_SAMPLING_WEIGHT = """
    fnlwgt finalwgt wgt wght perweight personweight pweight finalweight samplingweight
    sampleweight sampweight surveyweight wtssall
"""
# Parts of names of times at which a row came into the warehouse, or was changed there.
_LOADING = """
    loaded ingested ingestion inserted updated modified synced extracted imported refreshed
    etl elt dwh fivetran airbyte emitted
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
    citizenship citizen language lang marital maritalstatus familienstand education ausbildung
    school occupation profession job beruf profesion employer workclass department height weight
    children household veteran latitude longitude lat lon lng coordinates geo
    edu edlevel edyears yedu educ grade degree yrsschool yearsschool
    hsize fsize hhsize famsize kids childs nchild numkids nkids kidslt6 siblings family
    female fml male black nonwhite nwhite white hisp hispanic latino asian colour color
    married marr maritl single divorced widowed spouse husband wife
    south north east west urban rural smsa msa metro suburb place location area neighbourhood
    immigrant foreign native nativeborn employed empl employment unemployed union retired
    occ occ10 exper experience tenure seniority hours smoker smoke smoking homeowner owner renter
    own death died deceased ward hospital clinic store
    college university military army position
"""
# Beginnings and ends of compound words, as in statistical tables.
_QUASI_PARTS = """
    educ school college homeown marit marri child kids famil househ ethnic hispan gender birth
    occup employ citizen immigr foreign urban rural smok divorc pregnan veteran postal zipcode
"""
_SENSITIVE_PARTS = """
    health hlth disab medic
    therap treatm religi polit crimin offen convict arrest prison
    surg transplant chemother hospvis docvis drinking alcohol
"""
_BIRTH = "birth birthdate birthday born dob geburtsdatum nacimiento"
_AGE = "age ages alter edad edades idade eta leeftijd"
_FULL_NAME = "name names fullname nombre nome username login"
# Many people share a part of a name.
_PARTS = {"first", "last", "given", "family", "middle", "maiden", "street"}
_SHARED_NAMES = """
    firstname lastname surname forename nickname vorname nachname familienname apellido apellidos
    cognome sobrenome apelido prenom address adresse direccion endereco street strasse calle rua
"""
_SENSITIVE = """
    condition icd treatment therapy medication drug
    score criminal offence crime politics party orientation pregnant pregnancy disability blood
    genetic
    vote voted voting partyid polviews religion relig belief church god sexuality
    rx trt treat tx dose biopsy ecog karno
    ill sick drugs cannabis suicide mental abuse offense sentence jail
"""
# Amounts that an employer, a bank or an insurer knows; the parts are of compound words.
_MONEY = """
    salary income wage earnings gehalt einkommen salario renda debt credit loan
    balance pension assets inc hhninc hhinc faminc rincome realrinc nettfa
"""
_MONEY_PARTS = "income wage salar earning wealth"
# Diagnoses and complaints; the beginnings and ends below know their compound words.
_CONDITION = """
    diagnosis diagnose diagnoses disease illness hiv aids hpv stroke angina
    highbp hibp bphigh htn sbp dbp systolic diastolic hichol highchol hyperlipidemia dyslipidemia
    hypercholesterolemia hypercholesterolaemia
    cvd chd ihd copd ckd esrd afib dvt tia covid covid19 flu influenza
    gout goiter goitre hernia seizure seizures polio pica wtloss weightloss amnesia coma
    coronary atrial renal eclampsia preeclampsia gonorrhea gonorrhoea chlamydia syphilis
    malaria measles eczema rash jaundice edema oedema dementia alzheimer alzheimers
    parkinson parkinsons lupus anxiety insomnia autism adhd schizophrenia bipolar nerves
    nervousbreak nervousbreakdown pain backpain chestpain otherpain comorbidity comorbidities
    injury injuries sepsis obesity obese concussion vomiting nausea diarrhea diarrhoea
    dyspnea dyspnoea
"""
_CONDITION_PARTS = """
    diseas diagnos illness symptom cancer depress psych diabet
    hepati bronch asthma infarct infect allerg epilep anemi anaemi leukemi leukaemi thyroid tuberc
    cholest hypertens arthrit migrain headache cough fever ulcer fracture tumor tumour
    carcinom melanom lymphom pneumon cirrhos scleros psorias fibros thrombos osteopor
    nephropath neuropath retinopath cardiac cardiov heart kidney bowel itis algia ectomy
"""
# Vital signs and values of a laboratory, which only a clinic knows.
_CLINICAL = """
    pulse pulserate heartrate hrate sysbp diasbp systbp diastbp bpsys bpdia systolicbp diastolicbp
    sbp dbp systolic diastolic bloodpressure resprate spo2 sao2 pao2 paco2 lvef ejectionfraction
    bodytemp bodytemperature bmi bodymassindex
    chol totchol cholesterol hdl ldl vldl hdlc ldlc trig trigly triglyc triglyceride triglycerides
    hba1c a1c glyhb gluc glucose bloodsugar insulin creat creatinine egfr gfr urea uricacid
    bili bilirubin albumin ferritin hgb hemoglobin haemoglobin hct hematocrit haematocrit wbc rbc
    platelet platelets neutrophils lymphocytes leukocytes leucocytes sgot sgpt alkphos ldh crp esr
    ggt troponin ckmb cpk bnp ntprobnp probnp psa tsh lactate viralload cd4 cd8 estrec progrec
"""
# Short as other words are too (hours, old, a phase): measurements only beside other ones.
_CLINICAL_CODE = """
    hr bp bpm ef alt ast alp ck hb plt glu bun alb tg temp resp map sodium potassium calcium
    fbs scr pgr
"""
# Short as other words are too (miles, francs, hit by pitch): conditions only beside other ones.
_CONDITION_CODE = """
    hbp hbpmed bp mi ami premi priormi prevmi histmi chf hf afb af tb cva pvd pad cad ms uti ibd
    ibs dm
"""
# Numbers that say when: days since admission, year of a film.
_CALENDAR = """
    day days week weeks month months quarter year years date dates
    tag tage woche wochen monat monate jahr jahre datum dia dias mes meses ano anos fecha jour jours
"""
_TARGET = """
    target label outcome class churn churned default defaulted fraud survived readmitted readmission
    converted response responded event died death diagnosis approved left attrition result
"""
_NUMBER = {"number", "num", "no", "nr", "nummer", "numero"}
# Codes and indexes identify anything, unless the name also has a person.
_KEY_OF_ROWS = {"id", "key", "uuid", "guid", "pk"} | _NUMBER
_PERSON = """
    patient patients patienten customer client member person personal people user employee staff
    subject student pupil participant donor guest driver tenant citizen resident insured beneficiary
    athlete player rider runner volunteer respondent worker child proband subj nurse teacher emp
    kunde kunden mitglied mitglieds versicherten paciente cliente usuario empleado utente doente
"""
# Words that say that a column counts, adds up or averages; in front of others, and with "of".
_STATISTIC = """
    count counts cnt percent percents percentage pct perc share ratio rate proportion total totals
    amount amounts sum mean avg average median min max minimum maximum variance freq frequency
    quantity qty anteil summe prozent mittelwert durchschnitt porcentaje promedio montant
"""
_COUNT = {"num", "number", "n", "nb", "anzahl", "cantidad"}
# Shorter words that end in s are mostly abbreviations.
_SHORTEST_PLURAL = 3
_ONLY_COUNT = {"anzahl", "cantidad"}
_OF = {"of", "de", "der", "du", "d"}
# Ends of names of amounts: of an account, of an insurance.
_MEASURE_ENDS = """
    balance limit length age duration size cost costs fee fees price premium usage score
    rating spend spent minutes seconds hours day days week weeks month months year years opened
"""
_MANY_PEOPLE = {"people", "kunden", "patienten", "versicherten", "insured", "personal", "children"}
# Keys of things that many people share.
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
        "loading": _LOADING,
        "quasi_identifier": _QUASI,
        "sensitive": _SENSITIVE + _MONEY + _CONDITION + _CLINICAL,
        "money": _MONEY,
        "condition": _CONDITION,
        "condition_code": _CONDITION_CODE,
        "clinical": _CLINICAL,
        "clinical_code": _CLINICAL_CODE,
        "target": _TARGET,
        "person": _PERSON,
        "full_name": _FULL_NAME,
        "age": _AGE,
        "calendar": _CALENDAR,
        "birth": _BIRTH,
        "shared": _SHARED_NAMES,
        "key": _KEY,
        "names_person": _NAMES_PERSON,
        "row_number": _ROW_NUMBER,
        "household": "household family hh dwelling",
        "statistic": _STATISTIC,
        "measure_end": _MEASURE_ENDS,
        "sampling_weight": _SAMPLING_WEIGHT,
        # Times from the begin of a study until an event, or until a person was last seen.
        "follow_up": "futime fuptime fu followup lenfol survtime survivaltime survival tte ostime",
    }.items()
}
_PARTS_OF = {
    "quasi_identifier": tuple(_QUASI_PARTS.split()),
    "sensitive": tuple((_SENSITIVE_PARTS + _MONEY_PARTS + _CONDITION_PARTS).split()),
    "money": tuple(_MONEY_PARTS.split()),
    "condition": tuple(_CONDITION_PARTS.split()),
    "clinical": (),
}
# Endings of a column derived from another: its square, its logarithm, its classes.
_ENDINGS = ("sq", "cat", "grp", "group", "groups", "band", "class", "status", "stat", "rank")
# Names of things, not of people.
_NOT_OF_PEOPLE = {"product", "plan", "item", "brand", "category", "campaign", "channel", "file"}
# Parts of a phone number that many people share.
_SHARED_PARTS = {"prefix", "prefixes", "areacode", "callingcode", "dialcode", "vorwahl"}
# Places and firms, whose names many people share.
_PLACES = {
    *("clinic", "hospital", "school", "company", "firm", "city", "town", "county", "country"),
    *("state", "region", "district", "department", "ward", "team", "course", "store", "station"),
}


def words(name: str) -> list[str]:
    """Return the words of a name, and neighbours joined.

    Examples
    --------
    >>> words("fullName"), words("e-mail")
    (['full', 'name', 'fullname'], ['e', 'mail', 'email'])
    """
    single = _single_words(name)
    return [*single, *(a + b for a, b in pairwise(single))]


def _single_words(name: str) -> list[str]:
    parts = re.sub(r"(?<=[a-zà-ÿ0-9])(?=[A-Z])", " ", name)
    return [word.lower() for word in re.split(r"[\W_]+", parts) if word]


def name_indicates(name: str, kind: str) -> bool:
    """Tell whether a name indicates a kind of column.

    Examples
    --------
    >>> name_indicates("Birth date", "quasi_identifier")
    True
    >>> name_indicates("product_name", "identifier")
    False
    """
    name_words = set(words(name))
    shared = _NOT_OF_PEOPLE | _PLACES | _SHARED_PARTS
    if kind in {"identifier", "names_person"} and name_words & shared:
        return False
    if kind == "full_name" and name_words & _PARTS:
        return False
    if kind in {"identifier", "key"} and is_measure(name):
        return False
    return bool(name_words & _WORDS[kind]) or (kind in _PARTS_OF and _holds_part(name_words, kind))


def _holds_part(name_words: set[str], kind: str) -> bool:
    """Tell whether a compound word indicates the kind, as `logwage`, `educ2` or `agesq`.

    Examples
    --------
    >>> names = ("ed_educcat", "agesq", "package", "kids3")
    >>> [name_indicates(name, "quasi_identifier") for name in names]
    [True, True, False, True]
    """
    if any(
        word.startswith(part) or word.endswith(part)
        for word in name_words
        for part in _PARTS_OF[kind]
    ):
        return True
    plain = {word.rstrip("0123456789") for word in name_words}
    plain |= {word.removesuffix(end) for word in plain for end in _ENDINGS}
    plain |= {word.removeprefix("log").removeprefix("ln") for word in plain}
    return bool(plain & _WORDS[kind])


def is_key(name: str) -> bool:
    """Tell whether a name is that of a key of a person, or of something that a person has.

    Examples
    --------
    >>> [is_key(name) for name in ("patient_no", "order_id", "customer code", "MRN")]
    [True, True, True, True]
    >>> [is_key(name) for name in ("number_of_visits", "ward_id", "icd_code", "product_id")]
    [False, False, False, False]
    """
    name_words = {*words(name)}
    if name_words & (_NOT_OF_PEOPLE | _SHARED) or is_measure(name):
        return False
    return bool(name_words & _KEY_OF_ROWS) or is_key_of_person(name)


def is_key_of_person(name: str) -> bool:
    """Tell whether a name is that of a number, key or code of a person.

    Examples
    --------
    >>> [is_key_of_person(name) for name in ("patient_no", "PatientID", "customerid", "order_id")]
    [True, True, True, False]
    >>> is_key_of_person("SEQN")  # of a respondent, in surveys of health
    True
    """
    if is_measure(name):
        return False
    name_words, keys = {*words(name)}, _WORDS["key"] | _KEY_OF_ROWS
    is_named = name_words & _WORDS["person"] and name_words & keys and not name_words & _SHARED
    endings = [(word, key) for word in name_words for key in keys if word.endswith(key)]
    joined = any(word.removesuffix(key) in _WORDS["person"] for word, key in endings)
    return bool(is_named or joined or name_words & {"mrn", "seqn"})


def is_measure(name: str) -> bool:
    """Tell whether a name is that of a count, a share, a sum or a mean, whatever is counted.

    Examples
    --------
    >>> [is_measure(name) for name in ("num_accounts", "account_percent", "number of patients")]
    [True, True, True]
    >>> [is_measure(name) for name in ("account_number", "patient_no", "num_client", "total_id")]
    [False, False, False, False]
    """
    parts = _single_words(name)
    if not parts or parts[-1] in _WORDS["names_person"]:
        return False
    is_statistic = not _WORDS["statistic"].isdisjoint(parts)
    if parts[-1] in _KEY_OF_ROWS | {"code"}:
        # The total number is a count; of accounts, a number at the end is a key.
        return is_statistic and len(parts) == 2 and parts[-1] in _NUMBER
    return is_statistic or parts[-1] in _WORDS["measure_end"] or _is_count(parts)


def _is_count(parts: Sequence[str]) -> bool:
    """Tell whether a name begins with the number of something, or has such a number of it."""
    for word, of, *rest in (parts[place:] for place in range(len(parts) - 2)):
        if word in _NUMBER | _COUNT and of in _OF:
            return _are_many(rest)
    first, *rest = parts
    return bool(rest) and (first in _ONLY_COUNT or (first in _NUMBER | _COUNT and _are_many(rest)))


def _are_many(rest: Sequence[str]) -> bool:
    """Tell whether words are of many: the number of one, as in `num_client`, is a key."""
    last = rest[-1]
    is_plural = len(last) > _SHORTEST_PLURAL and last.endswith("s") and not last.endswith("ss")
    # "Nummer des Ausweises" is of one, though it ends in s.
    return rest[0] != "des" and (last in _MANY_PEOPLE or is_plural)
