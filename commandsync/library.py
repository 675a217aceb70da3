"""The library's door to an apply: `run` and `run_async`, through a client of the library.

`commandsync.sync` has their public names.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, TypedDict, Unpack, cast

from commandsync.apply.outcomes import Outcome, Result, Settled, skipped
from commandsync.diagnostics import Do
from commandsync.errors import ArgumentError, CommandsyncError, UsageError, WrongBotError
from commandsync.manifest import Manifest
from commandsync.plan.rules import parse_delete_limit
from commandsync.sync.apply import (
    AppliedPlans,
    ApplySteps,
    CheckedPlans,
    Ending,
    apply,
    carry_out,
    carry_out_async,
)
from commandsync.sync.job import RecordJob
from commandsync.sync.setting import DRY_RUN, ONLY, PRUNE, UNORDERED
from commandsync.sync.settings import ApplyProgress, Progress, Settings, Site, load, read_clock

if TYPE_CHECKING:
    from commandsync.client.asynclibrary import AsyncClient
    from commandsync.client.connection import Connection
    from commandsync.client.library import Client

__all__ = ["Outcome", "Result", "run", "run_async"]


class Options(TypedDict, total=False):
    """The options of `run` and `run_async`; see there."""

    prune: bool
    max_deletes: int | str | None
    only: str
    unordered: bool
    dry_run: bool
    on_settled: Callable[[Sequence[Settled]], object]


def run(
    client: "Client", manifest: str | PathLike[str] | Manifest, **options: Unpack[Options]
) -> Result:
    """Make a listing match a manifest, as `commandsync apply` does.

    The client's connection is used and stays open; its service is changed, and the run has its
    retries, time-outs and token. The manifest's `listings` are left alone: `commandsync apply` and
    the Action change those. Signals are left to the caller, and nothing is printed. Another apply
    of the page on this machine is waited for. Changes that failed or whose result is unknown are in
    the result and do not raise.

    Args:
        client: A client with the bot's token.
        manifest: The path of one manifest, or a manifest as `commandsync.manifest` loads it.
        **options: All of them are optional:

            - `prune`: Whether to delete listed records that are not in the manifest, unless it
              contains `prune: false`.
            - `max_deletes`: The limit on deletes, a number, a percentage like `"30%"`, or `"all"`;
              by default the manifest's limit.
            - `only`: A pattern: only the changes whose old or new name or title matches are made.
            - `unordered`: Whether to send adds concurrently, in any order.
            - `dry_run`: Whether to write nothing, and return the plan, refused or not.
            - `on_settled`: Called with the outcomes of changes as they become final.

    Returns:
        The plan, the outcome of each change, and whether the listing was verified to match.

    Raises:
        ManifestError: The manifest is invalid.
        UsageError: An argument is not valid, the client has no token, or the bot is unknown.
        WrongBotError: The manifest, the client and its token are not for one bot.
        RefusedError: A text contains the token; as `TooManyDeletesError`, the plan deletes more
            than its limit allows.
        ListingError: The listing cannot be read.
    """
    arguments = _Arguments(**options)
    return _result(carry_out(_steps(client, manifest, arguments)), arguments)


async def run_async(
    client: "AsyncClient", manifest: str | PathLike[str] | Manifest, **options: Unpack[Options]
) -> Result:
    """Make a listing match a manifest, as `run` does, from an event loop.

    If the task is cancelled, the calls in flight are cancelled too: their results are unknown, and
    the next run finishes the work.
    """
    arguments = _Arguments(**options)
    return _result(await carry_out_async(_steps(client, manifest, arguments)), arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arguments:
    prune: bool = PRUNE.default
    max_deletes: int | str | None = None
    only: str = ONLY.default
    unordered: bool = UNORDERED.default
    dry_run: bool = DRY_RUN.default
    on_settled: Callable[[Sequence[Settled]], object] = lambda _: None

    def report(self, progress: Progress) -> None:
        """Report the outcomes that became final."""
        if isinstance(progress, ApplyProgress) and progress.step:
            self.on_settled(progress.step.settled)


def _steps(
    client: "Client | AsyncClient",
    manifest: str | PathLike[str] | Manifest,
    arguments: _Arguments,
) -> ApplySteps[Ending]:
    """Return the steps of an apply through the client's connection, which stays open."""
    try:
        known = arguments.max_deletes
        limit = None if known is None else parse_delete_limit(str(known))
    except ValueError as error:
        raise ArgumentError(f"max_deletes: {error}") from error
    settings = Settings(
        now=read_clock(),
        files=() if isinstance(manifest, Manifest) else (str(manifest),),
        prune=arguments.prune,
        max_deletes=limit,
        only=arguments.only,
        concurrency=client.connection.concurrency,
        on_progress=arguments.report,
    )

    def load_one() -> Sequence[Manifest]:
        manifests = [manifest] if isinstance(manifest, Manifest) else load(settings)
        if len(manifests) != 1:
            raise UsageError("a run applies one manifest", hint="pass the path of one file")
        return manifests

    def open_page(manifests: Sequence[Manifest]) -> nullcontext[list[RecordJob]]:
        site = _site(client, manifests[0])
        if site.token is None and not arguments.dry_run:
            raise UsageError("the client has no token", hint=Do.GIVE_TOKEN())
        # The connection may be of either kind: the driver that carries out the steps fits it.
        connection = cast("Connection", client.connection)
        return nullcontext([RecordJob(site, settings, connection, manifests[0])])

    return apply(
        load=load_one,
        connect=open_page,
        dry_run=arguments.dry_run,
        unordered=arguments.unordered,
    )


def _site(client: "Client | AsyncClient", manifest: Manifest) -> Site:
    """Return the listing of the client; raises as `run`."""
    if client.bot and manifest.bot and client.bot != manifest.bot:
        raise WrongBotError(
            f"the manifest is for bot {manifest.bot}, and the client for bot {client.bot}",
            hint="pass a client of the manifest's bot, or correct bot: in the manifest",
        )
    bot = client.bot or manifest.bot
    if not bot:
        message = "which bot? Neither the client nor the manifest contains a bot id"
        raise UsageError(message, hint=Do.GIVE_BOT())
    connection = client.connection
    return Site(
        connection.address, bot, connection.token, token_from="", service=connection.service
    )


def _result(ending: Ending, arguments: _Arguments) -> Result:
    """Return the result of an apply; raises why nothing was written, unless it is a dry run."""
    match ending:
        case AppliedPlans():
            (result,) = ending.results
            return result
        case CheckedPlans(planned=[item]) if arguments.dry_run and not isinstance(
            item, CommandsyncError
        ):
            return replace(skipped(item.plan, "this is a dry run"), interrupted=False)
        case CheckedPlans(errors=[CommandsyncError() as error]):
            raise error
        case _:
            raise AssertionError("nothing is asked, and a refusal is an error")
