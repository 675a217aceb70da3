"""The listings of a manifest that take a whole list: how each is planned and carried out.

`listing_jobs` finds the listings of manifests, and fits the manifest into each service once. A list
that is read is compared with what the service returns; any other one with the list of an earlier
version of the manifest, if one is known. The plan shows what is different in the fitted lists, and
one request replaces the whole list.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Self

from commandsync.api.operations import Operation
from commandsync.api.policy import Health
from commandsync.apply.outcomes import Result
from commandsync.apply.replacement import replace_list
from commandsync.apply.run import Steps
from commandsync.client.connection import Connection
from commandsync.client.driver import start_reading
from commandsync.diagnostics import Problem
from commandsync.errors import ManifestError, UsageError
from commandsync.manifest import Manifest
from commandsync.plan.changes import object_changes
from commandsync.plan.plan import THE_LIST, Plan, PlannedListing, expected_listing
from commandsync.records.losses import loss_notice, renewed_notices
from commandsync.records.snapshot import Entry, Phase, Snapshot
from commandsync.records.texts import Resource
from commandsync.services.abilities import Reads
from commandsync.services.fit import Fitted, as_listed, fit
from commandsync.services.service import ListService
from commandsync.sync.destinations import (
    ListSite,
    check_tokens,
    is_selected,
    list_sites,
    sites_of,
    unknown_listing,
)
from commandsync.sync.earlier import EarlierVersion, earlier_version
from commandsync.sync.job import ManifestJob, Planned, connected, page_job, plan_manifest
from commandsync.sync.objects import with_objects
from commandsync.sync.settings import BASE_URL_VARIABLE, Settings, Site, rules_of

_COMMANDS = Resource.COMMAND
_NOTHING = Snapshot({_COMMANDS: ()})


@contextmanager
def listing_jobs(settings: Settings, manifests: Sequence[Manifest]) -> Iterator[list[ManifestJob]]:
    """Find all listings of manifests, the page of each first, and open a connection to each.

    Raises:
        UsageError: The settings name a listing or a page that no manifest has, or as
            `check_tokens` and `list_sites`.
        ManifestError: A manifest with lists does not manage commands.
        CommandsyncError: As `sites_of`, or the earlier version cannot be read.
    """
    manifests = [with_objects(manifest) for manifest in manifests]
    pages = _pages(settings, manifests)
    if error := unknown_listing(settings, manifests, [page for page in pages if page]):
        raise error
    found = [
        (manifest, site)
        for manifest, page in zip(manifests, pages, strict=True)
        for site in _sites(settings, manifest, page)
    ]
    sites = [site for _, site in found]
    check_tokens(sites)
    named = [bool(settings.since and manifest.listings) for manifest in manifests]
    earlier = {
        manifest.path: earlier_version(settings.since, manifest)
        for manifest, is_named in zip(manifests, named, strict=True)
        if is_named
    }
    with connected(settings, sites) as connections:
        yield [
            ListJob.of(settings, manifest, site, connection).beside(earlier.get(manifest.path))
            if isinstance(site, ListSite)
            else page_job(settings, manifest, site, connection, site.name)
            for (manifest, _), site, connection in zip(found, sites, connections, strict=True)
        ]


def _pages(settings: Settings, manifests: Sequence[Manifest]) -> list[Site | None]:
    """Return the page of each manifest; None for one that has no page."""
    with_page = [manifest for manifest in manifests if manifest.has_page]
    if settings.base_url and settings.base_url_from != BASE_URL_VARIABLE and not with_page:
        message = "no manifest of the run has a page: the base URL is not used"
        raise UsageError(message, hint="add base_url: to the manifest, or leave it out here")
    pages = iter(sites_of(settings, with_page))
    return [next(pages) if manifest.has_page else None for manifest in manifests]


def _sites(settings: Settings, manifest: Manifest, page: Site | None) -> Iterator[Site]:
    """Yield the selected listings of a manifest, its page first."""
    if page and is_selected(settings, page.name):
        yield page
    for site in list_sites(settings, manifest):
        if _COMMANDS not in manifest.snapshot.collections:
            message = f"the manifest has no commands: to send to {site.entry.service}"
            hint = "add commands:, or remove the listing"
            raise ManifestError([Problem(site.entry.location, message, hint)])
        yield site


@dataclass(frozen=True, slots=True, kw_only=True)
class ListJob(ManifestJob):
    """One listing of a manifest that takes a whole list."""

    site: ListSite
    fitted: Fitted  # the manifest as the service can show it
    # The list of an earlier version, which was sent last, and its name; None if none is known.
    earlier: Fitted | None = None
    since: str = ""

    @classmethod
    def of(
        cls, settings: Settings, manifest: Manifest, site: ListSite, connection: Connection
    ) -> Self:
        """Return the job of a listing, of which nothing earlier is known yet."""
        fitted = fitted_list(settings, manifest, site.service)
        return cls(
            site=site,
            settings=settings,
            connection=connection,
            manifest=manifest,
            name=site.name,
            fitted=fitted,
        )

    def beside(self, version: EarlierVersion | None, *, resend: bool = False) -> Self:
        """Return this job with an earlier version of the manifest, if that had this listing.

        With `resend` the list is sent even if it has no changes.
        """
        job = replace(self, settings=replace(self.settings, resend=True)) if resend else self
        if version is None or not self.is_in(version):
            return job
        earlier = fitted_list(self.settings, version.manifest, self.site.service)
        return replace(job, earlier=earlier, since=version.name)

    @property
    def returned(self) -> bool:
        """Whether the service returns the list to the holder of its token."""
        return self.site.service.facts.read.value is not Reads.NO

    @property
    def is_read(self) -> bool:
        """Whether the list is read: the service returns it, and there is a token to ask with."""
        return self.returned and self.site.token is not None

    def is_in(self, version: EarlierVersion) -> bool:
        """Whether an earlier version of the manifest has this listing, of the same bot."""
        manifest = version.manifest
        if _COMMANDS not in manifest.snapshot.collections:
            return False
        own = self.site.entry.identity(self.manifest.bot)
        return any(each.identity(manifest.bot) == own for each in manifest.listings)

    def start_reading(self) -> Callable[[], Snapshot]:
        """Start to read the list; what is returned waits for it.

        Of a list that is not read, it returns the list of the earlier version.
        """
        if self.is_read:
            return start_reading(self.connection, self.site.bot, (_COMMANDS,))
        known = as_listed(self.earlier.snapshot) if self.earlier else _NOTHING
        return lambda: known

    def plan(self, listed: Snapshot) -> Plan:
        """Compare what the service can show of the manifest with a list."""
        sent, settings = self.fitted, self.settings
        warned = [loss for loss in sent.losses if loss.field not in self.site.entry.lossy]
        renewed = self._renewed()
        notices = [loss_notice(loss, at=self.name) for loss in warned]
        notices += renewed_notices(renewed, at=self.name)
        shown = replace(self.manifest, snapshot=sent.snapshot, warnings=())
        if not self.is_read:
            if settings.only:
                message = "does not return its list: it is replaced as a whole"
                hint = "leave out the selection for this listing"
                raise UsageError(f"{self.site.service.name} {message}", hint=hint)
            # What the rules keep on a list is not kept where that cannot be read.
            shown = replace(shown, rules=replace(shown.rules, prune=True, ignore=()))
            settings = replace(settings, prune=True)
        plan = plan_manifest(shown, listed, settings=settings, site=self.site, notices=notices)
        listing = PlannedListing(
            name=self.site.service.name,
            whole=True,
            readable=self.is_read,
            returned=self.returned,
            compared_with=THE_LIST if self.is_read else self.since,
            size=len(self._wanted(plan, listed)),
            losses=sent.losses,
            unseen=self.settings.unseen,
            resend=self.settings.resend,
            renewed=tuple(renewed),
            wants_none=not self.manifest.snapshot.collections.get(_COMMANDS),
        )
        return replace(plan, listing=listing)

    def steps(
        self,
        planned: Planned,
        *,
        health: Health,  # noqa: ARG002 - one request has no health to watch
        unordered: bool = False,  # noqa: ARG002 - as above
    ) -> Steps[Result]:
        """Return the steps that replace the list."""
        return replace_list(
            planned.plan,
            send=self.request(planned),
            wanted=self._wanted(planned.plan, planned.listed),
            before=planned.listed.collections[_COMMANDS],
            read=self.site.service.read(self.site.bot, _COMMANDS) if self.is_read else None,
        )

    def request(self, planned: Planned) -> Operation[None]:
        """Return the request that replaces the list, without the token."""
        wanted = self._wanted(planned.plan, planned.listed)
        return self.site.service.replace(self.site.bot, Snapshot({_COMMANDS: wanted}))

    def shown(self, planned: Planned) -> dict[str, object]:
        """Return the request that replaces the list as keys of a JSON document: without a token."""
        operation = self.request(planned)
        return {
            "listing": self.name,
            "method": operation.method,
            "url": self.site.address.api + operation.path,  # which may have `{token}`
            "authorization": self.site.service.authorization or None,
            "body": operation.body,
        }

    def _renewed(self) -> dict[str, tuple[str, ...]]:
        """Return what differs in the commands whose texts are as they were sent, by their names."""
        if self.is_read or self.earlier is None:
            return {}
        known = {entry.text: entry.own for entry in self.earlier.snapshot.collections[_COMMANDS]}
        entries = self.fitted.snapshot.collections[_COMMANDS]
        return {
            entry.name: object_changes(before, entry.own)
            for entry in entries
            if (before := known.get(entry.text, entry.own)) != entry.own
        }

    def _wanted(self, plan: Plan, listed: Snapshot) -> tuple[Entry, ...]:
        """Return the commands that are sent, with the listed ones that stay, if anything does."""
        kept = any(plan.rules.ignores(entry.name) for entry in listed.collections[_COMMANDS])
        if not (kept or plan.left_out or plan.unmanaged):
            return self.fitted.snapshot.collections[_COMMANDS]
        return tuple(Entry(record.text) for record in expected_listing(plan, listed)[_COMMANDS])


def fitted_list(settings: Settings, manifest: Manifest, service: ListService) -> Fitted:
    """Fit the commands of a manifest that are due into a service."""
    rules, unprotected = rules_of(settings, manifest), []
    if rules.ignore:
        unprotected.append("ignore")
    if not rules.prune:
        unprotected.append("prune: false")
    commands = manifest.snapshot.collections.get(_COMMANDS, ())
    due = tuple(entry for entry in commands if entry.phase(settings.now) is Phase.DUE)
    due_list = Snapshot({_COMMANDS: due})
    return fit(service, due_list, unprotected=unprotected, objects=manifest.objects)
