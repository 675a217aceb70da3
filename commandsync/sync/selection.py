"""The listings of a run and their plans: selected, one manifest against another, or a saved plan.

`jobs` finds the selected listings of the manifests: the page of each, its commands at Discord, and
its lists. It opens a connection to each, and makes the job that plans and writes it. `plan_jobs`
reads all of them at the same time, and plans each as its answer arrives; an error takes the place
of a plan. `plan_against` needs no network: it plans as if another manifest were the listing.

`saved_jobs` reads a saved plan from its file and binds it to its listing. The plan is carried out
as it was saved, by `apply`: it is checked again, compared with the listing, and verified by its own
changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, TypeAlias

from commandsync.diagnostics import Do, Location, Notice
from commandsync.errors import CommandsyncError, FileError, StalePlanError, UsageError
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import Resource
from commandsync.services.service import PAGE
from commandsync.sync import sites
from commandsync.sync.files import read_file
from commandsync.sync.job import Job, Planned, RecordJob, connected, plan_manifest
from commandsync.sync.setting import BASE_URL
from commandsync.sync.settings import (
    FilesRead,
    Settings,
    Site,
    about,
    check_notices,
    check_stdin,
    load_files,
)

if TYPE_CHECKING:
    from commandsync.client.connection import Connection
    from commandsync.manifest import Manifest
    from commandsync.plan.plan import Plan, RecordPlan
    from commandsync.sync.listcontent import Memory
    from commandsync.sync.lists import ListJob
    from commandsync.sync.registrations import RegistrationJob

    # The job of a listing of a manifest; a saved plan has none.
    ManifestJob: TypeAlias = RecordJob | RegistrationJob | ListJob

_UNUSED_BASE_URL = Notice(
    f"{BASE_URL.variable} is not used, because the manifest has listings and no base_url",
    "unset it, or add base_url: for a page with records of its own",
)


@contextmanager
def jobs(
    settings: Settings, manifests: Sequence[Manifest], memory: Memory | None = None
) -> Iterator[list[ManifestJob]]:
    """Find the listings of each manifest, the page first, and open a connection to each.

    `memory` is the knowledge of lists; by default an earlier version, or the state file.

    Raises:
        UsageError: The settings name a listing or a page that no manifest has, or as
            `check_tokens` and `list_sites`.
        CommandsyncError: As `sites_of` and `memory`, or the earlier version cannot be read.
    """
    has_listings = any(manifest.listings or manifest.discord for manifest in manifests)
    if has_listings or settings.listing or settings.guild:
        from commandsync.sync.listcontent import memory_of  # noqa: PLC0415 - seldom needed

        found = _sites(settings, manifests)
        memory = memory or memory_of(settings, manifests)
    else:
        found = list(zip(manifests, sites.sites_of(settings, manifests), strict=True))
        memory = None
    with connected(settings, [site for _, site in found]) as connections:
        opened = [
            _job(settings, manifest, site, connection, memory)
            for (manifest, site), connection in zip(found, connections, strict=True)
        ]
        if settings.base_url and not (
            _with_page(settings, manifests) or isinstance(opened[0], RecordJob)
        ):
            opened[0] = replace(opened[0], notices=(_UNUSED_BASE_URL,))
        yield opened


def _with_page(settings: Settings, manifests: Sequence[Manifest]) -> list[Manifest]:
    """Return the manifests whose page the run may select; a server selects Discord alone."""
    return [] if settings.guild else [manifest for manifest in manifests if manifest.has_page]


def _sites(settings: Settings, manifests: Sequence[Manifest]) -> list[tuple[Manifest, Site]]:
    """Return the selected listings of each manifest: its page, Discord, and its lists."""
    with_page = _with_page(settings, manifests)
    _check_selection(settings, manifests, with_page)
    paths = [manifest.path for manifest in with_page]
    pages = dict(zip(paths, sites.sites_of(settings, with_page), strict=True))
    sites.check_names(settings, manifests, pages.values())
    found: list[tuple[Manifest, Site]] = []
    for manifest in manifests:
        page = pages.get(manifest.path)
        if page and sites.is_selected(settings, page.name):
            found.append((manifest, page))
        if discord := sites.discord_of(settings, manifest):
            found.append((manifest, discord))
        found += ((manifest, site) for site in sites.list_sites(settings, manifest))
    sites.check_tokens([site for _, site in found])
    return found


def _check_selection(
    settings: Settings, manifests: Sequence[Manifest], with_page: Sequence[Manifest]
) -> None:
    """Raise `UsageError` for settings that exclude each other, or that no manifest can use."""
    if settings.guild and settings.listing:
        hint = "leave out the names of listings"
        raise UsageError("a server selects the listing discord alone", hint=hint)
    if settings.base_url and settings.base_url_from != BASE_URL.variable and not with_page:
        message = "no manifest of the run has a page: the base URL is not used"
        raise UsageError(message, hint="add base_url: to the manifest, or leave it out here")
    if not any([settings.base_url, *(manifest.base_url for manifest in manifests)]):
        sites.check_names(settings, manifests)  # else the base URL would be called missing


def _job(
    settings: Settings,
    manifest: Manifest,
    site: Site,
    connection: Connection,
    memory: Memory | None,
) -> ManifestJob:
    """Return the job of a listing; without a memory, a page is the only listing."""
    if memory and isinstance(site, sites.ListSite):
        from commandsync.sync.listcontent import fitted_list  # noqa: PLC0415 - seldom needed
        from commandsync.sync.lists import ListJob  # noqa: PLC0415 - as above

        fitted, known = fitted_list(settings, manifest, site.entry), memory.known(manifest, site)
        return ListJob(
            site=site,
            settings=settings,
            connection=connection,
            manifest=manifest,
            fitted=fitted,
            known=known,
        )
    if memory and isinstance(site, sites.DiscordSite):
        from commandsync.sync.registrations import RegistrationJob  # noqa: PLC0415 - as above

        version = None if site.token else memory.versions.get(manifest.path)
        return RegistrationJob(site, settings, connection, manifest, version)
    versions = None
    if settings.owned and site.service is PAGE:
        from commandsync.sync.history import History, on_page  # noqa: PLC0415 - as above

        versions = History(manifest, on_page(manifest, site.bot, site.address.base_url))
    name = site.name if memory else ""
    return RecordJob(site, settings, connection, manifest, name, versions)


def plan_jobs(
    opened: Sequence[Job],
    plannings: Sequence[Callable[[], Planned]] | None = None,
    *,
    meanwhile: Callable[[], object] = lambda: None,
) -> list[Planned | CommandsyncError]:
    """Plan each listing as its reading ends; an error takes the place of its plan.

    `plannings` are the jobs' functions that wait for that, as `Job.start_planning` returns them;
    without them, all listings are read at the same time. `meanwhile` loads modules that are needed
    afterwards: while the answers travel, as the planning modules do.
    """
    if plannings is None:
        plannings = [job.start_planning() for job in opened]
    import commandsync.plan.plan  # noqa: F401, PLC0415 - while the answers travel

    meanwhile()
    planned: list[Planned | CommandsyncError] = []
    for job, planning in zip(opened, plannings, strict=True):
        try:
            item = planning()
            notices = (*item.plan.notices, *item.job.other_notices(item))
            planned.append(item._replace(plan=replace(item.plan, notices=notices)))
        except CommandsyncError as error:
            at = f"{job.path}: {job.name}" if job.name else job.path
            named = about(error, at, of=len(opened))
            planned.append(named.having(listing=job.name) if job.name else named)
    return planned


def plan_against(settings: Settings, manifests: Sequence[Manifest], other: str) -> RecordPlan:
    """Plan as if the due entries of another manifest were the listing.

    Raises `ManifestError` if the other one is invalid, and `UsageError` if there is more than one
    manifest on a side, or both are standard input.
    """
    from commandsync.plan.matching import pinned_by_both  # noqa: PLC0415 - no other plan needs it

    check_stdin([other, *settings.files])
    listed = load_files([other])
    if len(manifests) != 1 or len(listed) != 1:
        raise UsageError("a comparison needs one manifest on each side")
    (manifest,), due = manifests, listed[0].snapshot.due(settings.now)
    desired: dict[Resource, tuple[Entry, ...]] = {}
    as_listed: dict[Resource, tuple[Entry, ...]] = {}
    for resource, wanted in manifest.snapshot.collections.items():
        # A collection that the other one does not manage is empty.
        others = due.collections.get(resource, ())
        desired[resource] = pinned_by_both(wanted, others)
        as_listed[resource] = tuple(  # an id is the pin, or the location
            Entry(entry.text, id=entry.id or str(entry.location)) for entry in others
        )
    notices = [Notice(f"this is compared with {other}, and not with the listing")]
    desired_manifest = replace(manifest, snapshot=Snapshot(desired))
    plan = plan_manifest(desired_manifest, Snapshot(as_listed), settings=settings, notices=notices)
    check_notices(plan.notices, settings)
    return plan


def plans_in(planned: Sequence[Planned | CommandsyncError]) -> list[Plan | CommandsyncError]:
    """Return the plans, and the errors in place of plans."""
    return [item.plan if isinstance(item, Planned) else item for item in planned]


def split(
    plans: Sequence[Plan | CommandsyncError],
) -> tuple[tuple[Plan, ...], tuple[CommandsyncError, ...]]:
    """Return the plans, and apart from them the errors."""
    errors = tuple(plan for plan in plans if isinstance(plan, CommandsyncError))
    return tuple(plan for plan in plans if not isinstance(plan, CommandsyncError)), errors


@contextmanager
def saved_jobs(settings: Settings, path: str) -> Iterator[list[Job]]:
    """Read a saved plan, and open a connection to its listing.

    Raises:
        FileError: The file cannot be read, or is not a saved plan.
        RefusedError: The plan is of another version, or for another listing than the flags name.
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
    site = _saved_site(settings, plan)
    with connected(settings, [site]) as (connection,):
        yield [SavedJob(site, settings, connection, plan)]


def read_plan(path: str) -> RecordPlan:
    """Read a saved plan; raises `FileError` and `RefusedError` as `saved_jobs`."""
    from commandsync.document.plan import LARGEST_PLAN, load_plan  # noqa: PLC0415 - loads pydantic

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
        if isinstance(self.site, sites.DiscordSite):
            from commandsync.sync import registrations  # noqa: PLC0415 - seldom needed

            return registrations.start_planning_discord(self)
        return Job.start_planning(self)

    def plan(self, listed: Snapshot) -> RecordPlan:  # noqa: ARG002 - it does not depend on that
        """Return the plan as it was saved, with notices about the token."""
        notices = self.site.warnings(self.saved.changes)
        return replace(self.saved, notices=(*self.saved.notices, *notices))


def _saved_site(settings: Settings, plan: RecordPlan) -> Site:
    """Return the plan's own listing; flags must not name another one."""
    if any(kind.exact for kind in plan.scope):
        from commandsync.manifest.reader import DiscordListing  # noqa: PLC0415 - loads yaml
        from commandsync.services.discord import ORIGIN  # noqa: PLC0415 - seldom needed

        # A plan is data: only the environment decides which hosts get the token.
        target = plan.target
        base_url = "" if target.base_url == ORIGIN else target.base_url
        listing = DiscordListing(
            guild=target.guild, base_url=base_url, bot=target.bot, location=Location("")
        )
        if settings.guild not in {"", target.guild}:
            where = f"the server {target.guild}" if target.guild else "the global commands"
            message = f"the plan is for {where}, not for the server {settings.guild}"
            raise StalePlanError(message, hint=Do.KEEP_TARGET())
        return sites.discord_site(settings, None, listing)
    bound = replace(
        settings,
        base_url=settings.base_url or plan.target.base_url,
        bot=settings.bot or plan.target.bot,
    )
    site = sites.site_of(bound, None)
    if (site.address.base_url, site.bot) != (plan.target.base_url, plan.target.bot):
        raise StalePlanError(
            f"the plan is for bot {plan.target.bot} at {plan.target.base_url}, "
            f"not for bot {site.bot} at {site.address}",
            hint=Do.KEEP_TARGET(),
        )
    return site
