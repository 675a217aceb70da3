"""The embedded listing service (extra [server]): the same interface, with no account needed.

Everything that needs the extra loads when first used, so that its absence is one clear message.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from commandsync.server.service import RunningService, SeededBot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from fastapi import FastAPI

__all__ = [
    "RunningService",
    "SeededBot",
    "create_app",
    "openapi_text",
    "require",
    "running",
    "serve",
]

_EXTRA = {"anyio", "fastapi", "jwt", "sqlalchemy", "starlette", "uvicorn"}


def require() -> None:
    """Make sure that the service can be run.

    Raises:
        UsageError: The extra is missing.
    """
    with _extra():
        import commandsync.server.listening  # noqa: F401, PLC0415 - needs the extra


def serve(
    *,
    host: str,
    port: int,
    database: str,
    seed: Path | None = None,
    on_ready: Callable[[str, Sequence[SeededBot]], None] | None = None,
    access_log: bool = False,
) -> None:
    """Run the service until SIGINT or SIGTERM; requests in flight are answered first.

    Args:
        host: The name or address to listen on.
        port: The port; 0 picks a free one.
        database: A file path, `:memory:`, or a SQLAlchemy URL. A file is made when it is missing.
        seed: A JSON file of bots to create where they do not exist yet.
        on_ready: Called once, with the base URL and the seed's bots, when connections are accepted;
            it may already make requests. What it raises stops the service and is raised here.
        access_log: Log every request, through the logger `uvicorn.access`.

    Raises:
        UsageError: The extra is missing, or the address cannot be listened on.
        FileError: The database or the seed file cannot be used.
    """
    with _extra():
        from commandsync.server import listening  # noqa: PLC0415 - needs the extra
    listening.serve(
        host=host,
        port=port,
        database=database,
        seed=seed,
        on_ready=on_ready,
        access_log=access_log,
    )


@contextmanager
def running(
    database: str = ":memory:", *, seed: Path | None = None, port: int = 0
) -> Iterator[RunningService]:
    """Run the service in a thread on loopback for as long as the block lasts.

    Args:
        database: As for `serve`.
        seed: As for `serve`.
        port: As for `serve`.

    Raises:
        UsageError: As for `serve`.
        FileError: As for `serve`.
    """
    with _extra():
        from commandsync.server import listening  # noqa: PLC0415 - needs the extra
    with listening.running(database, seed=seed, port=port) as service:
        yield service


def create_app(database: str) -> FastAPI:
    """Return the service as an ASGI application; it opens the database when it starts up.

    Args:
        database: As for `serve`.

    Raises:
        UsageError: The extra is missing.
    """
    with _extra():
        from commandsync.server import app  # noqa: PLC0415 - needs the extra
    return app.create_app(database)


def openapi_text() -> str:
    """Return the service's OpenAPI document as kept in schemas/openapi.json.

    Raises:
        UsageError: The extra is missing.
    """
    with _extra():
        from commandsync.server import app  # noqa: PLC0415 - needs the extra
    return app.openapi_text()


@contextmanager
def _extra() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        from commandsync.extras import missing  # noqa: PLC0415 - seldom needed

        raise missing("the embedded service needs", "server", error) from error
