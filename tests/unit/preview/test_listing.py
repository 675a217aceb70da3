from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from queue import SimpleQueue
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync.api.address import parse_address
from commandsync.api.credentials import Token
from commandsync.api.policy import Health
from commandsync.apply.run import apply
from commandsync.client.connection import Connection
from commandsync.client.driver import SnapshotReading, drive
from commandsync.manifest import Manifest
from commandsync.plan.expected import expected_listing
from commandsync.plan.rules import DeleteLimit, SyncRules
from commandsync.preview.baseline import Baseline
from commandsync.preview.listing import PreviewListing
from commandsync.preview.overlay import overlay_of
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import Resource
from commandsync.server import preview_service
from commandsync.sync.job import plan_of
from commandsync.sync.progress import ApplyProgress
from commandsync.sync.settings import Settings
from tests.support.runs import announcement, command
from tests.support.schedules import post, set_clock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commandsync.preview.listing import PreviewState
    from commandsync.records.texts import Text
    from commandsync.server import PreviewService
    from commandsync.sync.progress import Progress

BOT = "779641401482805289"
UNREAD = "no listing was read: everything is shown as new"
SETTINGS = Settings(bot=BOT)

NAMES = st.sampled_from(["afk", "Afk", "ban", "help", "off"])
WORDS = st.sampled_from(["Does it.", "Does it well.", "Nothing."])
COMMANDS = st.builds(command, NAMES, WORDS, WORDS)
POSTS = st.builds(announcement, NAMES, WORDS)
RULES = st.builds(
    SyncRules,
    prune=st.booleans(),
    ignore=st.sampled_from([(), ("a*",)]),
    max_deletes=st.just(DeleteLimit()),
    announcements=st.sampled_from(["append", "mirror"]),
)


def listed(commands: Sequence[Text], posts: Sequence[Text] = ()) -> Snapshot:
    """Return a listing with odd ids here and there: with a slash, and empty."""
    odd = {1: "a/b", 3: ""}
    return Snapshot(
        {
            Resource.COMMAND: tuple(
                Entry(text, odd.get(n, f"c{n}"), uses=10 * n) for n, text in enumerate(commands)
            ),
            Resource.ANNOUNCEMENT: tuple(Entry(text, f"a{n}") for n, text in enumerate(posts)),
        }
    )


@st.composite
def manifests(draw: st.DrawFn) -> Manifest:
    """Draw manifests of one or both collections, some with pins and former names."""
    pins = st.sampled_from(["", "", "c0", "c2", "gone"])
    commands = draw(st.lists(COMMANDS, max_size=6, unique=True))
    entries = tuple(Entry(text, draw(pins)) for text in commands)
    pinned = [entry.id for entry in entries if entry.id]
    if len(set(pinned)) < len(pinned):  # which is not a valid manifest
        entries = tuple(Entry(entry.text) for entry in entries)
    collections = {Resource.COMMAND: entries}
    if draw(st.booleans()):
        posts = draw(st.lists(POSTS, max_size=3))
        collections[Resource.ANNOUNCEMENT] = tuple(map(Entry, posts))
    return Manifest("commands.yaml", snapshot=Snapshot(collections), rules=draw(RULES))


def manifest(*commands: Text, posts: Sequence[Text] = ()) -> Manifest:
    entries = {
        Resource.COMMAND: tuple(map(Entry, commands)),
        Resource.ANNOUNCEMENT: tuple(map(Entry, posts)),
    }
    return Manifest("commands.yaml", snapshot=Snapshot(entries))


@pytest.fixture(scope="module")
def service() -> Iterator[PreviewService]:
    with preview_service(BOT, {}, name="Lantern") as running:
        yield running


def shown(service: PreviewService) -> dict[Resource, list[Entry]]:
    """Read what the service of a preview lists."""
    with Connection(parse_address(service.url), None) as connection:
        snapshot = SnapshotReading(connection, service.bot, tuple(Resource)).result()
    return {resource: list(entries) for resource, entries in snapshot.collections.items()}


def rows(entries: Sequence[Entry], known: Snapshot) -> list[tuple[str, Text, int]]:
    """Return what must be equal of records: the id as well where it was listed before."""
    ids = {entry.id for group in known.collections.values() for entry in group}
    return [(e.id if e.id in ids else "", e.text, e.uses or 0) for e in entries]


def expected_rows(
    state: PreviewState, here: Snapshot
) -> dict[Resource, list[tuple[str, Text, int]]]:
    return {
        resource: [
            ("", record.text, 0)
            if record.position is None
            else _row(here.collections[resource][record.position], record.text)
            for record in records
        ]
        for resource, records in expected_listing(state.plan, here).items()
    }


def _row(entry: Entry, text: Text) -> tuple[str, Text, int]:
    plain = entry.id.isalnum()  # any other id is replaced, so that it can be part of a path
    return entry.id if plain else "", text, entry.uses or 0


def check(state: PreviewState, here: Snapshot, service: PreviewService) -> None:
    """Check that a preview shows what the plan says, and marks what the plan changes."""
    now = shown(service)
    assert {kind: rows(entries, here) for kind, entries in now.items()} == expected_rows(
        state, here
    )
    for resource, entries in now.items():
        texts = {entry.id: entry.text for entry in entries}
        marked = sorted(
            (change.action, texts[id_], texts[id_] == getattr(change, "after", None))
            for id_, change in state.changes[resource].items()
        )
        changes = [c for c in state.plan.changes if c.resource is resource]
        assert marked == sorted((c.action, c.after, True) for c in changes if c.action != "delete")
    assert [notice.message for notice in state.notices] == [UNREAD]


@settings(max_examples=5)
@given(
    commands=st.lists(COMMANDS, max_size=6),
    posts=st.lists(POSTS, max_size=3),
    saves=st.lists(manifests(), min_size=1, max_size=4),
    flags=st.builds(
        Settings, bot=st.just(BOT), prune=st.booleans(), only=st.sampled_from(["", "a*", "*n*"])
    ),
)
def test_after_each_save_the_service_shows_what_an_apply_of_this_manifest_alone_leaves(
    commands: list[Text],
    posts: list[Text],
    saves: list[Manifest],
    flags: Settings,
    service: PreviewService,
) -> None:
    here = listed(commands, posts)
    preview = PreviewListing(Baseline(None, BOT, "Lantern", listed=here), flags, service)
    for wanted in saves:
        state = preview.bring_to(wanted)
        check(state, here, service)
        assert state.plan == plan_of(wanted, here, settings=flags)
    preview.close()


@settings(max_examples=5)
@given(
    commands=st.lists(COMMANDS, max_size=6),
    posts=st.lists(POSTS, max_size=3),
    wanted=manifests(),
)
def test_what_is_expected_is_what_the_plan_leaves_when_it_is_applied(
    commands: list[Text], posts: list[Text], wanted: Manifest, service: PreviewService
) -> None:
    here = Snapshot(
        {
            resource: tuple(
                Entry(e.text, f"{resource[0]}{n}", uses=e.uses) for n, e in enumerate(some)
            )
            for resource, some in listed(commands, posts).collections.items()
        }
    )
    PreviewListing(Baseline(None, BOT, "Lantern", listed=here), SETTINGS, service).close()
    plan, health = plan_of(wanted, here, settings=SETTINGS), Health()
    address, token = parse_address(service.url), Token(service.token)
    with Connection(address, token) as connection:
        drive(
            apply(plan, listed=here, health=health),
            connection,
            health=health,
            events=SimpleQueue(),
            on_step=lambda _: None,
        )

    now = shown(service)

    for resource, records in expected_listing(plan, here).items():
        assert [entry.text for entry in now[resource]] == [record.text for record in records]
        kept = [here.collections[resource][r.position] for r in records if r.position is not None]
        ids, uses = [entry.id for entry in kept], [entry.uses for entry in kept]
        assert [entry.id for entry in now[resource][: len(kept)]] == ids
        if resource is Resource.COMMAND:
            assert [entry.uses for entry in now[resource][: len(kept)]] == uses


def test_what_is_new_between_new_ones_is_shown_there_and_the_others_keep_their_ids(
    service: PreviewService,
) -> None:
    baseline = Baseline(None, BOT, "Lantern")
    with closing(PreviewListing(baseline, SETTINGS, service)) as preview:
        preview.bring_to(manifest(command("a"), command("c")))
        first = {entry.name: entry.id for entry in shown(service)[Resource.COMMAND]}
        preview.bring_to(manifest(command("a"), command("b"), command("c")))
    entries = shown(service)[Resource.COMMAND]

    assert [entry.name for entry in entries] == ["a", "b", "c"]
    assert {entry.name: entry.id for entry in entries if entry.name != "b"} == first


def test_what_was_deleted_by_a_save_comes_back_with_its_id_and_its_uses(
    service: PreviewService,
) -> None:
    here = listed([command("a"), command("b"), command("c")])
    with closing(
        PreviewListing(Baseline(None, BOT, "", listed=here), SETTINGS, service)
    ) as preview:
        preview.bring_to(manifest(command("a")))
        preview.bring_to(manifest(command("c"), command("a")))

    assert rows(shown(service)[Resource.COMMAND], here) == [
        ("c0", command("a"), 0),
        ("c2", command("c"), 20),
    ]


def test_another_bot_in_the_manifest_is_told_until_it_is_the_first_one_again(
    service: PreviewService,
) -> None:
    one = manifest(command("a"))
    with closing(PreviewListing(Baseline(None, BOT, "Lantern"), SETTINGS, service)) as preview:
        numbers = [len(preview.bring_to(replace(one, bot=bot)).notices) for bot in ("", "4", "")]
        again = preview.bring_to(replace(one, base_url="https://other.example")).notices

    assert numbers == [1, 2, 1]
    assert "this is still the listing from before" in again[1].message


def test_an_apply_that_takes_a_moment_is_reported_while_it_lasts(
    service: PreviewService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commandsync.preview.listing._MANY", 3)
    reported: list[Progress] = []
    noisy = Settings(bot=BOT, on_progress=reported.append)
    with closing(PreviewListing(Baseline(None, BOT, "Lantern"), noisy, service)) as preview:
        preview.bring_to(manifest(command("a"), command("b"), command("c")))
        first = [each.step for each in reported if isinstance(each, ApplyProgress)]
        reported.clear()
        preview.bring_to(manifest(command("a"), command("b")))

    assert first[-1] is None
    assert sum(len(step.settled) for step in first if step) == 3
    assert reported == []


def test_what_the_service_does_not_take_is_said_and_the_rest_is_shown(
    service: PreviewService,
) -> None:
    here = listed([command("help"), command("gone")])
    large = command("large", "x" * 1_100_000)
    preview = PreviewListing(Baseline(None, BOT, "Lantern", listed=here), SETTINGS, service)
    state = preview.bring_to(manifest(command("help", "Helps."), large, command("small")))

    assert [entry.name for entry in shown(service)[Resource.COMMAND]][:1] == ["help"]
    assert state.plan.count("add") == 2
    assert sorted(c.name for c in state.changes[Resource.COMMAND].values()) == ["help", "small"]
    (_, refused) = state.notices
    assert refused.message.startswith('"large" is not shown as it would be: ')
    assert preview.bring_to(manifest(command("help"), command("gone"))).plan.changes == ()
    preview.close()


def test_each_save_shows_what_is_due_then_and_says_what_waits(
    service: PreviewService, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = (post("v1", until=2), post("v2", publish=2))
    rules = SyncRules(announcements="mirror")
    wanted = Manifest(
        "commands.yaml", snapshot=Snapshot({Resource.ANNOUNCEMENT: entries}), rules=rules
    )
    pages: list[list[str]] = []
    notices: list[tuple[str, ...]] = []
    baseline = Baseline(None, BOT, "Lantern", listed=listed([]))
    with closing(PreviewListing(baseline, SETTINGS, service)) as preview:
        for number in (1, 2):
            set_clock(monkeypatch, number)
            state = preview.bring_to(wanted)
            pages.append([entry.name for entry in shown(service)[Resource.ANNOUNCEMENT]])
            notices.append(overlay_of(state).notices)

    waits = '1 announcement waits: "v2" from 2026-12-02 18:00 UTC.'
    due = '1 announcement is due: "v1" until 2026-12-02 18:00 UTC.'
    with closing(
        PreviewListing(replace(baseline, listed=listed([], [entries[0].text])), SETTINGS, service)
    ) as preview:
        ended = overlay_of(preview.bring_to(wanted)).notices

    assert ended[-1] == (
        'The announcement "v1" is deleted: its until, 2026-12-02 18:00 UTC, has passed.'
    )
    assert pages == [["v1"], ["v2"]]
    assert notices == [
        (UNREAD, waits, due),
        (UNREAD, '1 announcement is due: "v2" since 2026-12-02 18:00 UTC.'),
    ]
