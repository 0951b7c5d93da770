"""Modules of pages that build hierarchies, or recode, are not collected without the extensions."""

from tests.extensions import has

_BUILT = ["*clinic.py", "*arx_*.py"]
collect_ignore_glob = [] if has("hierarchy_builders") else _BUILT
if not (has("hierarchy_builders") and has("recoding")):
    collect_ignore_glob.append("*systematic_clustering.py")
