"""The listings of a run, and their plans: the page of each manifest, or all that they name."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from commandsync.errors import CommandsyncError
from commandsync.manifest import Manifest
from commandsync.sync.job import Job, Planned, connected
from commandsync.sync.settings import Settings, about, sites_of


@contextmanager
def jobs(settings: Settings, manifests: Sequence[Manifest]) -> Iterator[list[Job]]:
    """Find the listings of each manifest, and open a connection to each.

    Raises `CommandsyncError` as `sites_of`, or as `listing_jobs` for manifests with `listings:`.
    """
    if settings.listing or any(manifest.listings for manifest in manifests):
        from commandsync.sync.lists import listing_jobs  # noqa: PLC0415 - seldom needed

        with listing_jobs(settings, manifests) as opened:
            yield opened
        return
    sites = sites_of(settings, manifests)
    with connected(settings, sites) as connections:
        parts = zip(manifests, sites, connections, strict=True)
        yield [Job(manifest, site, settings, connection) for manifest, site, connection in parts]


def plan_jobs(
    opened: Sequence[Job], *, meanwhile: Callable[[], object] = lambda: None
) -> list[Planned | CommandsyncError]:
    """Read all listings at the same time and plan each; an error takes the place of its plan.

    `meanwhile` loads what is needed afterwards: while the answers travel, as what plans does.
    """
    readings = [job.start_reading() for job in opened]
    import commandsync.plan.plan  # noqa: PLC0415 - while the answers travel
    import commandsync.records.models  # noqa: F401, PLC0415 - as above, and loads pydantic

    meanwhile()
    planned: list[Planned | CommandsyncError] = []
    for job, reading in zip(opened, readings, strict=True):
        try:
            planned.append(job.planned(reading()))
        except CommandsyncError as error:
            path = job.manifest.path
            named = about(error, f"{path}: {job.name}" if job.name else path, of=len(opened))
            planned.append(named.having(listing=job.name))
    return planned
