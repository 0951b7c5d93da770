"""Without the extension that builds hierarchies no module of the fertility clinic is collected."""

from tests.extensions import has

collect_ignore_glob = [] if has("hierarchy_builders") else ["*clinic.py"]
