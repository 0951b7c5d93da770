{# Python that publishes the candidate outside the warehouse, or nothing where the released table itself is the
   publication. #}
{% macro _publication(candidate, declaration) -%}
    {{ return(adapter.dispatch("_publication", "dbt_anonymize")(candidate, declaration)) }}
{%- endmacro %}

{% macro default___publication(candidate, declaration) -%}
    {%- if declaration.composition == "strict" -%}
        {%- do dbt_anonymize._raise_errors(declaration.anonymization, [
            "release.composition: strict compares files, which DuckDB alone publishes; got "
            ~ target.type ~ ". Write report."
        ]) -%}
    {%- endif -%}
    {%- if declaration.formats != ["duckdb"] -%}
        {%- do dbt_anonymize._raise_errors(declaration.anonymization, [
            "release.formats are of files, which DuckDB alone publishes; got " ~ target.type ~ ". Remove them."
        ]) -%}
    {%- endif -%}
    {{ return("") }}
{%- endmacro %}

{# A DuckDB file has no grants: who reads it reads all of it. So the release is a file of its own. #}
{% macro duckdb___publication(candidate, declaration) -%}
{%- set classes = declaration.guarantees | selectattr("model", "in", ["k_anonymity", "alpha_k_anonymity"]) -%}
import json

from dbt_anonymize.release.composition import Composition
from dbt_anonymize.release.publish import publish


class dbtObj:
    def __init__(self, load):
        pass


def model(dbt, session):
    publish(
        session,
        relation={{ dbt_anonymize._python_literal(candidate) }},
        table={{ dbt_anonymize._python_literal(this.identifier) }},
        folder={{ dbt_anonymize._python_literal(dbt_anonymize._project_folder()) }},
        path={{ dbt_anonymize._python_literal(declaration.path) }},
        {%- if not declaration.waits %}
        composition=Composition(
            quasi_identifiers=[
                {%- for quasi_identifier in declaration.quasi_identifiers %}
                {{ dbt_anonymize._python_literal(quasi_identifier.name) }},
                {%- endfor %}
            ],
            k={{ classes | map(attribute="k") | max }},
            is_strict={{ declaration.composition == "strict" }},
        ),
        {%- endif %}
        formats=[
            {%- for format in declaration.formats %}{{ dbt_anonymize._python_literal(format) }}, {% endfor -%}
        ],
    )


def materialize(result, session):
    pass
{% endmacro %}
