"""As discord.ext."""
