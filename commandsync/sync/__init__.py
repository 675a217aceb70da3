"""The job, as values in and values out: settings, reading, planning, applying, exit codes.

The public names `run` and `run_async` come from `commandsync.library`, which is above this
subpackage; they load when first used.
"""

TYPE_CHECKING = False  # typing takes longer to import than the rest, and signals wait for it
if TYPE_CHECKING:
    from commandsync.library import Outcome as Outcome
    from commandsync.library import Result as Result
    from commandsync.library import run as run
    from commandsync.library import run_async as run_async


DEFAULT_MANIFESTS = ("commands.yaml", "commandsync.yaml")
"""The names of a manifest that no option names; the second one is this program's alone."""

SCHEMA = "schemas/commands.schema.json"
"""The file of the JSON Schema for editors, beside a manifest."""


def __getattr__(name: str) -> object:
    if name not in {"Outcome", "Result", "run", "run_async"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from commandsync import library  # noqa: PLC0415 - loads the whole job

    return getattr(library, name)
