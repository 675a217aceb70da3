"""The schema of the database, step by step: every database becomes one of the newest version.

`versions/` has a file for each version. A released one never changes: a change of `tables` needs a
new one.
"""

from pathlib import Path
from threading import Lock

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

_FOLDER = Path(__file__).parent
LATEST = len(list(_FOLDER.glob("versions/schema_*.py")))
"""The newest version; a database of a newer one is refused."""

_LOCK = Lock()  # Alembic keeps what it works on in global variables


def configuration(connection: Connection | None = None) -> Config:
    """Return the configuration of Alembic; `env` uses its connection."""
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    return config


def upgrade(connection: Connection) -> None:
    """Bring a database to the newest version, inside the caller's transaction."""
    with _LOCK:
        command.upgrade(configuration(connection), "head")
