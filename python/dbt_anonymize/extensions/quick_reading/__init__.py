"""Reading a project without dbt, which takes two seconds to import.

Ordinary profiles are read as dbt reads them, and relations are where the last build says. Whatever
is out of the ordinary is left to dbt.
"""

from dbt_anonymize.extension import Extension

EXTENSION = Extension(name="quick_reading", without_dbt="reading")
