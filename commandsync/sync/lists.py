"""The listings of a manifest that take a whole list: how each is planned and carried out."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from commandsync.api.operations import Operation
from commandsync.apply.outcomes import Result
from commandsync.apply.replacement import replace_list
from commandsync.apply.run import Steps
from commandsync.client.driver import start_reading
from commandsync.diagnostics import Problem
from commandsync.errors import ManifestError, UsageError
from commandsync.manifest import Manifest
from commandsync.plan.plan import THE_LIST, Plan, PlannedListing, expected_listing
from commandsync.records.losses import loss_notice, renewed_notices
from commandsync.records.snapshot import Entry, Phase, Snapshot
from commandsync.records.texts import Resource
from commandsync.services.abilities import Reads
from commandsync.services.fit import Fitted, as_listed, fit
from commandsync.services.service import ListService
from commandsync.sync.comparison import earlier_manifest
from commandsync.sync.destinations import (
    ListSite,
    check_tokens,
    is_selected,
    list_sites,
    unknown_listing,
)
from commandsync.sync.job import Job, Planned, connected, plan_manifest
from commandsync.sync.objects import with_objects
from commandsync.sync.settings import BASE_URL_VARIABLE, Settings, rules_of, sites_of, with_others
from commandsync.sync.site import Site

_COMMANDS = Resource.COMMAND
_NOTHING = Snapshot({_COMMANDS: ()})


@contextmanager
def listing_jobs(settings: Settings, manifests: Sequence[Manifest]) -> Iterator[list[Job]]:
    """Find all listings of manifests, the page of each first, and open a connection to each.

    Raises:
        UsageError: The settings name a listing or a page that no manifest has, or as
            `check_tokens` and `list_sites`.
        ManifestError: A manifest with lists does not manage commands.
        CommandsyncError: As `sites_of`, or the earlier manifest cannot be read.
    """
    manifests = [with_objects(manifest) for manifest in manifests]
    pages = _pages(settings, manifests)
    if error := unknown_listing(settings, manifests, pages.values()):
        raise error
    found: list[tuple[Manifest, Site]] = []
    for manifest in manifests:
        found += _sites(settings, manifest, pages.get(id(manifest)))
    sites = with_others([site for _, site in found])
    check_tokens(sites)
    earlier = _earlier(settings, manifests)
    with connected(settings, sites) as connections:
        yield [
            ListingJob(manifest, site, settings, connection, site.name, earlier.get(id(manifest)))
            if isinstance(site, ListSite)
            else Job(manifest, site, settings, connection, site.name)
            for (manifest, _), site, connection in zip(found, sites, connections, strict=True)
        ]


def _pages(settings: Settings, manifests: Sequence[Manifest]) -> dict[int, Site]:
    """Return the pages of those manifests that have one."""
    with_page = [manifest for manifest in manifests if manifest.has_page]
    if settings.base_url and settings.base_url_from != BASE_URL_VARIABLE and not with_page:
        message = "no manifest of the run has a page: the base URL is not used"
        raise UsageError(message, hint="add base_url: to the manifest, or leave it out here")
    return dict(zip(map(id, with_page), sites_of(settings, with_page), strict=True))


def _sites(
    settings: Settings, manifest: Manifest, page: Site | None
) -> Iterator[tuple[Manifest, Site]]:
    """Yield the selected listings of a manifest, its page first."""
    if page and is_selected(settings, page.name):
        yield manifest, page
    for site in list_sites(settings, manifest):
        if _COMMANDS not in manifest.snapshot.collections:
            message = f"the manifest has no commands: to send to {site.entry.service}"
            hint = "add commands:, or remove the listing"
            raise ManifestError([Problem(site.entry.location, message, hint)])
        yield manifest, site


def _earlier(settings: Settings, manifests: Sequence[Manifest]) -> dict[int, Manifest]:
    """Load the manifests that were sent last, where the settings name them."""
    some = [manifest for manifest in manifests if settings.since and manifest.listings]
    return {id(manifest): earlier_manifest(settings.since, manifest) for manifest in some}


@dataclass(frozen=True, slots=True)
class ListingJob(Job):
    """One listing of a manifest that takes a whole list."""

    site: ListSite
    sent: Manifest | None = None  # the manifest that was sent last; None if it is not known

    @property
    def earlier(self) -> Manifest | None:
        """The manifest that was sent last, if it had this listing."""
        return self.sent if self.sent and self.is_in(self.sent) else None

    @property
    def returned(self) -> bool:
        """Whether the service returns the list, to who has its token."""
        return self.site.service.facts.read.value is not Reads.NO

    @property
    def is_read(self) -> bool:
        """Whether the list is read: the service returns it, and there is a token to ask with."""
        return self.returned and self.site.token is not None

    def is_in(self, manifest: Manifest) -> bool:
        """Whether another version of the manifest has this listing, of the same bot."""
        if _COMMANDS not in manifest.snapshot.collections:
            return False
        own = self.site.entry.identity(self.manifest.bot)
        return any(each.identity(manifest.bot) == own for each in manifest.listings)

    def start_reading(self) -> Callable[[], Snapshot]:
        """Start to read the list; what is returned waits for it, or has what was sent last."""
        if self.is_read:
            return start_reading(self.connection, self.site.bot, (_COMMANDS,))
        earlier = self.earlier
        known = as_listed(self._fitted(earlier).snapshot) if earlier else _NOTHING
        return lambda: known

    def plan(self, listed: Snapshot) -> Plan:
        """Compare what the service can show of the manifest with a list."""
        sent, settings = self._fitted(self.manifest), self.settings
        warned = [loss for loss in sent.losses if loss.field not in self.site.entry.lossy]
        renewed = self._renewed(sent)
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
            compared_with=THE_LIST if self.is_read else self.settings.since * bool(self.earlier),
            size=len(self._wanted(plan, listed)),
            losses=sent.losses,
            unseen=self.settings.unseen,
            resend=self.settings.resend,
            renewed=renewed,
            wants_none=not self.manifest.snapshot.collections.get(_COMMANDS),
        )
        return replace(plan, listing=listing)

    def replacement(self, planned: Planned) -> Steps[Result]:
        """Return the steps that replace the list."""
        wanted = self._wanted(planned.plan, planned.listed)
        return replace_list(
            planned.plan,
            send=self.request(planned),
            wanted=wanted,
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

    def _fitted(self, manifest: Manifest) -> Fitted:
        return fitted(self.settings, manifest, self.site.service)

    def _renewed(self, wanted: Fitted) -> tuple[str, ...]:
        """Return the commands whose texts are as they were sent, and the rest of them is not."""
        if self.is_read or self.earlier is None:
            return ()
        sent = self._fitted(self.earlier).snapshot.collections[_COMMANDS]
        known = {entry.text: entry.own for entry in sent}
        entries = wanted.snapshot.collections[_COMMANDS]
        return tuple(each.name for each in entries if known.get(each.text, each.own) != each.own)

    def _wanted(self, plan: Plan, listed: Snapshot) -> tuple[Entry, ...]:
        """Return the commands that are sent: also what is listed and stays, if anything does."""
        sent = self._fitted(self.manifest).snapshot.collections[_COMMANDS]
        kept = any(plan.rules.ignores(entry.name) for entry in listed.collections[_COMMANDS])
        if not (kept or plan.left_out or plan.unmanaged):
            return sent
        return tuple(Entry(record.text) for record in expected_listing(plan, listed)[_COMMANDS])


def fitted(settings: Settings, manifest: Manifest, service: ListService) -> Fitted:
    """Return what a service can show of the commands of a manifest that are due."""
    rules, unprotected = rules_of(settings, manifest), []
    if rules.ignore:
        unprotected.append("ignore")
    if not rules.prune:
        unprotected.append("prune: false")
    commands = manifest.snapshot.collections.get(_COMMANDS, ())
    due = tuple(entry for entry in commands if entry.phase(settings.now) is Phase.DUE)
    due_list = Snapshot({_COMMANDS: due})
    return fit(service, due_list, unprotected=unprotected, objects=manifest.objects)
