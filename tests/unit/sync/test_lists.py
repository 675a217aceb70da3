"""A plan of a whole list compares two requests: each drawn pair of versions shows it."""

import json
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from commandsync.api.arguments import parse_address
from commandsync.api.credentials import Token
from commandsync.manifest import Manifest, load_manifests
from commandsync.plan.plan import Baseline, LastSent, OfVersion, Unknown
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.services.service import list_request
from commandsync.sync.earlier import EarlierVersion
from commandsync.sync.job import Planned
from commandsync.sync.listcontent import KnownList, fitted_list, list_of
from commandsync.sync.lists import ListJob
from commandsync.sync.settings import Settings, read_clock
from commandsync.sync.sites import ListSite

NAMES = [f"c{number}" for number in range(8)]
FIELDS = st.sampled_from(
    [
        {"name": "name"},
        {"name": "name", "description": "description"},
        {"title": "name", "description": "description"},
        {"name": "name", "description": "description", "usage": "syntax"},
    ]
)
COMMANDS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(["Does it.", "Does more."])),
    unique_by=lambda command: command[0],
    min_size=1,
)
REQUIRED: dict[str, st.SearchStrategy[Any]] = {"commands": COMMANDS, "fields": FIELDS}
OPTIONAL: dict[str, st.SearchStrategy[Any]] = {
    "wrap": st.sampled_from(["commands", "list"]),
    "limits": st.fixed_dictionaries({"commands": st.integers(1, 8)}),
    "method": st.sampled_from(["POST", "PUT"]),
    "url": st.sampled_from(
        ["https://LIST.example:443/a/b", "https://list.example/x/..//a/%62", "//"]
    ),
    "bot": st.just("42"),
}
VERSIONS = st.fixed_dictionaries(REQUIRED, optional=OPTIONAL)


def manifest_of(version: dict[str, Any]) -> Manifest:
    url = version.get("url", "//")
    own: dict[str, Any] = {
        "method": version.get("method", "POST"),
        "url": "https://list.example/a/b" if url == "//" else url,
        "authorization": "{token}",
        "fields": version["fields"],
        **{key: version[key] for key in ("wrap", "limits") if key in version},
    }
    entry = {"service": "ours", "token_env": "COMMANDSYNC_TOKEN_OURS", "replace": own}
    entry |= {key: version[key] for key in ("bot",) if key in version}
    commands = [
        {"name": name, "description": text, "syntax": f"/{name}"}
        for name, text in version["commands"]
    ]
    document = {"version": 1, "sync": {"max_deletes": "all"}, "commands": commands}
    content = json.dumps(document | {"listings": [entry]}).encode()
    (manifest,) = load_manifests(["m.yaml"], stdin=bytes, contents={"m.yaml": content})
    return manifest


def job_of(manifest: Manifest, baseline: Baseline | None = None) -> ListJob:
    (entry,) = manifest.listings
    service = entry.list_service
    address = parse_address(service.origin, version=None)
    site = ListSite(address, "", Token("secret-token"), "", service=service, entry=entry)
    settings = Settings(now=read_clock(), state=None)
    connection: Any = None
    return ListJob(
        site=site,
        settings=settings,
        connection=connection,
        manifest=manifest,
        fitted=fitted_list(settings, manifest, entry),
        known=KnownList(baseline or Unknown()),
    )


def planned(now: dict[str, Any], before: dict[str, Any]) -> tuple[Planned, ListJob]:
    alone = job_of(manifest_of(now))
    earlier = list_of(alone.settings, EarlierVersion("before", manifest_of(before)), alone.identity)
    assert earlier
    job = job_of(alone.manifest, OfVersion((earlier,), name="before"))
    return job.planned(job.start_reading()()), job


def request_of(version: dict[str, Any]) -> tuple[str, str]:
    """Return the method and the body; all the URLs are spellings of one."""
    job = job_of(manifest_of(version))
    request = list_request(job.site.service, "", job.fitted.snapshot)
    return request.method, request.body


@given(now=VERSIONS, before=VERSIONS)
def test_equal_requests_mean_no_changes(now: dict[str, Any], before: dict[str, Any]) -> None:
    (_, _, plan), _ = planned(now, before)

    assert plan.known
    assert plan.writes
    assert plan.pending == (request_of(now) != request_of(before))
    assert plan.pending or not plan.changes


@given(now=VERSIONS, before=VERSIONS)
def test_a_command_not_sent_is_deleted(now: dict[str, Any], before: dict[str, Any]) -> None:
    (_, _, plan), _ = planned(now, before)
    sent, was = (
        [name for name, _ in version["commands"]][: version.get("limits", {}).get("commands", 8)]
        for version in (now, before)
    )

    assert plan.count("delete") == len(set(was) - set(sent))
    assert plan.count("add") == len(set(sent) - set(was))
    assert Counter(change.name for change in plan.changes if change.action == "delete") == Counter(
        set(was) - set(sent)
    )


@given(version=VERSIONS, entry=VERSIONS)
def test_a_lists_identity_has_no_spelling(version: dict[str, Any], entry: dict[str, Any]) -> None:
    one, other = (job_of(manifest_of(each)) for each in (version, {**version, **entry}))

    assert one.identity == other.identity


def test_an_entry_of_another_address_or_token_is_another_list() -> None:
    version = {"commands": [("c1", "Does it.")], "fields": {"name": "name"}}
    own = job_of(manifest_of(version))
    moved = job_of(manifest_of({**version, "url": "https://list.example/a/c"}))

    assert own.identity != moved.identity
    assert list_of(own.settings, EarlierVersion("before", moved.manifest), own.identity) is None
    assert own.start_reading()() == Snapshot({Resource.COMMAND: ()})


def test_a_list_that_cannot_be_read_is_always_sent_and_pending_if_another_may_be_shown() -> None:
    version = {"commands": [("c1", "Does it."), ("c2", "Does it.")], "fields": {"name": "name"}}
    alone = job_of(manifest_of(version))
    same = list_of(alone.settings, EarlierVersion("before", alone.manifest), alone.identity)
    assert same
    other = same._replace(digest="another")
    for others, pending in (
        ((), False),
        ((same,), False),
        ((other,), True),
        ((other._replace(is_elsewhere=True),), False),
    ):
        job = job_of(alone.manifest, LastSent((same, *others), name="before"))
        plan = job.plan(job.start_reading()())

        assert plan.known
        assert plan.writes
        assert plan.pending is pending
        assert not plan.changes


def test_a_list_that_was_never_sent_is_unknown() -> None:
    job = job_of(manifest_of({"commands": [("c1", "Does it.")], "fields": {"name": "name"}}))

    assert job.known.baseline == Unknown()
    assert not job.plan(job.start_reading()()).known
