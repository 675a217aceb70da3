"""What Alembic runs to upgrade: all versions that a database lacks, in one transaction."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
