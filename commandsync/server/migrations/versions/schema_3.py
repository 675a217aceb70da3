"""Version 3: the catalogue, which lists of bots are made from; the service fills it.

Some databases of version 1 have its tables: for a while, missing tables were added without one.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"

_whole = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_key = sa.String().with_variant(sa.String(collation="C"), "postgresql")
_SORTED: dict[str, sa.types.TypeEngine[Any]] = {
    "id": _key,
    "username": _key,
    "servers": _whole,
    "total_votes": _whole,
    "average_rating": sa.Float(),
    "ratings": _whole,
    "certificate": _whole,
    "state": _whole,
    "status": _whole,
    "created_at": _key,
    "updated_at": _key,
}


def _of_bot() -> sa.Column[int]:
    return sa.Column("seq", _whole, sa.ForeignKey("bots.seq", ondelete="CASCADE"), primary_key=True)


def upgrade() -> None:
    """Create the tables."""
    if sa.inspect(op.get_bind()).has_table("catalogue"):
        return
    op.create_table(
        "catalogue",
        _of_bot(),
        *(sa.Column(name, kind, nullable=False) for name, kind in _SORTED.items()),
        *(sa.Index(f"ix_catalogue_{name}", name, "seq") for name in _SORTED),
    )
    op.create_table("bot_words", _of_bot(), sa.Column("words", sa.String, nullable=False))
    op.create_table("bot_tags", sa.Column("tag", _key, primary_key=True), _of_bot())
