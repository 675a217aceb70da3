"""The job, as values in and values out: settings, reading, planning, applying, exit codes.

`run` and `run_async` apply a manifest through a client; the names load when first used.
"""

import os

TYPE_CHECKING = False  # typing takes longer to import than the rest, and signals wait for it
if TYPE_CHECKING:
    from commandsync.sync.library import Outcome as Outcome
    from commandsync.sync.library import Result as Result
    from commandsync.sync.library import run as run
    from commandsync.sync.library import run_async as run_async


DEFAULT_MANIFESTS = ("commands.yaml", "commandsync.yaml")
"""The names of a manifest that no option names; the second one is this program's alone."""

SCHEMA = "schemas/commands.schema.json"
"""The file of the JSON Schema for editors, beside a manifest."""


def default_manifest(folder: str = "") -> str:
    """Return the path of a folder's manifest that no option names: the first name if there is none.

    Raises `UsageError` if the folder has both.
    """
    paths = [os.path.join(folder, name) for name in DEFAULT_MANIFESTS]  # noqa: PTH118 - as above
    found = [path for path in paths if os.path.lexists(path)]
    if len(found) > 1:
        from commandsync.errors import UsageError  # noqa: PLC0415 - as above

        message = f"{found[0]} and {found[1]} both exist, and each is the manifest by default"
        raise UsageError(message, hint="name the one to use, or remove the other")
    return found[0] if found else paths[0]


def __getattr__(name: str) -> object:
    if name not in {"Outcome", "Result", "run", "run_async"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from commandsync.sync import library  # noqa: PLC0415 - loads the whole job

    return getattr(library, name)
