"""A listing of a manifest that takes a whole list: how it is planned and carried out.

A version of a manifest yields one request for a list. A plan compares two requests. A list that
is read is compared with the request that would send the listed commands; any other list with the
baseline that its job knows: the list of an earlier version, or the lists that a store remembers.
The changes are the differences of the two lists; notices name other differences. One request
replaces the whole list.

A list that its service does not return is sent by each apply, whatever is remembered of it: no
memory proves that the service shows it. The store is told before the request, and after its end.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from commandsync.api.operations import Operation
from commandsync.api.policy import Health
from commandsync.apply.outcomes import Aborted, Interrupted, Outcome, Result, Step, skipped
from commandsync.apply.run import Steps, not_sent, replace_list
from commandsync.client.driver import start_reading
from commandsync.diagnostics import Notice
from commandsync.errors import CommandsyncError, RefusedError, UsageError
from commandsync.manifest import Manifest
from commandsync.plan.changes import Edit
from commandsync.plan.plan import (
    AsRead,
    LastSent,
    ListPlan,
    Plan,
    PossibleList,
    Unknown,
    expected_listing,
    list_plan,
)
from commandsync.plan.rules import DeleteLimit
from commandsync.records.losses import Loss, loss_notice
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import Resource
from commandsync.services.abilities import Support
from commandsync.services.fit import Fitted, as_listed
from commandsync.services.service import excess, list_request, of_operation
from commandsync.sync import listcontent
from commandsync.sync.history import head_of
from commandsync.sync.job import Job, Planned, plan_manifest
from commandsync.sync.settings import LockProgress, Settings
from commandsync.sync.sites import ListSite
from commandsync.sync.statefile import INTERVAL, Delivery, End, Remembered

_COMMANDS = Resource.COMMAND
_NOTHING = Snapshot({_COMMANDS: ()})
_ENDS = {
    Outcome.SENT: End.ACCEPTED,
    Outcome.FAILED: End.UNCHANGED,
    Outcome.SKIPPED: End.UNCHANGED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListJob(Job):
    """One listing of a manifest that takes a whole list."""

    site: ListSite
    manifest: Manifest
    fitted: Fitted  # the commands of the manifest, as the service shows them
    known: listcontent.KnownList  # their baseline, and the store that remembers it
    notices: tuple[Notice, ...] = ()  # of the whole run; its first list has them

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
    def is_read(self) -> bool:
        """Whether the list is read: the service returns it, and there is a token to ask with."""
        return self.site.is_read

    def start_reading(self) -> Callable[[], Snapshot]:
        """Start to read the list; the returned function waits for it.

        For a list that is not read, that function returns its baseline.
        """
        if self.is_read:
            return start_reading(self.connection, self.site.bot, self.scope)
        first = self.known.baseline.first
        listed = as_listed(first.commands) if first else _NOTHING
        return lambda: listed

    def plan(self, listed: Snapshot) -> ListPlan:
        """Compare what the service can show of the manifest with a list."""
        site, service = self.site, self.site.service
        manifest, settings = self._ruled()
        notices = [*self._warnings()]
        plan = plan_manifest(manifest, listed, settings=settings, site=site, notices=notices)
        wanted, baseline = self._wanted(plan, listed), self.known.baseline
        if isinstance(baseline, AsRead):
            digest = list_request(service, site.bot, listed).digest
            baseline = AsRead((PossibleList(listed, digest),))
        beside = [*listcontent.uncertainties(baseline, at=self.name)]
        if baseline.first:
            beside += listcontent.unseen_differences(baseline.first, wanted, site)
        return list_plan(
            replace(plan, notices=(*beside, *plan.notices)),
            name=service.name,
            audience=service.audience,
            baseline=baseline,
            commands=wanted,
            digest=list_request(service, site.bot, wanted).digest,
            losses=self.fitted.losses,
            wants_none=self.is_deleted or not self.manifest.snapshot.collections.get(_COMMANDS),
            excess=excess(service, service.replace(site.bot, wanted)),
            beside=[
                (each.name, plan_manifest(manifest, as_listed(each.commands), settings=settings))
                for each in baseline.lists
                if each is not baseline.first
            ],
        )

    def _warnings(self) -> Iterator[Notice]:
        """Yield the warnings of the run, of the token, and of the losses."""
        yield from self.notices
        if self.site.returned:
            yield from self.site.token_notices()
        entry, warned = self.site.entry, tuple[Loss, ...]()
        if not entry.first:  # the warnings of the first list are not repeated for the others
            first = next(each for each in self.manifest.listings if each.location == entry.location)
            warned = listcontent.fitted_list(self.settings, self.manifest, first).losses
        for loss in self.fitted.losses:
            if loss.field not in entry.lossy and loss not in warned:
                yield loss_notice(loss, at=self.name)

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

    def _wanted(self, plan: Plan, listed: Snapshot) -> Snapshot:
        """Return the commands that are sent, with the listed ones that stay, if anything does."""
        wanted, before = self.fitted.snapshot, listed.collections[_COMMANDS]
        kept = any(plan.rules.ignores(entry.name) for entry in before)
        if kept or plan.left_out or plan.unmanaged:
            expected = expected_listing(plan, listed)[_COMMANDS]
            wanted = Snapshot({_COMMANDS: tuple(map(Entry, expected))})
        if not self.site.returned:
            return wanted
        # A command that stays keeps the keys of others beside ours that it was listed with.
        own = {entry.id: entry.own for entry in before}
        staying = {entry.text: entry.own for entry in before}
        staying |= {edit.after: own[edit.id] for edit in plan.changes if isinstance(edit, Edit)}
        entries = (replace(x, own=staying.get(x.text, ())) for x in wanted.collections[_COMMANDS])
        return Snapshot({_COMMANDS: tuple(entries)})

    def other_notices(self, planned: Planned) -> Sequence[Notice]:  # noqa: ARG002 - not its changes
        """Read the other lists of the service; return the warnings."""
        return listcontent.read_others(self.connection, self.site.bot, self.known.others)

    def steps(
        self,
        planned: Planned,
        *,
        health: Health,  # noqa: ARG002 - one request has no health to watch
        unordered: bool = False,  # noqa: ARG002 - as above
    ) -> Steps[Result]:
        """Replace the list; a list that cannot be read back is remembered before and after that."""
        plan, service, store = _of_list(planned), self.site.service, self.known.store
        replacing = replace_list(
            plan,
            send=self.request(planned),
            before=planned.listed.collections[_COMMANDS],
            read=service.read(self.site.bot, _COMMANDS) if self.is_read else None,
            ordered=service.facts.order.value is Support.YES,
        )
        if store is None:
            return (yield from replacing)
        try:
            if store.is_busy(self.identity):
                self.settings.on_progress(LockProgress(self.site))
            while store.is_busy(self.identity):
                if isinstance((yield Step(wait=INTERVAL)), Interrupted | Aborted):
                    return skipped(plan, "interrupted")
            delivery = store.begin(self.delivery(plan), self._recheck)
        except CommandsyncError as error:  # other lists may have been sent: their results count
            return not_sent(plan, error)
        result = yield from replacing
        try:
            store.end(delivery, _ENDS.get(result.sent or Outcome.UNKNOWN, End.UNKNOWN))
        except CommandsyncError as error:
            hint = "run again: the next run takes the list as one that may have arrived"
            notices = (*result.notices, Notice(error.message, hint))
            return replace(result, unrecorded=result.touched, notices=notices)
        return result

    def delivery(self, plan: ListPlan) -> Delivery:
        """Return the delivery of a list that is about to be sent."""
        return Delivery(
            service=self.site.service.name,
            identity=self.identity,
            token=listcontent.digest_of(self.site),
            digest=plan.digest,
            names=tuple(entry.name for entry in plan.commands),
            size=plan.size,
            commit=head_of(self.manifest.path),
            at=self.settings.now,
        )

    def _recheck(self, remembered: Remembered) -> RefusedError | None:
        """Return why the list must not be sent after all, by the deliveries in the store now."""
        known = self.known
        if not (known.store and isinstance(known.baseline, LastSent | Unknown)):
            return None  # the user names the list sent last
        accepted = isinstance(known.baseline, Unknown) and known.baseline.accepted
        baseline = listcontent.last_sent(
            remembered, known.store, self.settings, self.manifest, self.site, accepted=accepted
        )
        job = replace(self, known=known._replace(baseline=baseline))
        why = job.plan(job.start_reading()()).refusal
        return RefusedError(f"apply {why.message}", hint=why.hint) if why else None

    def request(self, planned: Planned) -> Operation[None]:
        """Return the request that replaces the list, without the token."""
        commands = Snapshot({_COMMANDS: _of_list(planned).commands})
        return self.site.service.replace(self.site.bot, commands)

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


def _of_list(planned: Planned) -> ListPlan:
    plan = planned.plan
    assert isinstance(plan, ListPlan)  # noqa: S101 - a list has no other plans
    return plan
