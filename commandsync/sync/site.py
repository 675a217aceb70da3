"""A bot's listing: its service, its id, and the token that may write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from commandsync.diagnostics import Notice
from commandsync.errors import UsageError, WrongBotError

if TYPE_CHECKING:
    from commandsync.api.address import Address
    from commandsync.api.credentials import Token


@dataclass(frozen=True, slots=True)
class Site:
    """A bot's listing and its token, if any; `token_from` is the token's variable or file."""

    address: Address
    bot: str
    token: Token | None
    token_from: str

    def warnings(self) -> tuple[Notice, ...]:
        """Return the warning about a token that apply would refuse."""
        problem = self._wrong_bot()
        return (Notice(problem, "apply will refuse it: use this bot's token"),) if problem else ()

    def check_token(self) -> None:
        """Refuse to write without this bot's token.

        Raises:
            UsageError: There is no token.
            WrongBotError: It belongs to another bot.
        """
        if self.token is None:
            of_bot = f" for bot {self.bot}" if self.bot.strip() else ""
            raise UsageError(
                f"no token was given{of_bot}",
                hint=f"set {self.token_from}, or give --token-file",
            )
        if problem := self._wrong_bot():
            raise WrongBotError(problem, hint="use the token from this bot's own page")

    def _wrong_bot(self) -> str:
        owner = self.token.bot if self.token else ""
        if owner in {"", self.bot}:
            return ""
        return f"the token belongs to bot {owner}, not to bot {self.bot}"
