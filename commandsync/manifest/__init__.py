"""YAML in: events -> nodes with places -> models -> snapshot, or all problems at once; YAML out.

Only this folder reads and writes YAML. `dump`, which writes it, loads when used.
"""

from commandsync.manifest.loader import load_head, load_manifests, load_texts, same_target_problems
from commandsync.manifest.reader import Manifest

__all__ = ["Manifest", "load_head", "load_manifests", "load_texts", "same_target_problems"]
