"""YAML in: events -> nodes with places -> models -> snapshot, or all problems at once; YAML out.

Only this folder reads and writes YAML.
"""

from commandsync.manifest.dump import Dump, dump_manifest, starter
from commandsync.manifest.loaded import Manifest, Target, same_target_problems
from commandsync.manifest.loading import load_manifests
from commandsync.manifest.model import json_schema, schema_text

__all__ = [
    "Dump",
    "Manifest",
    "Target",
    "dump_manifest",
    "json_schema",
    "load_manifests",
    "same_target_problems",
    "schema_text",
    "starter",
]
