"""The page of the thesis recodes: without these extensions it is not collected."""

from tests.extensions import has

collect_ignore_glob = (
    [] if has("hierarchy_builders") and has("recoding") else ["*systematic_clustering.py"]
)
