"""Case studies build their hierarchies: without the extension for that none is collected."""

from tests.extensions import has

collect_ignore_glob = [] if has("hierarchy_builders") else ["*.py"]
