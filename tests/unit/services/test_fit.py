"""Commands that are sent fit; those that differ or are not sent are losses, and no others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.diagnostics import Location
from commandsync.manifest.keys import Loss as LossName
from commandsync.records.losses import COMMANDS, Instead, Limit, Loss, LossReason
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import (
    MENU_DESCRIPTIONS,
    AnnouncementText,
    CommandText,
    Resource,
    canonical,
)
from commandsync.services.catalogue import DISCORD_BOT_LIST, LISTS, TOP_GG, declared
from commandsync.services.fit import Fitted, as_listed
from commandsync.services.fit import fit as really_fit
from commandsync.services.service import ListService
from commandsync.services.telegram import TELEGRAM
from tests.support.destination import discord_problems, leaves, telegram_problems, utf16
from tests.support.plans import calls_of


def fit(service: ListService, snapshot: Snapshot, **settings: Any) -> Fitted:  # noqa: ANN401 - its own
    """Fit a snapshot of which it does not matter whether anything describes the groups."""
    fitted = really_fit(service, snapshot, **settings)
    losses = (loss for loss in fitted.losses if loss.reason is not LossReason.NOT_DESCRIBED)
    return replace(fitted, losses=tuple(losses))


URL = "https://list.example/api/bots/{bot}/commands"
TIGHT = declared("tight", method="POST", url=URL, limits={"description": 7, "commands": 3})
FLAT = declared(
    "flat",
    method="PUT",
    url=URL,
    fields={"cmd": "name", "about": "description", "group": "category"},
    limits={"name": 9, "description": 20, "category": 4, "commands": 5},
)
WHOLE = declared(
    "whole", method="PATCH", url=URL, fields={name: name for name in CommandText._fields}
)
LOSSY = get_args(LossName)
SERVICES = [*LISTS.values(), TIGHT, FLAT, WHOLE]

WORDS = st.sampled_from(
    ["a", "b", "config", "prefix", "x" * 32, "x" * 33, "Ban", "ban_1", "größe", "ไทย", "a/b", "😀"]
)
NAMES = st.one_of(
    st.lists(WORDS, min_size=1, max_size=4).map(" ".join),
    st.builds("{}{}".format, st.sampled_from(["/", ".", "//", "/ "]), WORDS),
    st.sampled_from(["/", "/ /", "config  prefix", ".", "..", ""]),
    st.text(max_size=34),
)
SIZES = st.sampled_from([1, 6, 7, 8, 19, 20, 21, 99, 100, 101, 255, 256, 257])
PROSE = st.one_of(
    st.text(max_size=300),
    st.builds(lambda text, size: (text * 300)[:size], st.text("a é😀", min_size=1), SIZES),
)
SYNTAXES = st.sampled_from(["/{}", ".{}", "{}", "/{} <user>", "!{} [x]", "/else", "/else <y>", ""])


@st.composite
def entries(draw: st.DrawFn) -> CommandText:
    name = draw(NAMES)
    syntax = draw(SYNTAXES).format(name.removeprefix("/"))
    category = draw(st.sampled_from(["", "Fun", "Moderation"]))
    return CommandText(*map(canonical, (name, draw(PROSE), syntax, category)))


TEXTS = st.lists(entries(), max_size=40)


def snapshot_of(texts: Iterable[CommandText]) -> Snapshot:
    """Return a manifest's commands, one for each line."""
    return Snapshot(
        {
            Resource.COMMAND: tuple(
                Entry(text, id=f"pin{line}", location=Location("commands.yaml", line), uses=3)
                for line, text in enumerate(texts, start=1)
            )
        }
    )


def line(entry: Entry) -> int:
    assert entry.location is not None
    return entry.location.line


def sent(fitted: Fitted) -> tuple[Entry, ...]:
    return fitted.snapshot.collections[Resource.COMMAND]


def body_of(service: ListService, fitted: Fitted) -> Any:  # noqa: ANN401 - JSON is anything
    return service.replace("42", fitted.snapshot).body


def command(name: str, *, syntax: str = "", description: str = "Does it.") -> CommandText:
    return CommandText(name, description, syntax or f"/{name.removeprefix('/')}")


def fitted_names(service: ListService, *names: str) -> tuple[list[str], list[Loss]]:
    fitted = fit(service, snapshot_of(map(command, names)))
    return [entry.name for entry in sent(fitted)], list(fitted.losses)


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
@given(texts=TEXTS)
def test_what_is_sent_fits(service: ListService, texts: list[CommandText]) -> None:
    fitted = fit(service, snapshot_of(texts))

    for entry in sent(fitted):
        assert isinstance(entry.text, CommandText)
        assert canonical(entry.text.description) == entry.text.description
        assert not entry.id
    body = body_of(service, fitted)
    if service is TELEGRAM:
        assert telegram_problems(body.get("commands", [])) == []
    elif service is FLAT:
        assert len(body) <= 5
        for each in body:
            assert each.keys() <= {"cmd", "about", "group"}
            assert 1 <= utf16(each["cmd"]) <= 9
            assert utf16(each.get("about", "")) <= 20
            assert utf16(each.get("group", "")) <= 4
    elif service is TIGHT:
        assert len(body) <= 3
        assert discord_problems(body, description=7) == []
    elif service is not WHOLE:
        assert discord_problems(body) == []


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
@given(texts=TEXTS)
def test_the_request_has_what_was_fitted(service: ListService, texts: list[CommandText]) -> None:
    fitted = fit(service, snapshot_of(texts))

    body = body_of(service, fitted)
    pairs = [(entry.name, entry.text[1]) for entry in sent(fitted)]
    match service.name:
        case "telegram":
            listed = [(each["command"], each["description"]) for each in body.get("commands", [])]
        case "flat":
            listed = [(each["cmd"], each.get("about", "")) for each in body]
        case "whole":
            assert body == [
                {key: text for key, text in entry.text._asdict().items() if text}
                for entry in sent(fitted)
            ]
            return
        case _:
            described = dict(pairs)
            listed = [pair for pair in leaves(body) if pair[0] in described]
            groups = {name for name, _ in leaves(body)} - described.keys()
            below = [name for name in described if " " in name]
            assert groups == {
                group
                for name in below
                for group in (name.split(" ")[0], name.rpartition(" ")[0])
                if group not in described
            }
            order = list(dict.fromkeys(name.split(" ")[0] for name, _ in pairs))
            assert [node["name"] for node in body] == order
            listed.sort(key=lambda pair: list(described).index(pair[0]))
    assert listed == pairs


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
@given(texts=TEXTS)
def test_the_losses_are_the_differences(service: ListService, texts: list[CommandText]) -> None:
    fitted = fit(service, snapshot_of(texts))

    kept = {line(entry): entry.text for entry in sent(fitted)}
    assert list(kept) == sorted(kept)
    missing: list[str] = []
    differs: dict[str, list[str]] = {"description": [], "category": [], "call": []}
    for number, text in enumerate(texts, start=1):
        if number not in kept:
            missing.append(text.name)
            continue
        shown = tuple[str, ...](kept[number])
        plain = text.name.removeprefix("/").split()
        assert shown[0] == (" ".join(plain) if service.slash else text.name)
        differs["description"] += [text.name] * (shown[1] != text.description)
        differs["category"] += [text.name] * (shown[3] != text.category)
        implied = ("/" if service.slash else "") + shown[0]
        differs["call"] += [text.name] * (
            bool(text.syntax) and shown[2] != text.syntax and text.syntax != implied
        )
    lost = {field: [loss for loss in fitted.losses if loss.field == field] for field in LOSSY}
    left_out = [loss for loss in fitted.losses if loss.instead is Instead.LEFT_OUT]
    assert Counter(missing) == Counter(name for loss in left_out for name in loss.names)
    for field in ("description", "category"):
        changed = [loss for loss in lost[field] if loss.instead is not Instead.LEFT_OUT]
        assert [name for loss in changed for name in loss.names] == differs[field]
    called = [set(loss.names) for loss in (*lost["syntax"], *lost["options"])]
    assert set().union(*called) == set(differs["call"])


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
@given(texts=TEXTS)
def test_fitting_twice_is_fitting_once(service: ListService, texts: list[CommandText]) -> None:
    once = fit(service, snapshot_of(texts))
    twice = fit(service, once.snapshot)

    assert twice.snapshot == once.snapshot
    assert {loss.reason for loss in twice.losses} <= {LossReason.HAS_SUB_COMMANDS}
    assert fit(service, snapshot_of(texts)) == once


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
@given(texts=TEXTS)
def test_a_loss_names_commands_in_order(service: ListService, texts: list[CommandText]) -> None:
    losses = fit(service, snapshot_of(texts)).losses

    names = [text.name for text in texts]
    for loss in losses:
        rest = iter(names)
        assert all(name in rest for name in loss.names)
        assert loss.count == len(loss.names) > 0
        assert loss.location is not None
        assert names[loss.location.line - 1] == loss.names[0]
        assert loss.field in LOSSY
    assert len({(loss.field, loss.reason, loss.instead) for loss in losses}) == len(losses)


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
@given(texts=TEXTS)
def test_a_fitted_list_has_an_id_for_each(service: ListService, texts: list[CommandText]) -> None:
    fitted = fit(service, snapshot_of(texts))
    listed = as_listed(fitted.snapshot).collections[Resource.COMMAND]

    assert [entry.text for entry in listed] == [entry.text for entry in sent(fitted)]
    assert len({entry.id for entry in listed}) == len(listed)
    assert all(entry.writable for entry in listed)


FULL = ", ".join(f"config c{n}" for n in range(24))
MANY = [f"c{n}" for n in range(130)]
FIRST, REST, ALL = ", ".join(MANY[:100]), ", ".join(MANY[100:]), ", ".join(MANY)
BY_NAME = {LossReason.CHARACTERS, LossReason.SAME_NAME}


@pytest.mark.parametrize(
    ("services", "names", "kept", "lost"),
    [
        ([TOP_GG, DISCORD_BOT_LIST, TELEGRAM], "/afk, ban", "afk, ban", {}),
        ([TOP_GG, TELEGRAM], ".afk, /afk", "afk", {LossReason.CHARACTERS: ".afk"}),
        ([WHOLE], "/afk, afk, afk", "/afk, afk, afk", {}),
        ([TOP_GG], "a, a b, a c d", "a", {LossReason.BELOW_COMMAND: "a b, a c d"}),
        ([TOP_GG], "a b, a, a c", "a b, a, a c", {LossReason.HAS_SUB_COMMANDS: "a"}),
        ([TELEGRAM], "a, a b, Ban", "a", {LossReason.CHARACTERS: "a b, Ban"}),
        ([TOP_GG], "a b c, a b c d, a b e", "a b c, a b e", {LossReason.LEVELS: "a b c d"}),
        ([TELEGRAM], ALL, FIRST, {LossReason.RECORDS: REST}),
        ([TOP_GG], ALL, ALL, {}),
        (
            [TOP_GG],
            f"{FULL}, config set a, config set b, config get c",
            f"{FULL}, config set a, config set b",
            {LossReason.SUB_COMMANDS: "config get c"},
        ),
        (
            [TOP_GG],
            "a b, a, a, a c",
            "a b, a, a c",
            {LossReason.SAME_NAME: "a", LossReason.HAS_SUB_COMMANDS: "a"},
        ),
    ],
)
def test_what_cannot_be_listed_together_is_left_out(
    services: list[ListService], names: str, kept: str, lost: dict[LossReason, str]
) -> None:
    for service in services:
        found, losses = fitted_names(service, *names.split(", "))

        assert ", ".join(found) == kept
        assert {loss.reason: ", ".join(loss.names) for loss in losses} == lost
        assert all((loss.field == "name") is (loss.reason in BY_NAME) for loss in losses)


def test_a_loss_has_the_limit_that_is_its_reason() -> None:
    for service, names, limit in (
        (TELEGRAM, ["Ban"], TELEGRAM.facts.limit("name")),
        (TOP_GG, ["a b c d"], Limit(most=2)),
        (TELEGRAM, MANY, Limit(most=100)),
    ):
        _, (loss,) = fitted_names(service, *names)

        assert loss.limit == limit


@pytest.mark.parametrize("service", [TOP_GG, TELEGRAM])
def test_of_two_calls_of_one_name_the_first_is_sent(service: ListService) -> None:
    texts = [command("afk", description="One."), command("afk", description="Two.")]
    fitted = fit(service, snapshot_of(texts))

    assert [entry.text[1] for entry in sent(fitted)] == ["One."]
    (loss,) = fitted.losses
    assert (loss.reason, loss.instead, loss.names) == (
        LossReason.SAME_NAME,
        Instead.LEFT_OUT,
        ("afk",),
    )
    assert loss.location == Location("commands.yaml", 2)


def test_a_command_after_its_sub_commands_is_shown_as_their_group() -> None:
    texts = [command("config prefix"), command("config", description="Settings.")]
    fitted = fit(TOP_GG, snapshot_of(texts))

    assert [entry.name for entry in sent(fitted)] == ["config prefix", "config"]
    (loss,) = fitted.losses
    assert (loss.field, loss.reason) == ("commands", LossReason.HAS_SUB_COMMANDS)
    assert (loss.instead, loss.names) == (Instead.GROUP, ("config",))
    (node,) = body_of(TOP_GG, fitted)
    assert node["description"] == "Settings."


@pytest.mark.parametrize("group", ["config", "config set"])
def test_of_26_sub_commands_the_last_is_left_out(group: str) -> None:
    fitted = fit(TOP_GG, snapshot_of(command(f"{group} c{n}") for n in range(26)))

    (loss,) = fitted.losses
    assert (loss.reason, loss.names) == (LossReason.SUB_COMMANDS, (f"{group} c25",))
    assert loss.limit == Limit(most=25)
    names = [name for name, _ in leaves(body_of(TOP_GG, fitted))]
    assert names[-25:] == [f"{group} c{n}" for n in range(25)]


def test_commands_are_counted_and_not_their_sub_commands() -> None:
    names, (loss, _) = fitted_names(TIGHT, "a b", "a c", "d", "e", "f", "a g")

    assert names == ["a b", "a c", "d", "e", "a g"]
    assert (loss.reason, loss.names) == (LossReason.RECORDS, ("f",))


@pytest.mark.parametrize(
    ("syntax", "lost"),
    [
        ("/ban", []),
        ("/ban <user> [reason]", ["options"]),
        ("ban", ["syntax"]),
        ("/banish", ["options", "syntax"]),
        ("/kick", ["syntax"]),
        ("/kick <user>", ["options", "syntax"]),
    ],
)
def test_what_the_name_does_not_show_of_a_syntax(syntax: str, lost: list[str]) -> None:
    snapshot = snapshot_of([command("ban", syntax=syntax)])

    assert sorted(loss.field for loss in fit(TOP_GG, snapshot).losses) == lost
    without_options = {loss.field for loss in fit(TELEGRAM, snapshot).losses}
    assert without_options == ({"syntax"} if lost else set())


SIGNS = st.text("!.?-+~$%&>😀", min_size=1, max_size=3)
PREFIXES = st.builds("{}{}".format, st.sampled_from(["", "m", "b2"]), SIGNS)


@pytest.mark.parametrize("service", [*LISTS.values(), TIGHT], ids=lambda service: service.name)
@given(prefix=PREFIXES, rest=st.sampled_from(["", " <user>", " [reason]"]))
def test_a_prefixed_command_is_left_out(service: ListService, prefix: str, rest: str) -> None:
    snapshot = snapshot_of([command("ban", syntax=f"{prefix}ban{rest}"), command("kick")])
    fitted = fit(service, snapshot)
    all_sent = fit(replace(service, prefixed=True), snapshot)

    assert [entry.name for entry in sent(fitted)] == ["kick"]
    (left_out,) = (loss for loss in fitted.losses if loss.instead is Instead.LEFT_OUT)
    assert (left_out.field, left_out.names) == (COMMANDS, ("ban",))
    assert [entry.name for entry in sent(all_sent)] == ["ban", "kick"]


@pytest.mark.parametrize(
    "syntax", ["ban", "/ban", "`/ban`", "<user>", "[user] ban", "hey ban", "ban!", "/x !ban", "/"]
)
def test_a_word_and_a_slash_are_not_a_prefix(syntax: str) -> None:
    assert [entry.name for entry in sent(fit(TOP_GG, snapshot_of([command("ban", syntax=syntax)])))]


@given(prefix=PREFIXES)
def test_what_a_manifest_declares_by_fields_has_any_prefix(prefix: str) -> None:
    snapshot = snapshot_of([command("ban", syntax=f"{prefix}ban")])

    assert [entry.name for entry in sent(fit(WHOLE, snapshot))] == ["ban"]


def test_a_command_in_a_menu_needs_its_object() -> None:
    snapshot = snapshot_of([command("report user", syntax="report user"), command("a b")])
    fitted = fit(TOP_GG, snapshot)

    assert [entry.name for entry in sent(fitted)] == ["a b"]
    assert [(loss.reason, loss.names) for loss in fitted.losses] == [
        (LossReason.MENU, ("report user",))
    ]
    own = {"report user": ({"type": 2, "name": "report user"},)}
    assert [entry.name for entry in sent(fit(TOP_GG, snapshot, objects=own))] == [
        "report user",
        "a b",
    ]


@pytest.mark.parametrize("description", [*MENU_DESCRIPTIONS.values(), "Reports a user."])
def test_a_description_that_an_import_made_for_a_menu_is_no_loss(description: str) -> None:
    snapshot = snapshot_of([command("report", description=description, syntax="report")])
    fitted = fit(TOP_GG, snapshot, objects={"report": ({"type": 2, "name": "report"},)})

    (entry,) = sent(fitted)
    assert entry.text[1] == ""
    assert bool(fitted.losses) == (description not in MENU_DESCRIPTIONS.values())


def test_a_description_is_shortened_and_a_category_is_not_shown() -> None:
    text = CommandText("ban", "Bans a member, " * 10 + "at once.", "/ban", "Moderation")
    fitted = fit(TOP_GG, snapshot_of([text]))

    (entry,) = sent(fitted)
    assert entry.text == CommandText(
        "ban", "Bans a member, " * 6 + "Bans a…", syntax="", category=""
    )
    assert [(loss.field, loss.instead) for loss in fitted.losses] == [
        ("description", Instead.SHORTENED),
        ("category", Instead.NOT_SHOWN),
    ]


def test_announcements_and_what_is_not_managed_are_not_sent() -> None:
    news = Entry(AnnouncementText("News", "There are some."))

    assert fit(TOP_GG, Snapshot({Resource.ANNOUNCEMENT: (news,)})) == Fitted(Snapshot({}), ())


def test_the_policy_keeps_nothing_on_a_list_that_cannot_be_read() -> None:
    keeps = ("ignore: beta-*",)
    empty = Snapshot({Resource.COMMAND: ()})

    (loss,) = fit(TOP_GG, empty, unprotected=keeps).losses
    assert loss == Loss("sync", LossReason.NOT_READ, Instead.NOT_KEPT, keeps)
    assert fit(TELEGRAM, empty, unprotected=keeps).losses == ()
    assert fit(TOP_GG, empty).losses == ()


def test_former_names_are_written_as_the_name_is() -> None:
    entry = Entry(command("/set prefix"), formerly=("/config  prefix", "conf"))
    (fitted,) = sent(fit(TOP_GG, Snapshot({Resource.COMMAND: (entry,)})))

    assert fitted == Entry(
        CommandText("set prefix", "Does it.", ""), formerly=("config prefix", "conf")
    )


@pytest.mark.parametrize("form", ["c{}", "g{} sub", "one sub{}", "same", "{} a b c d", "G{}"])
@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_twice_the_commands_are_twice_the_work(service: ListService, form: str) -> None:
    def work(count: int) -> int:
        snapshot = snapshot_of(command(form.format(number)) for number in range(count))
        return calls_of(lambda: as_listed(fit(service, snapshot).snapshot))

    assert work(2000) <= 2.3 * work(1000)


@given(
    st.lists(st.sampled_from(["a b", "a c", "a b c", "b c", "b d e", "d"]), unique=True),
    st.sets(st.sampled_from(["a", "b", "b d"])),
    st.sets(st.sampled_from(["a b", "b c", "b d e"])),
)
def test_a_group_that_nothing_describes_is_a_loss(
    names: list[str], described: set[str], objects: set[str]
) -> None:
    own = {
        name: tuple({"name": part, "description": "Is known."} for part in name.split(" "))
        for name in objects
    }
    snapshot = snapshot_of(command(name) for name in [*names, *sorted(described)])
    fitted = really_fit(TOP_GG, snapshot, objects=own)
    commands = sent(fitted)
    known = {entry.name for entry in commands}
    for entry in commands:
        parts = entry.name.split(" ")
        known |= {
            " ".join(parts[: n + 1]) for n, node in enumerate(entry.own) if node["description"]
        }

    lost = [loss for loss in fitted.losses if loss.reason is LossReason.NOT_DESCRIBED]
    assert [name for loss in lost for name in loss.names] == [
        entry.name
        for entry in commands
        if not all(
            " ".join(entry.name.split(" ")[:n]) in known
            for n in range(1, entry.name.count(" ") + 1)
        )
    ]
    assert ("…" in str(body_of(TOP_GG, fitted))) == bool(lost)
