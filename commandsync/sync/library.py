"""`run` and `run_async`: apply a manifest through a client of the library."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypedDict, Unpack, cast

from commandsync import AsyncClient, Client
from commandsync.api.policy import Health
from commandsync.apply.check import refusal_of
from commandsync.apply.outcomes import Outcome, Result, Settled, skipped
from commandsync.apply.run import Steps
from commandsync.client.driver import drive, drive_async, read_async
from commandsync.diagnostics import Do
from commandsync.errors import ArgumentError, UsageError, WrongBotError
from commandsync.manifest import Manifest
from commandsync.plan.rules import parse_delete_limit
from commandsync.records.snapshot import Snapshot
from commandsync.sync.job import RecordJob
from commandsync.sync.setting import DRY_RUN, ONLY, PRUNE, UNORDERED
from commandsync.sync.settings import Settings, Site, load_files, read_clock

if TYPE_CHECKING:
    from commandsync.client.connection import Connection

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
    client: Client, manifest: str | PathLike[str] | Manifest, **options: Unpack[Options]
) -> Result:
    """Make a listing match a manifest, as `commandsync apply` does.

    The client's connection is used and stays open; its service is the one that is changed, and its
    retries, time-outs and token are those of the run. Signals are left to the caller, and nothing
    is printed. Changes that failed or whose result is unknown are in the result and do not raise.

    Args:
        client: A client with the bot's token.
        manifest: The path of one manifest, or a manifest as `commandsync.manifest` loads it.
        **options: All of them are optional:

            - `prune`: Whether to delete what the manifest does not have, unless it contains
              `prune: false`.
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
    arguments, health = _Arguments(**options), Health()
    job = _job(client, _loaded(manifest), arguments)
    return drive(
        _steps(job, job.start_reading()(), health, arguments),
        client.connection,
        health=health,
        events=SimpleQueue(),
        on_step=lambda step: arguments.on_settled(step.settled),
    )


async def run_async(
    client: AsyncClient, manifest: str | PathLike[str] | Manifest, **options: Unpack[Options]
) -> Result:
    """Make a listing match a manifest, as `run` does, from an event loop.

    If the task is cancelled, the calls in flight are cancelled too: their results are unknown, and
    the next run finishes the work.
    """
    arguments, health = _Arguments(**options), Health()
    job = _job(client, await asyncio.to_thread(_loaded, manifest), arguments)
    listed = await read_async(client.connection, job.site.bot, job.scope)
    return await drive_async(
        _steps(job, listed, health, arguments),
        client.connection,
        health=health,
        events=asyncio.Queue(),
        on_step=lambda step: arguments.on_settled(step.settled),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arguments:
    prune: bool = PRUNE.default
    max_deletes: int | str | None = None
    only: str = ONLY.default
    unordered: bool = UNORDERED.default
    dry_run: bool = DRY_RUN.default
    on_settled: Callable[[Sequence[Settled]], object] = lambda _: None


def _steps(
    job: RecordJob, listed: Snapshot, health: Health, arguments: _Arguments
) -> Steps[Result]:
    planned = job.planned(listed)
    if arguments.dry_run:
        return replace(skipped(planned.plan, "this is a dry run"), interrupted=False)
    if refused := refusal_of(planned.plan, listed=listed, token=job.site.token):
        raise refused
    return (yield from job.steps(planned, health=health, unordered=arguments.unordered))


def _loaded(manifest: str | PathLike[str] | Manifest) -> Manifest:
    if isinstance(manifest, Manifest):
        return manifest
    manifests = load_files([str(manifest)])
    if len(manifests) != 1:
        raise UsageError("a run applies one manifest", hint="pass the path of one file")
    return manifests[0]


def _job(client: Client | AsyncClient, manifest: Manifest, known: _Arguments) -> RecordJob:
    connection = client.connection
    if client.bot and manifest.bot and client.bot != manifest.bot:
        raise WrongBotError(
            f"the manifest is for bot {manifest.bot}, and the client for bot {client.bot}",
            hint="pass a client of the manifest's bot, or correct bot: in the manifest",
        )
    bot = client.bot or manifest.bot
    if not bot:
        message = "which bot? Neither the client nor the manifest contains a bot id"
        raise UsageError(message, hint=Do.GIVE_BOT())
    site = Site(
        connection.address, bot, connection.token, token_from="", service=connection.service
    )
    if not known.dry_run:
        if connection.token is None:
            raise UsageError("the client has no token", hint=Do.GIVE_TOKEN())
        site.check_token()
    try:
        limit = None if known.max_deletes is None else parse_delete_limit(str(known.max_deletes))
    except ValueError as error:
        raise ArgumentError(f"max_deletes: {error}") from error
    settings = Settings(
        now=read_clock(),
        prune=known.prune,
        max_deletes=limit,
        only=known.only,
        concurrency=connection.concurrency,
    )
    # Its steps send nothing themselves: the client's connection, of either kind, is driven above.
    return RecordJob(site, settings, cast("Connection", connection), manifest)
