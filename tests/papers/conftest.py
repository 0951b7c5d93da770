"""Modules of pages that need extensions are not collected without them."""

from tests.extensions import has

_BUILT = ["*clinic.py", "*arx_*.py"]
collect_ignore_glob = [] if has("hierarchy_builders") else _BUILT
if not has("differential_privacy"):
    collect_ignore_glob.append("*arx_*.py")
if not (has("hierarchy_builders") and has("recoding")):
    collect_ignore_glob.append("*systematic_clustering.py")
