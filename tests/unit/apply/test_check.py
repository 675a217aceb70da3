"""The check before a first write: tokens in a text, owners, and how far a saved plan has got."""

from base64 import b64encode
from dataclasses import replace
from types import NoneType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.api import operations
from commandsync.api.credentials import Token, check_call, token_refusal
from commandsync.apply.check import plan_refusal, progress_of, unexplained
from commandsync.apply.outcomes import State
from commandsync.diagnostics import Do, Location, Notice
from commandsync.errors import (
    NotOwnedError,
    RefusedError,
    StalePlanError,
    TooManyDeletesError,
    WrongBotError,
)
from commandsync.plan.changes import Add, sent_texts
from commandsync.plan.matching import GROUP_LIMIT
from commandsync.plan.plan import AsRead, RecordPlan, make_plan
from commandsync.plan.rules import SyncRules
from commandsync.records.rewrites import SHORTEST_CUT
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import ApplicationCommand, CommandText, Resource, Text
from tests.support import registered
from tests.support.plans import CHANGED, day, post, whole
from tests.support.registered import KIND, menu, slash
from tests.support.runs import EVERYTHING, TARGET, announcement, command, wanted
from tests.support.texts import jwts

SECRET = "opaque-token-0123456789"
ADD = operations.add("42", Resource.COMMAND, CommandText("ban", "Bans.", "/ban"))
READ = operations.get_bot("42")


def side(*entries: Entry) -> Snapshot:
    return Snapshot({Resource.COMMAND: entries})


@pytest.mark.parametrize(
    "body",
    [
        {"name": SECRET},
        [{"name": "ban", "options": [{"description": f"Not {SECRET}."}]}],
        {SECRET: [{"name": "ban"}]},
        [{f"x-{SECRET}": "ban"}],
    ],
)
def test_a_token_in_a_body_is_refused(body: object) -> None:
    with pytest.raises(RefusedError, match="contains a token"):
        check_call(replace(ADD, body=body), Token(SECRET), bot="42")


def test_the_refusal_names_the_call_and_what_to_do() -> None:
    with pytest.raises(RefusedError) as caught:
        check_call(replace(ADD, body=SECRET), Token(SECRET), bot="42")

    assert str(caught.value) == "a text of 'add command' contains a token"
    assert str(caught.value.hint) == "remove it there, and renew the token: others may have read it"


def test_a_refusal_by_the_token_says_whose_it_is_or_where() -> None:
    text, seven = CommandText("ban", SECRET, ""), b64encode(b'{"id": "7"}').decode().rstrip("=")
    add = Add(resource=Resource.COMMAND, after=text)
    refused = (
        token_refusal(Token(f"x.{seven}.y"), "42"),
        token_refusal(Token(SECRET), "42", sent_texts([add])),
        token_refusal(
            Token(SECRET), "42", sent_texts([replace(add, location=Location("a.yaml", 4, 5))])
        ),
        token_refusal(Token(SECRET), "42", [("the list", [SECRET])]),
    )

    assert [f"{error} | {error.hint}" for error in refused if error] == [
        "the token belongs to bot 7, not to bot 42 | use the token from this bot's own page",
        (
            "the text of a command contains a token | remove it there, and renew the "
            "token: others may have read it"
        ),
        (
            "the text of a command at a.yaml:4:5 contains a token | remove it there, and "
            "renew the token: others may have read it"
        ),
        (
            "the list contains a token | remove it there, and "
            "renew the token: others may have read it"
        ),
    ]


@given(jwts)
def test_a_token_of_another_bot_may_read_and_not_write(secret: str) -> None:
    token = Token(secret)

    check_call(READ, token, bot="another")
    check_call(ADD, token, bot=token.bot)
    check_call(ADD, None, bot="another")
    if token.bot:
        with pytest.raises(WrongBotError):
            check_call(ADD, token, bot="another")


@pytest.mark.parametrize("count", [1, 6])
def test_a_record_that_no_version_had_refuses_the_plan_with_what_to_do(count: int) -> None:
    ours, *foreign = (CommandText(str(n), "Text.", f"/{n}") for n in range(count + 1))
    listed = side(*(Entry(text, id=text.name) for text in (ours, *foreign)))
    plan = make_plan(desired=side(), listed=listed, target=TARGET, rules=EVERYTHING)
    owned = [side(Entry(ours))]

    refused = plan_refusal(plan, listed=listed, token=None, versions=owned)

    assert isinstance(refused, NotOwnedError)
    assert "records that no version of the manifest had: command '1'" in refused.message
    assert refused.message.endswith(" and 1 more") is (count > 5)
    assert str(refused.hint).startswith("somebody else listed it: add it to the manifest")
    assert plan_refusal(plan, listed=listed, token=None, versions=[listed]) is None
    assert plan_refusal(plan, listed=listed, token=None) is None


def test_a_plan_that_deletes_too_much_is_refused_with_what_allows_it() -> None:
    listed = side(*(Entry(CommandText(str(n), "Text.", "/x"), id=str(n)) for n in range(10)))
    plan = make_plan(desired=side(), listed=listed, target=TARGET, rules=SyncRules())

    refused = plan_refusal(plan, listed=listed, token=None)

    assert isinstance(refused, TooManyDeletesError)
    assert refused.hint == Do.ALLOW_DELETES(limit="all")
    assert plan.refusal == Notice(refused.message, refused.hint)
    saved = plan_refusal(replace(plan, saved=True), listed=listed, token=None)
    assert saved is not None
    assert saved.hint == Do.ALLOW_DELETES_OF_NEW_PLAN(limit="all")


@given(jwts)
def test_a_plan_is_refused_for_its_token_or_for_a_list_that_must_not_be_sent(secret: str) -> None:
    token, other = Token(secret), Token(SECRET)
    empty, wanted = side(), side(Entry(CommandText("ban", f"Not {SECRET}.", "/ban")))
    target = replace(TARGET, bot=f"1{token.bot}")
    plan = make_plan(desired=wanted, listed=empty, target=target, rules=EVERYTHING)
    a_list = whole(plan, AsRead((CHANGED,)))

    assert plan_refusal(a_list, listed=empty, token=token) is None
    refused = plan_refusal(plan, listed=empty, token=token)
    assert isinstance(refused, WrongBotError if token.bot else NoneType)
    if refused:
        assert f"bot {token.bot}, " in refused.message
        assert refused.message.endswith(f" bot {target.bot}")
    for ours, others in ((other, ()), (Token("of-nobody"), (other,))):
        refused = plan_refusal(plan, listed=empty, token=ours, others=others)
        assert "a command" in str(refused)
        body = [{"name": "ban", "options": [{"description": f"Not {SECRET}."}]}]
        unchanged = replace(a_list, changes=())
        refused = plan_refusal(unchanged, listed=empty, token=ours, others=others, body=body)
        assert "imported" in str(refused)
    none = replace(a_list, commands=(), wants_none=True, rules=SyncRules())
    refused = plan_refusal(none, listed=empty, token=token)
    assert refused is not None
    assert "empty list" in refused.message
    assert refused.hint == Do.ALLOW_DELETES(limit="all")


@pytest.mark.parametrize("body", [None, [], {}, [{"name": "ban", "type": 1}]])
def test_a_body_without_the_token_is_sent(body: object) -> None:
    check_call(replace(ADD, body=body), Token(SECRET), bot="42")


LONG = st.text("abcdefgh", min_size=SHORTEST_CUT + 1, max_size=SHORTEST_CUT + 20)


def version(*texts: Text) -> Snapshot:
    return Snapshot(
        {Resource.COMMAND: tuple(Entry(text, id=str(n)) for n, text in enumerate(texts))}
    )


def is_explained(listed: CommandText, *versions: CommandText) -> bool:
    """Whether versions with one command each explain that a listed record is deleted."""
    return not unexplained(plan_without(listed), versions=map(version, versions))


def plan_without(listed: CommandText) -> RecordPlan:
    return make_plan(desired=version(), listed=version(listed), target=TARGET, rules=EVERYTHING)


@given(LONG, st.integers(SHORTEST_CUT))
def test_a_record_whose_name_the_service_cut_is_explained(name: str, length: int) -> None:
    length = min(length, len(name) - 1)
    whole = CommandText(name, "Text.", "/x")
    cut = whole._replace(name=name[:length])

    assert is_explained(cut, whole)
    assert not is_explained(cut._replace(description="Another."), whole)
    assert not is_explained(cut._replace(name=f"{name[: length - 1]}z"), whole)


@pytest.mark.parametrize("name", ["HELP", "h e l p", "help"])
def test_a_record_that_the_service_rewrote_is_explained(name: str) -> None:
    wanted = CommandText("help", "Helps & more.", "/help")

    assert is_explained(CommandText(name, "Helps &amp; more.", "/HELP"), wanted)
    assert is_explained(wanted, CommandText("other", "Text.", "/o"), wanted)
    assert not is_explained(CommandText(name, "Something else.", "/help"), wanted)
    assert not is_explained(wanted)


def test_versions_are_read_until_all_is_explained() -> None:
    gone, kept = CommandText("a", "Text.", "/a"), CommandText("b", "Text.", "/b")
    adds = make_plan(desired=version(kept), listed=version(), target=TARGET, rules=EVERYTHING)
    versions = iter([version(gone), version(kept)])

    assert unexplained(adds, versions=versions) == []
    assert unexplained(plan_without(gone), versions=versions) == []
    assert [*versions] == [version(kept)]


def test_only_what_is_taken_away_needs_an_explanation() -> None:
    gone, copied, added = (CommandText(name, f"Text {name}.", f"/{name}") for name in "gca")
    plan = make_plan(
        desired=Snapshot({Resource.COMMAND: (Entry(added), Entry(copied))}),
        listed=version(gone, copied, copied),
        target=TARGET,
        rules=EVERYTHING,
    )

    assert [change.name for change in unexplained(plan, versions=[])] == ["g"]
    assert unexplained(plan, versions=[version(gone)]) == []


def test_each_of_many_names_with_the_same_beginning_explains() -> None:
    names = [f"{'a' * SHORTEST_CUT}{end}" for end in "bcd"]
    whole = [CommandText(name, f"Text of {name}.", "/x") for name in names]
    cuts = [each._replace(name=each.name[:SHORTEST_CUT]) for each in whole]

    assert all(is_explained(cut, *whole) for cut in cuts)
    assert all(not unexplained(plan_without(cut), versions=[version(*whole)]) for cut in cuts)


def test_of_very_many_names_that_are_equal_when_folded_the_first_ones_explain() -> None:
    *first, last = (CommandText("help", f"Text {n}.", "/x") for n in range(GROUP_LIMIT + 1))

    for text, is_named in ((first[-1], False), (last, True)):
        plan = plan_without(text._replace(name="Help"))

        assert bool(unexplained(plan, versions=[version(*first, last)])) is is_named


PENDING, ADDED, DONE = State.PENDING, State.ADDED, State.DONE


def listed(commands: dict[str, Text], posts: dict[str, Text] | None = None) -> Snapshot:
    sides = {Resource.COMMAND: commands, Resource.ANNOUNCEMENT: posts or {}}
    return Snapshot(
        {
            resource: tuple(Entry(text, id=identifier) for identifier, text in some.items())
            for resource, some in sides.items()
        }
    )


def plan_of(desired: Snapshot, here: Snapshot) -> RecordPlan:
    return make_plan(desired=desired, listed=here, target=TARGET, rules=EVERYTHING)


OLD, NEW, GONE = command("a", "Old."), command("a", "New."), command("b")
EDIT_AND_DELETE = plan_of(wanted([NEW]), listed({"1": OLD, "2": GONE}))


@pytest.mark.parametrize(
    ("now", "progress"),
    [
        ({"1": OLD, "2": GONE}, (PENDING, PENDING)),
        ({"1": NEW, "2": GONE}, (DONE, PENDING)),
        ({"1": OLD}, (PENDING, DONE)),
        ({"1": NEW, "3": GONE}, (DONE, DONE)),
    ],
)
def test_records_judge_edits_and_deletes(now: dict[str, Text], progress: tuple[State, ...]) -> None:
    assert progress_of(EDIT_AND_DELETE, listed(now)) == progress


@pytest.mark.parametrize(
    ("now", "why"),
    [
        ({"2": GONE}, "edit of command 'a' (its record is no longer listed under its id)"),
        ({"1": command("a", "3rd."), "2": GONE}, "edit of command 'a' (its record was changed)"),
        ({"1": OLD, "2": command("b", "?")}, "delete of command 'b' (its record was changed)"),
        (
            {"1": OLD, "": GONE},
            "delete of command 'b' (its record is no longer listed under its id)",
        ),
    ],
)
def test_a_record_that_is_neither_makes_it_stale(now: dict[str, Text], why: str) -> None:
    with pytest.raises(StalePlanError) as told:
        progress_of(EDIT_AND_DELETE, listed(now))

    assert told.value.message.startswith(f"the listing changed since the plan was made: {why}")
    assert told.value.hint == "make a new plan, review it, and apply that one"


def test_at_most_five_stale_records_are_named() -> None:
    here = {f"{n}": command(f"c{n}") for n in range(8)}
    plan = plan_of(wanted([]), listed(here))
    now = {key: command("changed") for key in here}

    with pytest.raises(StalePlanError) as told:
        progress_of(plan, listed(now))

    assert "delete of command 'c4' (its record was changed) and 3 more" in told.value.message
    assert "c5" not in told.value.message


@pytest.mark.parametrize(
    ("more", "progress"),
    [(0, (PENDING, PENDING)), (1, (DONE, PENDING)), (2, (DONE, DONE)), (3, (DONE, DONE))],
)
def test_adds_of_one_text_are_counted(more: int, progress: tuple[State, ...]) -> None:
    plan = plan_of(wanted([NEW, NEW, NEW]), listed({"1": NEW}))

    now = listed({"1": NEW, **{f"n{n}": NEW for n in range(more)}})

    assert progress_of(plan, now) == progress


BEFORE, AFTER = announcement("v", "Then."), announcement("v", "Now.")
REPLACE = plan_of(wanted(None, [AFTER]), listed({}, {"1": BEFORE}))


@pytest.mark.parametrize(
    ("now", "progress"),
    [({"1": BEFORE}, PENDING), ({"1": BEFORE, "2": AFTER}, ADDED), ({"2": AFTER}, DONE)],
)
def test_a_replace_may_be_half_done(now: dict[str, Text], progress: State) -> None:
    assert progress_of(REPLACE, listed({}, now)) == (progress,)


@pytest.mark.parametrize("now", [{}, {"1": announcement("v", "?")}])
def test_a_replace_of_what_is_gone_or_changed_is_stale(now: dict[str, Text]) -> None:
    with pytest.raises(StalePlanError, match="replace of announcement 'v'"):
        progress_of(REPLACE, listed({}, now))


def test_a_replace_beside_a_rewritten_new_one_is_stale() -> None:
    now = {"1": BEFORE, "2": announcement("V", "Now.")}

    with pytest.raises(StalePlanError) as told:
        progress_of(REPLACE, listed({}, now))

    assert told.value.message == (
        "the listing changed since the plan was made: replace of announcement 'v' (one of that "
        "name is listed with another text: the service may have changed it)"
    )


def test_more_records_than_adds_of_a_text_may_be_another_add_of_the_name() -> None:
    plan = plan_of(wanted([command("a"), command("A", "Other.")]), listed({}))

    with pytest.raises(StalePlanError, match=r"add of command 'A' \(one of that name is listed"):
        progress_of(plan, listed({"1": command("a"), "2": command("a")}))


ENDING = make_plan(
    desired=wanted(None, [post("v1", "New.", until=2), post("v2", publish=1, until=2), post("v3")]),
    listed=listed({}, {"1": announcement("v1", "Old.")}),
    target=TARGET,
    rules=EVERYTHING,
    now=day(1),
)
NEWER, V2, V3 = announcement("v1", "New."), announcement("v2", "Out."), announcement("v3", "Out.")


def progress_on(number: int, here: dict[str, Text]) -> tuple[State, ...]:
    return progress_of(replace(ENDING, saved=True, applied=day(number)), listed({}, here))


def test_a_saved_plan_posts_nothing_whose_end_has_passed_since() -> None:
    here = {"1": announcement("v1", "Old.")}

    assert progress_on(1, here) == (PENDING, PENDING, PENDING)
    with pytest.raises(StalePlanError) as told:
        progress_on(2, here)

    assert told.value.message == (
        "a scheduled time has passed since the plan was made: replace of announcement 'v1' (it "
        "ended at 2026-12-02 18:00 UTC), add of announcement 'v2' (it ended at 2026-12-02 18:00 "
        "UTC)"
    )


def test_a_plan_that_is_late_may_be_stale_for_its_records_too() -> None:
    with pytest.raises(StalePlanError) as told:
        progress_on(2, {"1": announcement("v1", "Old."), "2": announcement("V3", "Else.")})

    assert told.value.message == (
        "the listing changed since the plan was made: replace of announcement 'v1' (it ended at "
        "2026-12-02 18:00 UTC), add of announcement 'v2' (it ended at 2026-12-02 18:00 UTC), add "
        "of announcement 'v3' (one of that name is listed with another text: the service may "
        "have changed it)"
    )


def test_a_saved_plan_whose_posts_ended_after_they_were_made_is_finished() -> None:
    assert progress_on(9, {"1": announcement("v1", "Old."), "2": NEWER, "3": V2}) == (
        ADDED,
        DONE,
        PENDING,
    )
    assert progress_on(9, {"2": NEWER, "3": V2, "4": V3}) == (DONE, DONE, DONE)


def test_a_plan_of_this_run_is_held_against_its_own_time() -> None:
    assert progress_of(ENDING, listed({}, {"1": announcement("v1", "Old.")})) == (PENDING,) * 3


def test_a_new_plan_fits_its_listing_beside_an_edit_to_a_text_that_is_listed_already() -> None:
    here = listed({"1": OLD, "2": NEW})
    pinned = [Entry(NEW, id="1"), Entry(NEW, id="2"), command("A", "Other.")]

    assert progress_of(plan_of(wanted(pinned), here), here) == (PENDING, PENDING)


def test_a_plan_that_no_longer_fits_its_listing_is_refused_before_it_deletes_too_much() -> None:
    here = side(*(Entry(command(name), id=name) for name in "abcde"))
    plan = make_plan(
        desired=wanted([command("a", "New.")]), listed=here, target=TARGET, rules=SyncRules()
    )
    now = side(*(Entry(command(name, "Theirs."), id=name) for name in "abcde"))

    assert isinstance(plan_refusal(plan, listed=here, token=None), TooManyDeletesError)
    assert isinstance(plan_refusal(plan, listed=now, token=None), StalePlanError)


def test_in_an_exact_kind_a_type_and_a_name_explain_a_delete() -> None:
    plan = registered.plan_of(
        (), registered.listed(slash("ban"), slash("Ban"), menu("ban"), menu("Kick"))
    )
    version = Snapshot({KIND: (registered.entry(slash("ban", "Bans.")), Entry(menu("Kick", 3)))})

    names = [change.texts[0][:2] for change in unexplained(plan, versions=[version])]

    assert names == [("Ban", "1"), ("ban", "2"), ("Kick", "2")]


def test_in_an_exact_kind_a_saved_add_is_done_stale_or_pending_by_the_name_alone() -> None:
    ban = slash("ban")
    plan = registered.plan_of((registered.entry(ban),), ())

    def progress(*texts: ApplicationCommand) -> tuple[State, ...]:
        return progress_of(plan, Snapshot({KIND: registered.listed(*texts)}))

    assert progress(slash("Ban"), menu("ban")) == (State.PENDING,)
    assert progress(ban) == (State.DONE,)
    with pytest.raises(StalePlanError, match="one of that name is listed with another text"):
        progress(slash("ban", "Bans."))
