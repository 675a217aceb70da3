"""No body that a client sends contains the token, whatever its shape."""

from base64 import b64encode
from dataclasses import replace
from types import NoneType

import pytest
from hypothesis import given

from commandsync.api import operations
from commandsync.api.credentials import Token
from commandsync.apply.check import refusal_of
from commandsync.apply.token import check_call, token_refusal
from commandsync.diagnostics import Do, Location, Notice
from commandsync.errors import NotOwnedError, RefusedError, TooManyDeletesError, WrongBotError
from commandsync.plan.changes import Add
from commandsync.plan.plan import PlannedListing, make_plan
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import CommandText, Resource
from tests.support.echoes import jwts
from tests.support.runs import EVERYTHING, TARGET

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
    with pytest.raises(RefusedError, match="contains the bot's token"):
        check_call(replace(ADD, body=body), Token(SECRET), bot="42")


def test_the_refusal_names_the_call_and_what_to_do() -> None:
    with pytest.raises(RefusedError) as caught:
        check_call(replace(ADD, body=SECRET), Token(SECRET), bot="42")

    assert str(caught.value) == "a text of 'add command' contains the bot's token"
    assert str(caught.value.hint) == "remove it there, and renew the token: others may have read it"


def test_a_refusal_by_the_token_says_whose_it_is_or_where() -> None:
    text, seven = CommandText("ban", SECRET, ""), b64encode(b'{"id": "7"}').decode().rstrip("=")
    add = Add(resource=Resource.COMMAND, after=text)
    refused = (
        token_refusal(Token(f"x.{seven}.y"), "42"),
        token_refusal(Token(SECRET), "42", [add]),
        token_refusal(Token(SECRET), "42", [replace(add, location=Location("a.yaml", 4, 5))]),
        token_refusal(Token(SECRET), "42", body=[SECRET]),
    )

    assert [f"{error} | {error.hint}" for error in refused if error] == [
        "the token belongs to bot 7, not to bot 42 | use the token from this bot's own page",
        (
            "the text of a command contains the bot's token | remove it there, and renew the "
            "token: others may have read it"
        ),
        (
            "the text of a command at a.yaml:4:5 contains the bot's token | remove it there, and "
            "renew the token: others may have read it"
        ),
        (
            "what was imported from the platform contains the bot's token | remove it there, and "
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

    refused = refusal_of(plan, listed=listed, token=None, versions=owned)

    assert isinstance(refused, NotOwnedError)
    assert "what no version of the manifest had: command '1'" in refused.message
    assert refused.message.endswith(" and 1 more") is (count > 5)
    assert str(refused.hint).startswith("somebody else listed it: add it to the manifest")
    assert refusal_of(plan, listed=listed, token=None, versions=[listed]) is None
    assert refusal_of(plan, listed=listed, token=None) is None


def test_a_plan_that_deletes_too_much_is_refused_with_what_allows_it() -> None:
    listed = side(*(Entry(CommandText(str(n), "Text.", "/x"), id=str(n)) for n in range(10)))
    plan = make_plan(desired=side(), listed=listed, target=TARGET, rules=SyncRules())

    refused = refusal_of(plan, listed=listed, token=None)

    assert isinstance(refused, TooManyDeletesError)
    assert refused.hint == Do.ALLOW_DELETES(limit="all")
    assert plan.refusal == Notice(refused.message, refused.hint)
    saved = refusal_of(replace(plan, saved=True), listed=listed, token=None)
    assert saved is not None
    assert saved.hint == Do.ALLOW_DELETES_OF_NEW_PLAN(limit="all")


@given(jwts)
def test_a_plan_is_refused_for_its_token_or_for_a_list_that_must_not_be_sent(secret: str) -> None:
    token, other = Token(secret), Token(SECRET)
    empty, wanted = side(), side(Entry(CommandText("ban", f"Not {SECRET}.", "/ban")))
    target = replace(TARGET, bot=f"1{token.bot}")
    plan = make_plan(desired=wanted, listed=empty, target=target, rules=EVERYTHING)
    whole = replace(plan, listing=PlannedListing(name="top.gg", whole=True, size=1))

    assert refusal_of(whole, listed=empty, token=token) is None
    refused = refusal_of(plan, listed=empty, token=token)
    assert isinstance(refused, WrongBotError if token.bot else NoneType)
    if refused:
        assert f"bot {token.bot}, " in refused.message
        assert refused.message.endswith(f" bot {target.bot}")
    for ours, others in ((other, ()), (Token("of-nobody"), (other,))):
        refused = refusal_of(plan, listed=empty, token=ours, others=others)
        assert "a command" in str(refused)
        body = [{"name": "ban", "options": [{"description": f"Not {SECRET}."}]}]
        unchanged = replace(whole, changes=())
        refused = refusal_of(unchanged, listed=empty, token=ours, others=others, body=body)
        assert "imported" in str(refused)
    listing = PlannedListing(name="top.gg", whole=True, wants_none=True)
    none = replace(whole, listing=listing, rules=SyncRules())
    refused = refusal_of(none, listed=empty, token=token)
    assert refused is not None
    assert "empty list" in refused.message
    assert refused.hint == Do.ALLOW_DELETES(limit="all")


@pytest.mark.parametrize("body", [None, [], {}, [{"name": "ban", "type": 1}]])
def test_a_body_without_the_token_is_sent(body: object) -> None:
    check_call(replace(ADD, body=body), Token(SECRET), bot="42")
