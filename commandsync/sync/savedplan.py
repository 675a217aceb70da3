"""A saved plan: read from its file, and bound to its listing as that is now.

The plan is carried out as it was saved, by `apply`: it is checked again, compared with the listing,
and verified by its own changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING

from commandsync.diagnostics import Do, Location
from commandsync.errors import FileError, StalePlanError, UsageError
from commandsync.plan.plan import RecordPlan
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.sync.destinations import DiscordSite, discord_site, site_of
from commandsync.sync.files import read_file
from commandsync.sync.job import Job, Planned, connected, record_steps
from commandsync.sync.settings import FilesRead, Settings, Site

if TYPE_CHECKING:
    from commandsync.api.policy import Health
    from commandsync.apply.outcomes import Result
    from commandsync.apply.run import Steps


@contextmanager
def saved_jobs(settings: Settings, path: str) -> Iterator[list[Job]]:
    """Read a saved plan, and open a connection to its listing.

    Raises:
        FileError: The file cannot be read, or is not a saved plan.
        RefusedError: The plan is of another version, or for another listing than that of the flags.
        UsageError: A flag changes a setting that is saved in the plan.
    """
    limited = settings.max_deletes is not None or not settings.prune
    if settings.files or limited or settings.only or settings.strict or settings.owned:
        message = (
            "a saved plan is applied as it is: it cannot be combined with a manifest or limits"
        )
        raise UsageError(message, hint=Do.KEEP_LIMITS())
    start = monotonic()
    plan = replace(read_plan(path), saved=True, applied=settings.now)
    settings.on_progress(FilesRead([path], plan, monotonic() - start))
    site = _site(settings, plan)
    with connected(settings, [site]) as (connection,):
        yield [SavedJob(site, settings, connection, plan)]


def read_plan(path: str) -> RecordPlan:
    """Read a saved plan; raises `FileError` and `RefusedError` as `saved_jobs`."""
    from commandsync.document.saved import LARGEST_PLAN, load_plan  # noqa: PLC0415 - loads pydantic

    try:
        text = read_file(path, most=LARGEST_PLAN).decode()
    except UnicodeDecodeError as error:
        message = f"{path} is not a saved plan: it is not text in UTF-8"
        raise FileError(message, hint=Do.MAKE_PLAN(then="")) from error
    return load_plan(text, path)


@dataclass(frozen=True, slots=True)
class SavedJob(Job):
    """The listing of a saved plan, which is carried out as it is."""

    saved: RecordPlan

    @property
    def scope(self) -> Sequence[Resource]:
        """The collections of the plan."""
        return self.saved.scope

    @property
    def path(self) -> str:
        """The path of the manifest that the plan was made from; empty for none."""
        return next(iter(self.saved.manifest), "")

    def start_planning(self) -> Callable[[], Planned]:
        """Start to read the listing; the returned function waits for it, and returns the plan."""
        if isinstance(self.site, DiscordSite):
            from commandsync.sync.registrations import start_planning  # noqa: PLC0415 - seldom needed

            return start_planning(self)
        reading = self.start_reading()
        return lambda: self.planned(reading())

    def plan(self, listed: Snapshot) -> RecordPlan:  # noqa: ARG002 - it does not depend on that
        """Return the plan as it was saved, with notices about the token."""
        notices = self.site.warnings(self.saved.changes)
        return replace(self.saved, notices=(*self.saved.notices, *notices))

    def steps(self, planned: Planned, *, health: Health, unordered: bool = False) -> Steps[Result]:
        """Return the steps that carry out the plan; its own changes verify it."""
        return record_steps(planned, None, health=health, unordered=unordered)


def _site(settings: Settings, plan: RecordPlan) -> Site:
    """Return the plan's own listing; flags must not name another one."""
    if any(kind.exact for kind in plan.scope):
        return _at_discord(settings, plan)
    bound = replace(
        settings,
        base_url=settings.base_url or plan.target.base_url,
        bot=settings.bot or plan.target.bot,
    )
    site = site_of(bound, None)
    if (site.address.base_url, site.bot) != (plan.target.base_url, plan.target.bot):
        raise StalePlanError(
            f"the plan is for bot {plan.target.bot} at {plan.target.base_url}, "
            f"not for bot {site.bot} at {site.address}",
            hint=Do.KEEP_TARGET(),
        )
    return site


def _at_discord(settings: Settings, plan: RecordPlan) -> DiscordSite:
    """Return the application of a plan; only the environment decides which hosts get the token."""
    from commandsync.manifest.registrations import DiscordListing  # noqa: PLC0415 - loads yaml
    from commandsync.services.discord import ORIGIN  # noqa: PLC0415 - seldom needed

    target = plan.target
    base_url = "" if target.base_url == ORIGIN else target.base_url
    listing = DiscordListing(
        guild=target.guild, base_url=base_url, bot=target.bot, location=Location("")
    )
    if settings.guild not in {"", target.guild}:
        where = f"the server {target.guild}" if target.guild else "the global commands"
        message = f"the plan is for {where}, not for the server {settings.guild}"
        raise StalePlanError(message, hint=Do.KEEP_TARGET())
    return discord_site(settings, None, listing)
