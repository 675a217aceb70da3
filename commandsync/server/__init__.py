"""The embedded listing service (extra [server]): the same interface, with no account needed."""

from importlib.util import find_spec

from commandsync.extras import missing

_EXTRA = "fastapi h11 jwt limits sqlalchemy uvicorn websockets"

for _library in _EXTRA.split():
    if find_spec(_library) is None:
        raise missing("the embedded service needs", "server", ImportError(name=_library))
