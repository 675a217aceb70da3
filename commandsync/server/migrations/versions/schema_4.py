"""Version 4: the keys of tokens, and reminders that are found by their bot."""

import sqlalchemy as sa
from alembic import op

revision = "4"
down_revision = "3"


def upgrade() -> None:
    """Change the tables; tokens without a key stay valid."""
    op.add_column("bots", sa.Column("token_key", sa.String, nullable=False, server_default=""))
    op.drop_index("ix_voters_remind_at", "voters")
    op.create_index("ix_voters_bot_remind_at", "voters", ["bot", "remind_at"])
