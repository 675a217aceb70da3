"""The upgrade of a database that an older version wrote, inside a transaction.

A new database has the tables of the code. A change of these tables is a step here, which gives the
same tables to an old database, and the number of the next version.
"""

from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Column, Connection, String, inspect

from commandsync.server.tables import metadata

LATEST = 5
"""The newest version; a database of a newer one is refused."""

_DERIVED = ("bot_tags", "bot_words", "bot_search", "catalogue")
_TEXTS = {
    "commands": ("name", "description", "syntax", "category"),
    "announcements": ("title", "description"),
}


def upgrade(connection: Connection, version: int) -> None:
    """Give a database of a version, 0 for a new one, the tables of the newest one."""
    op = Operations(MigrationContext.configure(connection))
    if 0 < version < 5:  # noqa: PLR2004 - a version
        _upgrade_to_5(op, version)
    metadata.create_all(connection)


def _upgrade_to_5(op: Operations, version: int) -> None:
    """Upgrade a database from before the first release; what is derived from bots is made anew."""
    tables = inspect(op.get_bind()).get_table_names()
    if "alembic_version" not in tables:
        for table, fields in _TEXTS.items():
            with op.batch_alter_table(table) as batch:
                for field in fields:
                    batch.alter_column(field, server_default="")
    for table in (*_DERIVED, "alembic_version"):
        op.execute(f"DROP TABLE IF EXISTS {table}")
    if "vote_days" in tables:
        op.create_index("ix_vote_days_day", "vote_days", ["day", "bot", "votes"])
    if version < 4:  # noqa: PLR2004 - a version
        op.add_column("bots", Column("token_key", String, nullable=False, server_default=""))
        if "voters" in tables:
            op.drop_index("ix_voters_remind_at", "voters")
            op.create_index("ix_voters_bot_remind_at", "voters", ["bot", "remind_at"])
