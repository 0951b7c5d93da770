"""Modules of pages that build hierarchies, or recode, are not collected without the extensions."""

from tests.extensions import has

collect_ignore_glob = [] if has("hierarchy_builders") else ["*clinic.py"]
if not (has("hierarchy_builders") and has("recoding")):
    collect_ignore_glob.append("*systematic_clustering.py")
