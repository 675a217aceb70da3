"""A bot's listing, and the progress of a run on it.

`Site` is a listing with its service, its id and the token that may write. While a run goes on, it
passes one value for each thing to `Settings.on_progress`: files that were read, a request that
waits, the next step of an apply.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from commandsync.api.arguments import Address, service_of
from commandsync.api.credentials import Token
from commandsync.api.operations import Operation
from commandsync.api.policy import Send, Wait
from commandsync.apply.token import token_refusal
from commandsync.diagnostics import Do, Notice
from commandsync.errors import UsageError
from commandsync.services.service import PAGE, RecordService, Service

if TYPE_CHECKING:
    from commandsync.apply.outcomes import Step
    from commandsync.manifest import Manifest
    from commandsync.plan.changes import Change
    from commandsync.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Site:
    """A bot's listing and its token, if any; `token_from` is the token's variable or file.

    `others` are the tokens of the other bots of the run.
    `bot_from` and `base_url_from` are what each is from; empty for the manifest.
    """

    address: Address
    bot: str
    token: Token | None
    token_from: str
    service: Service = PAGE
    others: tuple[Token, ...] = ()
    bot_from: str = ""
    base_url_from: str = ""

    @property
    def name(self) -> str:
        """What the listing is called among several: its service's name, or the host of a page."""
        return service_of(self.address.base_url) if self.service is PAGE else self.service.name

    @property
    def records(self) -> RecordService:
        """The service, of a page."""
        if not isinstance(self.service, RecordService):
            raise AssertionError(f"{self.service.name} takes whole lists")  # noqa: TRY004 - a defect
        return self.service

    def warnings(self, changes: Iterable[Change] = ()) -> tuple[Notice, ...]:
        """Return the warning about a token with which apply would refuse changes."""
        refused = token_refusal(self.token, self.bot, changes, others=self.others)
        return (
            (Notice(refused.message, f"apply will refuse it: {refused.hint}"),) if refused else ()
        )

    def check_token(self) -> None:
        """Refuse to write without this bot's token, before anything is read.

        Raises `UsageError` if there is no token, and `WrongBotError` if it belongs to another bot.
        """
        if self.token is None:
            of_bot = f" for bot {self.bot}" if self.bot.strip() else ""
            hint = Do.SET_TOKEN(variable=self.token_from)
            raise UsageError(f"no token was given{of_bot}", hint=hint)
        if refused := token_refusal(self.token, self.bot):
            raise refused


class FilesRead(NamedTuple):
    """Manifests, or the saved plan that is all of `content`, were read in so many seconds."""

    paths: Sequence[str]
    content: tuple[Manifest, ...] | Plan
    seconds: float


class CallProgress(NamedTuple):
    """A call of the service waits: for its answer (`Send`) or for a retry (`Wait`).

    It may come from any thread. The step is None when the call has ended.
    """

    site: Site
    operation: Operation[Any]
    step: Send | Wait | None


class ApplyProgress(NamedTuple):
    """A plan is applied: the next step; None when it has ended."""

    plan: Plan
    step: Step | None


Progress = FilesRead | CallProgress | ApplyProgress
