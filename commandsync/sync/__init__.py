"""The job, as values in and values out: settings, reading, planning, applying, exit codes.

`run` and `run_async` apply a manifest through a client; the names load when first used.
"""

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


def __getattr__(name: str) -> object:
    if name not in {"Outcome", "Result", "run", "run_async"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from commandsync.sync import library  # noqa: PLC0415 - loads the whole job

    return getattr(library, name)
