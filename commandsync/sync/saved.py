"""A saved plan: read from its file, bound to its listing, and compared with it before use."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from time import monotonic

from commandsync.apply.resume import progress_of
from commandsync.apply.states import State
from commandsync.client.connection import Connection
from commandsync.client.driver import start_reading
from commandsync.diagnostics import Do, Notice
from commandsync.errors import FileError, StalePlanError, UsageError
from commandsync.plan.plan import Plan
from commandsync.records.snapshot import Snapshot
from commandsync.sync.files import read_file
from commandsync.sync.job import Planned, connected
from commandsync.sync.progress import FilesRead
from commandsync.sync.settings import Settings, site_of
from commandsync.sync.site import Site


@contextmanager
def saved_plan(settings: Settings, path: str, *, writes: bool) -> Iterator[Planned]:
    """Read a saved plan, and what is listed now; a run that writes needs this bot's token.

    Raises:
        FileError: The file cannot be read, or is not a saved plan.
        RefusedError: The plan is of another version, or for another listing than that of the flags.
        UsageError: A flag changes a setting that is saved in the plan.
        ListingError: The listing cannot be read.
    """
    from commandsync.document.saved import LARGEST_PLAN, load_plan  # noqa: PLC0415 - loads pydantic

    limited = settings.max_deletes is not None or not settings.prune
    if settings.files or limited or settings.only or settings.strict or settings.owned:
        message = (
            "a saved plan is applied as it is: it cannot be combined with a manifest or limits"
        )
        raise UsageError(message, hint=Do.KEEP_LIMITS())
    start = monotonic()
    try:
        text = read_file(path, most=LARGEST_PLAN).decode()
    except UnicodeDecodeError as error:
        message = f"{path} is not a saved plan: it is not text in UTF-8"
        raise FileError(message, hint=Do.MAKE_PLAN(then="")) from error
    plan = replace(load_plan(text, path), saved=True, applied=settings.now)
    settings.on_progress(FilesRead([path], plan, monotonic() - start))
    site = _site(settings, plan)
    if writes:
        site.check_token()
    with connected(settings, [site]) as (connection,):
        yield _planned(plan, site, connection)


def _planned(plan: Plan, site: Site, connection: Connection) -> Planned:
    """Read what is listed now, for a plan as it was saved; raises `ListingError`."""
    listed = start_reading(connection, site.bot, plan.scope)()
    again = partial(_planned, plan, site, connection)
    return Planned(site, connection, listed, _with_progress(plan, listed, site), again)


def _with_progress(plan: Plan, listed: Snapshot, site: Site) -> Plan:
    """Return the plan with notices about the token, and of the changes that are done already."""
    plan = replace(plan, notices=(*plan.notices, *site.warnings(plan.changes)))
    try:
        done = progress_of(plan, listed).count(State.DONE)
    except StalePlanError:
        return plan  # applying it is refused with this error
    if not done:
        return plan
    message = f"{done} of its {len(plan.changes)} changes are done already and are not made again"
    return replace(plan, notices=(*plan.notices, Notice(message)))


def _site(settings: Settings, plan: Plan) -> Site:
    """Return the plan's own listing; flags must not name another one."""
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
