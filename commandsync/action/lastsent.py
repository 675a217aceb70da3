"""What is known of lists before a run of the Action: the base branch's, or what was sent last.

What was sent to a list that its service does not return is in the deployments of the repository, or
in the file that COMMANDSYNC_STATE names. Nothing else decides on it: so it counts through forced
pushes, tags and runs that are started again. A proposal is compared with it as an apply is. A list
that is returned with a token only is compared with the base branch where there is no token.

An unknown list is replaced unseen only if the merged change adds the listing to
the manifest, or the run is for `apply: current`.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from commandsync.action.branch import MOST_COMMITS, Branch
from commandsync.action.deployments import Deployments
from commandsync.action.inputs import Mode
from commandsync.errors import CommandsyncError, RefusedError
from commandsync.manifest import Manifest
from commandsync.plan.baseline import Unknown
from commandsync.records.snapshot import Audience
from commandsync.sync.baselines import of_version, stored
from commandsync.sync.earlier import EarlierVersion, version_at
from commandsync.sync.history import first_parents, versions_since
from commandsync.sync.listcontent import Before, Memory, audiences_of, nothing_known
from commandsync.sync.settings import Settings
from commandsync.sync.sites import ListSite
from commandsync.sync.statefile import StateFile, Store

_MOST_COMMITS = 10 * MOST_COMMITS


def memory_of(
    settings: Settings,
    branch: Branch,
    bases: Mapping[str, EarlierVersion],
    *,
    current: bool,
    mode: Mode,
) -> Memory:
    """Return what is known of each list before the run.

    `bases` are the manifests of the base branch of a proposal, by its own paths. `current` is for
    a run of a manifest that nobody reviewed, which may not be in git. A check for drift compares
    only lists that are read, and a plan does not fail where the store cannot be read.
    """
    event = branch.event
    store: Store = Deployments(branch.github, event.repository, event.sha, event.run_url)
    if settings.state:
        store = StateFile(settings.state)

    def before(manifest: Manifest, site: ListSite) -> Before:
        unknown = nothing_known(settings, site)
        if site.is_read:
            return Before(unknown, _audiences(manifest, site, branch, bases))
        if mode == "drift":
            return Before(unknown)
        if site.returned:
            base = bases.get(manifest.path)
            return Before((base and of_version(settings, base, manifest, site)) or unknown)
        known = stored(store, settings, manifest, site)
        if isinstance(known.baseline, Unknown) and known.baseline.error and mode == "plan":
            return Before(replace(known.baseline, accepted=True))
        if isinstance(known.baseline, Unknown) and _is_new(manifest, site, branch, current=current):
            return stored(store, settings, manifest, site, accepted=True)
        return known

    return Memory(before, lambda manifest: bases.get(manifest.path))


def _audiences(
    manifest: Manifest, site: ListSite, branch: Branch, bases: Mapping[str, EarlierVersion]
) -> tuple[Audience, ...]:
    """Return the audiences of the lists that the manifest had before, of a service with several."""
    if not site.service.for_audience:
        return ()
    before = branch.event.before
    with suppress(CommandsyncError):  # only a warning depends on it
        version = bases.get(manifest.path) or (
            version_at(before, manifest.path) if before else None
        )
        return audiences_of(version, site.entry, manifest.bot) if version else ()
    return ()


def _is_new(manifest: Manifest, site: ListSite, branch: Branch, *, current: bool) -> bool:
    """Whether a list is a new one of the manifest, which may be replaced unseen.

    It is not if the history cannot be read.
    """
    if current:
        return True
    try:
        commits = first_parents(manifest.path, most=_MOST_COMMITS)
        before = branch.event.before
        start = commits.index(before) if before in commits else None
        versions = versions_since(manifest.path, commits, start or 0)
        earlier = islice(versions, start is None, None)
        return not any(_is_in(version, manifest, site) for _, version in earlier)
    except RefusedError:
        return False


def _is_in(version: EarlierVersion | None, manifest: Manifest, site: ListSite) -> bool:
    """Whether an earlier version has a list at an address that is no other one of today's."""
    if version is None:
        return False
    bot, own, then = manifest.bot, site.entry, version.manifest
    others = {each.identity(bot) for each in manifest.listings} - {own.identity(bot)}
    return any(
        each.address(then.bot) == own.address(bot) and each.identity(then.bot) not in others
        for each in then.listings
    )
