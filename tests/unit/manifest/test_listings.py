import json
from typing import Any, get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from commandsync.errors import ManifestError
from commandsync.manifest import load_head, load_manifests
from commandsync.manifest.keys import Loss, ReplaceKeys
from commandsync.manifest.listings import same_listing_problems
from commandsync.records.losses import COMMANDS, OPTIONS, SYNC, TRANSLATIONS
from commandsync.records.snapshot import Audience, Entry, Snapshot
from commandsync.records.texts import CommandText, Resource
from commandsync.services.catalogue import LISTS
from commandsync.services.fit import fit
from tests.unit.manifest.conftest import Load

OWN = """\
version: 1
bot: "42"
listings:
  - service: our-list
    bot: 77
    token_env: COMMANDSYNC_TOKEN_OUR_LIST
    lossy: category
    replace:
      method: PATCH
      url: HTTPS://List.Example/api/bots/{bot}/commands?all=1
      authorization: "Bearer {token}"
      wrap: commands
      fields: {name: name, usage: syntax}
      limits: {syntax: 50, commands: 9}
    limits: {syntax: 60, name: 20, commands: 3}
  - service: telegram
    base_url: http://127.0.0.1:8081/
commands: []
""".replace("HTTPS", "https")

NAMES = st.from_regex("[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True).filter(
    lambda name: name.lower() not in {*LISTS, "discord", "page"}
)
BOTS = st.from_regex("[0-9]{1,20}", fullmatch=True)
FIELDS = st.sampled_from(Resource.COMMAND.fields)
KEYS = st.text(min_size=1, max_size=9).map(str.strip).filter(lambda key: key and "{" not in key)
NUMBERS = st.dictionaries(
    st.sampled_from([*Resource.COMMAND.fields, COMMANDS]), st.integers(1, 5000)
)
REPLACEMENTS = st.fixed_dictionaries(
    {
        "method": st.sampled_from(["POST", "PUT", "PATCH"]),
        "url": st.from_regex(
            r"https://[a-z0-9]{1,9}\.example/([!$&-;=?-Z_a-z~]|\{bot\}){0,30}", fullmatch=True
        ),
    },
    optional={
        "authorization": st.from_regex(r"([A-Za-z]+ )?\{token\}[!-z]{0,9}", fullmatch=True),
        "wrap": KEYS,
        "fields": st.dictionaries(KEYS, FIELDS, max_size=5).map(lambda keys: keys | {"n": "name"}),
        "limits": NUMBERS,
    },
)
LOSSES = st.lists(st.sampled_from(get_args(Loss)), max_size=4)


@st.composite
def entries(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return the listings of a manifest, each of another service."""
    listings: list[dict[str, Any]] = []
    for name in draw(st.lists(st.sampled_from(sorted(LISTS)), unique=True)):
        optional = {"bot": BOTS, "base_url": st.just("http://127.0.0.1:8081")}
        whole = st.fixed_dictionaries({"service": st.just(name)}, optional=optional)
        listings.append(draw(whole))
    for name in draw(st.lists(NAMES, unique_by=str.lower, max_size=3)):
        own: dict[str, Any] = draw(REPLACEMENTS)
        own["url"] = own["url"].replace("https://", f"https://{len(listings)}.")
        listing: dict[str, Any] = {"service": name, "replace": own}
        if "authorization" in own:
            listing["token_env"] = "COMMANDSYNC_TOKEN_OWN"
        listings.append(listing)
    common = st.fixed_dictionaries({}, optional={"lossy": LOSSES, "limits": NUMBERS})
    return [listing | draw(common) for listing in listings]


def written(listings: list[dict[str, Any]]) -> str:
    return yaml.safe_dump({"version": 1, "listings": listings, "commands": []})


@given(entries())
def test_every_listing_is_loaded_as_it_is_written(listings: list[dict[str, Any]]) -> None:
    text = written(listings)
    (manifest,) = load_manifests(["-"], stdin=text.encode)

    assert len(manifest.listings) == len(listings)
    head = load_head("commands.yaml", text.encode())
    assert [one.service for one in head.listings] == [one.service for one in manifest.listings]
    for listing, data in zip(manifest.listings, listings, strict=True):
        own, token_bot = data.pop("replace", None), "" if listing.service == "telegram" else "42"
        data["lossy"] = tuple(data.get("lossy", ()))
        assert {key: getattr(listing, key) for key in data} == data
        if own and listing.replace:
            own["url"] = listing.replace.url  # it is normalised when it is loaded
        assert listing.replace == (ReplaceKeys(**own) if own else None)
        assert listing.bot_of("42") == data.get("bot", token_bot)
        assert listing.replace is None or listing.replace.url.startswith(
            listing.list_service.origin
        )
        line = text.splitlines()[listing.location.line - 1]
        assert line[listing.location.column - 3 : listing.location.column - 1] == "- "


@given(entries(), st.lists(st.text(min_size=1, max_size=40), max_size=5))
def test_what_fits_a_listing_keeps_its_limits(
    listings: list[dict[str, Any]], descriptions: list[str]
) -> None:
    (manifest,) = load_manifests(["-"], stdin=written(listings).encode)
    texts = (CommandText("a" * (n + 1), text, "/a b") for n, text in enumerate(descriptions))
    snapshot = Snapshot({Resource.COMMAND: tuple(map(Entry, texts))})

    for listing in manifest.listings:
        sent = fit(listing.list_service, snapshot).snapshot.commands
        limits = {str(name): most for name, most in listing.limits.items() if isinstance(most, int)}
        assert len(sent) <= limits.get("commands", len(sent))
        for field in Resource.COMMAND.fields:
            most = limits.get(field)
            assert most is None or all(
                len(getattr(text, field).encode("utf-16-le", "surrogatepass")) <= 2 * most
                for text in sent
            )


def test_the_lower_limit_counts(load: Load) -> None:
    own, telegram = (listing.list_service for listing in load(OWN).listings)

    assert [own.facts.limit(name).most for name in ("name", "syntax")] == [20, 50]
    assert own.facts.most_records.number == 3
    assert (own.origin, telegram.origin) == ("https://list.example", "http://127.0.0.1:8081")
    assert telegram.facts == LISTS["telegram"].facts


@pytest.mark.parametrize(
    ("keys", "has_page"),
    [
        ("", True),
        ("listings: []", True),
        ("listings: [{service: top.gg}]", False),
        ("base_url: https://a.example", True),
        ("base_url: https://a.example\nlistings: [{service: top.gg}]", True),
    ],
)
def test_the_page_is_synced_without_listings(load: Load, keys: str, *, has_page: bool) -> None:
    assert load(f"version: 1\n{keys}\ncommands: []\n").has_page is has_page


def test_the_bot_of_a_run_makes_two_listings_one(load: Load) -> None:
    text = "version: 1\nlistings: [{service: discordbotlist.com}, "
    text += "{service: discordbotlist.com, bot: 42}]\ncommands: []\n"
    listings = load(text).listings

    assert same_listing_problems([(listings, "")]) == ()
    assert same_listing_problems([(listings, "43")]) == ()
    assert len(same_listing_problems([(listings, "42")])) == 1


def test_the_words_for_losses_are_those_of_services() -> None:
    assert get_args(Loss) == (*Resource.COMMAND.fields, OPTIONS, TRANSLATIONS, COMMANDS, SYNC)


@pytest.mark.parametrize(
    "spelled",
    [
        "https://list.example/a//b/commands",
        "https://list.example/x/../a/./b/commands",
        "https://list.example/a/%62/%63ommands",
        "https://LIST.EXAMPLE/a/b/commands",
        "https://list.example/a/b/commands?",
        "https://list.example/%2e%2E/a/b/commands",
    ],
)
def test_a_url_has_one_spelling_and_two_entries_with_it_are_one(load: Load, spelled: str) -> None:
    text = "{{service: {}, replace: {{method: POST, url: '{}', fields: {{name: name}}}}}}"
    entries = [text.format("one", "https://list.example/a/b/commands"), text.format("two", spelled)]

    with pytest.raises(ManifestError, match='duplicate listing "two"'):
        load(f"version: 1\nbot: 42\ncommands: []\nlistings: [{', '.join(entries)}]\n")
    (listing,) = load(f"version: 1\ncommands: []\nlistings: [{entries[1]}]\n").listings
    assert listing.replace
    assert listing.replace.url == "https://list.example/a/b/commands"


def of_bot(name: str, url: str, bot: str = "") -> str:
    replaced = {
        "method": "POST",
        "url": url,
        "authorization": "{token}",
        "fields": {"name": "name"},
    }
    variable = f"COMMANDSYNC_TOKEN_{name.upper()}"
    own = {"bot": bot} if bot else {}
    return json.dumps({"service": name, "token_env": variable, **own, "replace": replaced})


@pytest.mark.parametrize("bot", ["", "43"])
@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("query", ["/{bot}/commands", "?bot={bot}"])
def test_an_id_that_is_written_out_names_the_bot(
    load: Load, bot: str, query: str, *, is_first: bool
) -> None:
    url = f"https://list.example/api{query}"
    entries = [of_bot("one", url, bot), of_bot("two", url.replace("{bot}", bot or "42"))]
    if not is_first:
        entries.reverse()

    with pytest.raises(ManifestError, match='duplicate listing "'):
        load(f"version: 1\nbot: 42\ncommands: []\nlistings: [{', '.join(entries)}]\n")


def test_the_identity_of_a_list_is_the_same_with_the_id_and_with_its_place(load: Load) -> None:
    url = "https://list.example/api/{bot}/commands"
    texts = (of_bot("one", url), of_bot("one", url.replace("{bot}", "42")))
    head = "version: 1\nbot: 42\ncommands: []\n"
    lists = [load(f"{head}listings: [{text}]\n").listings[0] for text in texts]

    assert len({each.identity("42") for each in lists}) == 1
    assert lists[1].identity("43") != lists[0].identity("43")


def test_two_tokens_are_two_lists_where_no_url_names_the_bot(load: Load) -> None:
    url = "https://list.example/api/4242/commands"
    text = f"listings: [{of_bot('one', url)}, {of_bot('two', url)}]"

    assert len(load(f"version: 1\nbot: 42\ncommands: []\n{text}\n").listings) == 2


@pytest.mark.parametrize("path", ["/%", "/%4", "/%zz", "/a%2", "/?a=%"])
def test_an_unfinished_escape_is_not_a_url(load: Load, path: str) -> None:
    entry = of_bot("one", f"https://list.example{path}")

    with pytest.raises(ManifestError, match="url must look like"):
        load(f"version: 1\ncommands: []\nlistings: [{entry}]\n")


def test_spaces_around_a_language_and_its_file_do_not_count(load: Load) -> None:
    languages = "{' de ': ' none '}"
    text = f"listings: [{{service: telegram, languages: {languages}}}]"
    listings = load(f"version: 1\ncommands: []\n{text}\n").listings

    texts = {each.audience: each.texts for each in listings}
    assert texts == {Audience("default", ""): {}, Audience("default", "de"): None}


@pytest.mark.parametrize("keys", ["{}", "listings: [{{service: top.gg, {}}}]"])
def test_the_name_of_a_variable_has_no_spaces_around_it(load: Load, keys: str) -> None:
    text = keys.format("token_env: ' COMMANDSYNC_A '")

    with pytest.raises(ManifestError, match="token_env must look like"):
        load(f"version: 1\ncommands: []\n{text}\n")
