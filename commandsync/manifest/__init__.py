"""YAML in: events -> nodes with places -> models -> snapshot, or all problems at once; YAML out.

Only this folder reads and writes YAML; `dump` writes it, and loads when it is used.
"""

from commandsync.manifest.loading import load_head, load_manifests, same_target_problems
from commandsync.manifest.model import json_schema, schema_text
from commandsync.manifest.parts import Manifest

__all__ = [
    "Manifest",
    "json_schema",
    "load_head",
    "load_manifests",
    "same_target_problems",
    "schema_text",
]
