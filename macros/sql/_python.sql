{# Whether Python may run within dbt. Without it (dbt 2), commands do what needs it, before and after dbt. #}
{% macro _has_python() -%}{{ return(var("dbt_anonymize_python", true)) }}{%- endmacro %}


{# A function of the companion, by its module, and its arguments beside the connection: texts, numbers, lists. #}
{% macro _python_step(module, function, arguments) -%}
    {{ return({"module": module, "function": function, "arguments": arguments}) }}
{%- endmacro %}


{# Python that calls it, as dbt-duckdb runs a model. JSON within JSON is ASCII, and Python reads that as it is. JSON
   itself it would not: a character beyond 16 bits is two there. #}
{% macro _python_code(step) -%}
import json

from {{ step.module }} import {{ step.function }}


class dbtObj:
    def __init__(self, load):
        pass


def model(dbt, session):
    {{ step.function }}(session, **json.loads({{ tojson(tojson(step.arguments)) }}))


def materialize(result, session):
    pass
{%- endmacro %}
