"""The listings of a manifest that take a whole list: how each is planned and carried out.

A version of a manifest yields one request for a list. A plan compares two requests. A list that
is read is compared with the request that would send what is listed; any other one with the baseline
that its job has: the list of an earlier version, or those that a store remembers. A door with
another store passes its own `Memory`. The changes are the differences of the two lists; a notice
says what else differs. One request replaces the whole list.

A list that its service does not return is sent by each apply, whatever is remembered of it: no
memory proves that the service shows it. The store is told before the request, and after its end.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeAlias

from commandsync.api.operations import Operation
from commandsync.api.policy import Health
from commandsync.apply.outcomes import Aborted, Interrupted, Outcome, Result, Step, skipped
from commandsync.apply.run import Steps, not_sent, replace_list
from commandsync.client.connection import Connection
from commandsync.client.driver import start_reading
from commandsync.diagnostics import Notice
from commandsync.errors import CommandsyncError, RefusedError, UsageError
from commandsync.manifest import Manifest
from commandsync.plan.plan import (
    AsRead,
    Baseline,
    LastSent,
    ListPlan,
    Plan,
    PossibleList,
    Unknown,
    expected_listing,
    list_plan,
)
from commandsync.plan.rules import DeleteLimit
from commandsync.records.losses import Loss, loss_notice, renewed_notices
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import Resource
from commandsync.services.abilities import Support
from commandsync.services.fit import Fitted, as_listed
from commandsync.services.service import ListRequest, excess, list_request, of_operation
from commandsync.sync.history import head_of
from commandsync.sync.job import Job, Planned, RecordJob, connected, page_job, plan_manifest
from commandsync.sync.listcontent import (
    Before,
    Memory,
    OtherList,
    digest_of,
    fitted_list,
    is_reordered,
    last_sent,
    memory_of,
    notices_of,
    other_lists,
    read_others,
    renewed,
    with_own_keys,
)
from commandsync.sync.registrations import RegistrationJob
from commandsync.sync.setting import BASE_URL
from commandsync.sync.settings import LockProgress, Settings, Site
from commandsync.sync.sites import (
    DiscordSite,
    ListSite,
    check_names,
    check_tokens,
    discord_of,
    is_selected,
    list_sites,
    sites_of,
)
from commandsync.sync.statefile import INTERVAL, Delivery, End, Remembered, Store

_COMMANDS = Resource.COMMAND
_NOTHING = Snapshot({_COMMANDS: ()})
_UNUSED_BASE_URL = Notice(
    f"{BASE_URL.variable} is not used, because the manifest has listings and no base_url",
    "unset it, or add base_url: for a page with records of its own",
)


@contextmanager
def listing_jobs(
    settings: Settings, manifests: Sequence[Manifest], memory: Memory | None = None
) -> Iterator[list["ManifestJob"]]:
    """Find all listings of manifests, the page of each first, and open a connection to each.

    `memory` says what is known of the lists; by default an earlier version, or the state file.

    Raises:
        UsageError: The settings name a listing or a page that no manifest has, or as
            `check_tokens` and `list_sites`.
        CommandsyncError: As `sites_of` and `memory`, or the earlier version cannot be read.
    """
    if settings.guild and settings.listing:
        hint = "leave out the names of listings"
        raise UsageError("a server selects the listing discord alone", hint=hint)
    pages = _pages(settings, manifests)
    check_names(settings, manifests, [page for page in pages if page])
    found = [*_sites(settings, manifests, pages)]
    sites = [site for _, site in found]
    check_tokens(sites)
    known = memory or memory_of(settings, manifests)
    with connected(settings, sites) as connections:
        jobs = [
            _job(settings, manifest, site, connection, known)
            for (manifest, site), connection in zip(found, connections, strict=True)
        ]
        if settings.base_url and not any(pages) and not isinstance(jobs[0], RecordJob):
            jobs[0] = replace(jobs[0], notices=(_UNUSED_BASE_URL,))
        yield jobs


def _job(
    settings: Settings, manifest: Manifest, site: Site, connection: Connection, known: Memory
) -> "ManifestJob":
    match site:
        case ListSite():
            return list_job(settings, manifest, site, connection, known.before(manifest, site))
        case DiscordSite():
            version = None if site.token else known.version(manifest)
            return RegistrationJob(site, settings, connection, manifest, version)
        case _:
            return page_job(settings, manifest, site, connection, site.name)


def _pages(settings: Settings, manifests: Sequence[Manifest]) -> list[Site | None]:
    """Return the page of each manifest; None if it has no page."""
    with_page = [each for each in manifests if each.has_page and not settings.guild]
    if settings.base_url and settings.base_url_from != BASE_URL.variable and not with_page:
        message = "no manifest of the run has a page: the base URL is not used"
        raise UsageError(message, hint="add base_url: to the manifest, or leave it out here")
    if not any([settings.base_url, *(manifest.base_url for manifest in manifests)]):
        check_names(settings, manifests)  # else the base URL would be called missing
    pages = iter(sites_of(settings, with_page))
    return [next(pages) if manifest in with_page else None for manifest in manifests]


def _sites(
    settings: Settings, manifests: Sequence[Manifest], pages: Sequence[Site | None]
) -> Iterator[tuple[Manifest, Site]]:
    """Yield the selected listings of each manifest: its page, Discord, and its lists."""
    for manifest, page in zip(manifests, pages, strict=True):
        if page and is_selected(settings, page.name):
            yield manifest, page
        if discord := discord_of(settings, manifest):
            yield manifest, discord
        yield from ((manifest, site) for site in list_sites(settings, manifest))


@dataclass(frozen=True, slots=True, kw_only=True)
class ListJob(Job):
    """One listing of a manifest that takes a whole list."""

    site: ListSite
    manifest: Manifest
    fitted: Fitted  # the commands of the manifest, as the service shows them
    baseline: Baseline  # what they are compared with; the list itself if it is read
    store: Store | None = None  # what remembers a list that the service does not return
    others: tuple[OtherList, ...] = ()  # lists beside it that are only read
    notices: tuple[Notice, ...] = ()  # of the whole run: those of its first list

    @property
    def name(self) -> str:
        """The name of the listing among several."""
        return self.site.service.label

    @property
    def scope(self) -> Sequence[Resource]:
        """The collection of a list."""
        return (_COMMANDS,)

    @property
    def path(self) -> str:
        """The path of the manifest."""
        return self.manifest.path

    @property
    def identity(self) -> str:
        """The identity of the list, which no spelling changes."""
        return self.site.entry.identity(self.manifest.bot)

    @property
    def is_read(self) -> bool:
        """Whether the list is read: the service returns it, and there is a token to ask with."""
        return self.site.is_read

    def other_notices(self, planned: Planned) -> Sequence[Notice]:  # noqa: ARG002 - not its changes
        """Read the other lists of the service; return the warnings."""
        return read_others(self.connection, self.site.bot, self.others)

    def start_reading(self) -> Callable[[], Snapshot]:
        """Start to read the list; the returned function waits for it.

        For a list that is not read, that function returns its baseline.
        """
        if self.is_read:
            return start_reading(self.connection, self.site.bot, self.scope)
        first = self.baseline.first
        known = as_listed(first.commands) if first else _NOTHING
        return lambda: known

    def plan(self, listed: Snapshot) -> ListPlan:
        """Compare what the service can show of the manifest with a list."""
        shown, settings = self._ruled()
        notices = [*self.notices, *(self.site.token_notices() if self.site.returned else ())]
        notices += (loss_notice(loss, at=self.name) for loss in self._warned())
        plan = plan_manifest(shown, listed, settings=settings, site=self.site, notices=notices)
        wanted, baseline = self._wanted(plan, listed), self.baseline
        if isinstance(baseline, AsRead):
            baseline = AsRead((PossibleList(listed, self._request(listed).digest),))
        others = self._other_changes(baseline, wanted)
        return list_plan(
            replace(plan, notices=(*others, *plan.notices)),
            name=self.site.service.name,
            audience=self.site.service.audience,
            baseline=baseline,
            commands=wanted,
            digest=self._request(wanted).digest,
            losses=self.fitted.losses,
            wants_none=self.is_deleted or not self.manifest.snapshot.collections.get(_COMMANDS),
            excess=excess(self.site.service, self._replacing(wanted)),
            beside=[
                (each.name, plan_manifest(shown, as_listed(each.commands), settings=settings))
                for each in baseline.lists
                if each is not baseline.first
            ],
        )

    @property
    def is_deleted(self) -> bool:
        """Whether the manifest asks for its deletion; no limit counts that."""
        return self.site.entry.texts is None

    def _ruled(self) -> tuple[Manifest, Settings]:
        """Return the manifest as the list shows it, and the settings, with the rules that apply.

        The rules keep no command on a list that cannot be read, or is deleted.
        """
        settings = self.settings
        shown = replace(self.manifest, snapshot=self.fitted.snapshot, warnings=())
        if not self.is_read and settings.only:
            message = "does not return its list: it is replaced as a whole"
            hint = "select whole listings instead"
            raise UsageError(f"{self.site.service.name} {message}", hint=hint)
        if not self.is_read or self.is_deleted:
            shown = replace(shown, rules=replace(shown.rules, prune=True, ignore=()))
            settings = replace(settings, prune=True)
        if self.is_deleted:
            settings = replace(settings, max_deletes=DeleteLimit())
        return shown, settings

    def _warned(self) -> Iterator[Loss]:
        """Yield the losses to warn about, without the losses of an entry's first list."""
        entry, listings = self.site.entry, self.manifest.listings
        first = next(each for each in listings if each.location == entry.location)
        known = () if entry.first else fitted_list(self.settings, self.manifest, first).losses
        for loss in self.fitted.losses:
            if loss.field not in entry.lossy and loss not in known:
                yield loss

    def _request(self, commands: Snapshot) -> ListRequest:
        return list_request(self.site.service, self.site.bot, commands)

    def _other_changes(self, baseline: Baseline, wanted: Snapshot) -> Iterator[Notice]:
        """Yield the uncertainties, and the differences that no change of a text shows."""
        yield from notices_of(baseline, at=self.name)
        first = baseline.first
        if first is None:
            return
        before, now = first.commands.collections[_COMMANDS], wanted.collections[_COMMANDS]
        if first.has_texts and not self.is_read:
            yield from renewed_notices(renewed(before, now), at=self.name)
        if is_reordered(before, now):
            yield Notice(f"{self.name}: the order of the commands changed")
        if first.has_texts and self._request(first.commands).digest != first.digest:
            what = "its method, its address or its keys"
            yield Notice(f"{self.name}: the request is made in another way ({what})")

    def steps(
        self,
        planned: Planned,
        *,
        health: Health,  # noqa: ARG002 - one request has no health to watch
        unordered: bool = False,  # noqa: ARG002 - as above
    ) -> Steps[Result]:
        """Replace the list; a list that cannot be read back is remembered before and after that."""
        plan, service = _of_list(planned), self.site.service
        replacing = replace_list(
            plan,
            send=self.request(planned),
            before=planned.listed.collections[_COMMANDS],
            read=service.read(self.site.bot, _COMMANDS) if self.is_read else None,
            ordered=service.facts.order.value is Support.YES,
        )
        if self.store is None:
            return (yield from replacing)
        try:
            if self.store.is_busy(self.identity):
                self.settings.on_progress(LockProgress(self.site))
            while self.store.is_busy(self.identity):
                if isinstance((yield Step(wait=INTERVAL)), Interrupted | Aborted):
                    return skipped(plan, "interrupted")
            delivery = self.store.begin(self._delivery(plan), self._recheck)
        except CommandsyncError as error:  # other lists may have been sent: their results count
            return not_sent(plan, error)
        result = yield from replacing
        try:
            self.store.end(delivery, _ENDS.get(result.sent or Outcome.UNKNOWN, End.UNKNOWN))
        except CommandsyncError as error:
            hint = "run again: the next run takes the list as one that may have arrived"
            notices = (*result.notices, Notice(error.message, hint))
            return replace(result, unrecorded=result.touched, notices=notices)
        return result

    def _delivery(self, plan: ListPlan) -> Delivery:
        """Return the delivery of a list that is about to be sent."""
        return Delivery(
            service=self.site.service.name,
            identity=self.identity,
            token=digest_of(self.site, self.identity),
            digest=plan.digest,
            names=tuple(entry.name for entry in plan.commands),
            size=plan.size,
            commit=head_of(self.manifest.path),
            at=self.settings.now,
        )

    def _recheck(self, known: Remembered) -> RefusedError | None:
        """Return why the list must not be sent after all, by the memory now."""
        if not (self.store and isinstance(self.baseline, LastSent | Unknown)):
            return None  # the user names the list sent last
        baseline = last_sent(
            known,
            self.settings,
            self.manifest,
            self.site,
            is_shared=self.store.is_shared,
            accepted=isinstance(self.baseline, Unknown) and self.baseline.accepted,
        )
        job = replace(self, baseline=baseline)
        why = job.plan(job.start_reading()()).refusal
        return RefusedError(f"apply {why.message}", hint=why.hint) if why else None

    def request(self, planned: Planned) -> Operation[None]:
        """Return the request that replaces the list, without the token."""
        return self._replacing(Snapshot({_COMMANDS: _of_list(planned).commands}))

    def _replacing(self, wanted: Snapshot) -> Operation[None]:
        return self.site.service.replace(self.site.bot, wanted)

    def shown(self, planned: Planned) -> list[dict[str, object]]:
        """Return the request that replaces the list as keys of a JSON document: without a token."""
        operation = self.request(planned)
        request = of_operation(self.site.service, operation)
        return [
            {
                "listing": self.name,
                "method": request.method,
                "url": request.url,
                "authorization": self.site.service.authorization or None,
                "body": operation.body,
            }
        ]

    def _wanted(self, plan: Plan, listed: Snapshot) -> Snapshot:
        """Return the commands that are sent, with the listed ones that stay, if anything does."""
        kept = any(plan.rules.ignores(entry.name) for entry in listed.collections[_COMMANDS])
        if not (kept or plan.left_out or plan.unmanaged):
            wanted = self.fitted.snapshot
        else:
            expected = expected_listing(plan, listed)[_COMMANDS]
            wanted = Snapshot({_COMMANDS: tuple(map(Entry, expected))})
        return with_own_keys(wanted, listed, plan.changes) if self.site.returned else wanted


_ENDS = {
    Outcome.SENT: End.ACCEPTED,
    Outcome.FAILED: End.UNCHANGED,
    Outcome.SKIPPED: End.UNCHANGED,
}


def _of_list(planned: Planned) -> ListPlan:
    plan = planned.plan
    assert isinstance(plan, ListPlan)  # noqa: S101 - a list has no other plans
    return plan


def list_job(
    settings: Settings, manifest: Manifest, site: ListSite, connection: Connection, before: Before
) -> ListJob:
    """Return the job of a list, with the knowledge of it from before."""
    others = other_lists(manifest, site.entry, before.audiences) if site.is_read else ()
    return ListJob(
        site=site,
        settings=settings,
        connection=connection,
        manifest=manifest,
        fitted=fitted_list(settings, manifest, site.entry),
        baseline=before.baseline,
        store=before.store,
        others=others,
    )


ManifestJob: TypeAlias = RecordJob | RegistrationJob | ListJob
"""The job of a listing of a manifest; a saved plan has none."""
