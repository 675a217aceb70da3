"""Version 1: bots, their commands and announcements; adopts what was written before Alembic."""

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None

_whole = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_TEXTS = {
    "commands": ("name", "description", "syntax", "category"),
    "announcements": ("title", "description"),
}
_MORE = {
    "commands": (
        sa.Column("uses", _whole, nullable=False),
        sa.Column("updated_at", sa.String, nullable=False),
    ),
    "announcements": (),
}


def upgrade() -> None:
    """Create the tables, or give the text columns of the first releases their default."""
    if sa.inspect(op.get_bind()).has_table("settings"):
        for table, fields in _TEXTS.items():
            with op.batch_alter_table(table) as batch:
                for field in fields:
                    batch.alter_column(field, server_default="")
        return
    op.create_table(
        "settings",
        sa.Column("key", sa.String, primary_key=True),
        sa.Column("value", sa.String, nullable=False),
    )
    op.create_table(
        "bots",
        sa.Column("seq", _whole, primary_key=True),
        sa.Column("id", sa.String, nullable=False, unique=True),
        sa.Column("record", sa.JSON, nullable=False),
        sa.Column("created_at", sa.String, nullable=False),
        sa.Column("updated_at", sa.String, nullable=False),
    )
    for table, fields in _TEXTS.items():
        op.create_table(
            table,
            sa.Column("seq", _whole, primary_key=True),
            sa.Column("id", sa.String, nullable=False, unique=True),
            sa.Column("bot", sa.String, sa.ForeignKey("bots.id"), nullable=False, index=True),
            *(sa.Column(field, sa.String, nullable=False, server_default="") for field in fields),
            *_MORE[table],
            sa.Column("created_at", sa.String, nullable=False),
        )
