"""Case studies build their hierarchies and recode: without these extensions none is collected."""

from tests.extensions import has

collect_ignore_glob = [] if has("hierarchy_builders") and has("recoding") else ["*.py"]
