"""Version 2: votes, their voters and days, and the events that they cause.

Some databases of version 1 have these tables: for a while, missing tables were added without one.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"

_whole = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def _bot(**options: Any) -> sa.Column[str]:  # noqa: ANN401 - as the library takes them
    return sa.Column("bot", sa.String, sa.ForeignKey("bots.id"), nullable=False, **options)


def upgrade() -> None:
    """Create the tables."""
    if sa.inspect(op.get_bind()).has_table("vote_days"):
        return
    op.create_table(
        "voters",
        sa.Column("seq", _whole, primary_key=True),
        _bot(),
        sa.Column("user", sa.String, nullable=False),
        sa.Column("record", sa.JSON, nullable=False),
        sa.Column("next_at", sa.String, nullable=False),
        sa.Column("remind_at", sa.String, index=True),
        sa.UniqueConstraint("bot", "user"),
    )
    op.create_table(
        "votes",
        sa.Column("seq", _whole, primary_key=True),
        _bot(),
        sa.Column("user", sa.String, nullable=False),
        sa.Column("voted_at", sa.String, nullable=False),
        sa.Index("votes_by_time", "bot", "voted_at", "seq"),
    )
    op.create_table(
        "vote_days",
        _bot(primary_key=True),
        sa.Column("day", sa.String, primary_key=True),
        sa.Column("votes", sa.Integer, nullable=False),
    )
    op.create_table(
        "outbox",
        sa.Column("seq", _whole, primary_key=True),
        _bot(index=True),
        sa.Column("event", sa.String, nullable=False),
        sa.Column("data", sa.JSON, nullable=False),
        sa.Column("created_at", sa.String, nullable=False, index=True),
        sqlite_autoincrement=True,
    )
