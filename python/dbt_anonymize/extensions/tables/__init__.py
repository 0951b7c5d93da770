"""Tables of counts that give nobody away: small cells hidden, and what hides them audited."""

from dbt_anonymize.extension import Extension

EXTENSION = Extension(name="tables")
