"""Case studies build their hierarchies: without the extension for that none is collected."""

from dbt_anonymize.extension import extensions

collect_ignore_glob = (
    [] if any(one.name == "hierarchy_builders" for one in extensions()) else ["test_*.py"]
)
