"""Tables around a person: what her linked records tell of her, counted and suppressed."""

from dbt_anonymize.extension import Extension

EXTENSION = Extension(name="linked", functions={"suppress_linked": "suppressing.suppress_linked"})
