"""A plain file has the values that its models would give; every other one is left to them."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.manifest.checks import ValidationContext
from commandsync.manifest.keys import (
    MANIFEST,
    CommandKeys,
    ImportKeys,
    ManifestKeys,
    imported_values,
    manifest_keys,
)
from commandsync.manifest.model import (
    CommandModel,
    ImportedCommandModel,
    ImportedPlaceModel,
    ImportModel,
    ManifestModel,
    SyncModel,
    keys_of,
)
from commandsync.manifest.nodes import Mapping, parse
from commandsync.manifest.source import (
    Allowance,
    FileProblems,
    Problems,
    Source,
    UnreadableError,
)
from commandsync.manifest.validation import validated, validated_import
from commandsync.records.texts import Resource

VALUES = st.sampled_from(
    [
        *["a", "0779", '"a"', "' a '", "~", '"~"', "off", '""', "''", "", "null", "1", '"1"', "…"],
        *["true", "True", "yes", "30%", "101%", "12", "all", "append", "mirror", "slash", "nsfw"],
        *["{prefix}a <b>", "'{prefix}a'", "'{{prefix}}a'", "/a", "a #b", "a # b", "“a”", "x*", "."],
        *["https://x.example/", "http://x", "COMMANDSYNC_TOKEN_A", "a/b.js", "é🎵", "'a\n\n  b'"],
        *["[a, b]", "[a, ~]", "[]", "[[a]]", "{a: b}", "{category: A}", "{category: ~}", "{}"],
        *["|-\n      a\n      b", "x" * 101, "'[x]*'", "&a b", "*a", "!t a", "{type: 1, name: a}"],
    ]
)
PLAIN_KEYS = {
    "version": ["1"],
    "name": ["Lantern"],
    "bot": ["'0779'"],
    "base_url": ["https://x.example"],
    "token_env": ["COMMANDSYNC_TOKEN_A"],
    "prefix": ['"/"', "c!"],
    "defaults": ["{category: General}", "{}"],
    "include": ["[a/*.yaml]", "a.yaml"],
    "sync": ["{prune: false, ignore: x*, max_deletes: 30%, announcements: mirror}"],
    "import": ["{from: [src], exclude: a, order: [b], locale: de, unread: x, program: y}"],
    "listings": [
        "[]",
        "[{service: discord, bot: 7, guild: 8, token_env: COMMANDSYNC_TOKEN_A}]",
        "[{service: top.gg, lossy: [category, sync], prefix_commands: send, limits: {names: a-z}}]",
        (
            "\n- service: telegram\n  base_url: https://x.example/\n  scopes: [default]\n"
            "  languages: {de: a.yaml, fr: none}\n- service: own\n  replace:\n    method: PUT\n"
            "    url: https://x.example//a/{bot}\n    authorization: Bearer {token}\n    wrap: a\n"
            "    fields: {n: name}\n    limits: {name: 7}\n"
            "    read: {url: https://x.example/b, list: a.b, keep: [id], absent: empty}"
        ),
    ],
    "commands": [
        "[]",
        "[{name: a, description: b, syntax: '{prefix}a', category: '', formerly: [c], id: d}]",
        "\n- name: a\n- name: b",
    ],
}
"""Values of every key of a plain manifest."""


class Read(NamedTuple):
    """A file as nodes."""

    report: FileProblems
    root: Mapping
    context: ValidationContext


def read(text: str) -> Read | None:
    """Parse a text; None if it is not keys and values."""
    report = FileProblems(Source("x.yaml", text), Problems())
    root = parse(report, Allowance()).root
    if not isinstance(root, Mapping) or report.problems.errors:
        return None
    return Read(report, root, ValidationContext(text, "prefix" in root, [], "import" in root))


def entries_of(keys: list[str], values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return the texts of lists of entries with some of the keys."""
    pairs = st.lists(
        st.tuples(st.sampled_from(keys), values), min_size=1, max_size=6, unique_by=lambda p: p[0]
    )
    entry = pairs.map(lambda pairs: "\n    ".join(f"{key}: {value}" for key, value in pairs))
    return st.lists(entry, max_size=3).map(
        lambda entries: "".join(f"\n  - {entry}" for entry in entries)
    )


def table_of(keys: list[str]) -> st.SearchStrategy[str]:
    """Return the texts of tables with some of the keys."""
    pairs = st.lists(st.tuples(st.sampled_from(keys), VALUES), max_size=4, unique_by=lambda p: p[0])
    return pairs.map(lambda pairs: "".join(f"\n  {key}: {value}" for key, value in pairs))


URLS = ["https://x.example/a", '"https://X.example//a/../{bot}?%7e=%2F"', "http://x/", "a.b/c"]
LIMITS = ["{name: 7, commands: 08}", "{names: a-z}", "{names: z-a}", "{name: a-z}", "{nam: 1}"]
OF_LISTINGS = {
    "listing": {
        "service": ["top.gg", "telegram", "' discord '", "own", "7", "a/b"],
        "bot": ["'0779'", "7"],
        "guild": ["613", "' 613 '", "x"],
        "base_url": ["https://X.example/", "http://127.0.0.1:8", "https://x.example/a"],
        "token_env": ["COMMANDSYNC_A", "' COMMANDSYNC_A '", "A"],
        "lossy": ["category", "[options, 'sync']", "[~]", "fields"],
        "prefix_commands": ["omit", '"send"', "[send]"],
        "replace": ["{method: PUT, url: 'https://x.example/a'}", "{method: PUT}"],
        "scopes": ["default", "[all_private_chats, default]", "chat"],
        "languages": ["{de: a.yaml, ' fr ': ' none '}", "{deu: a}", "{de: ~}", "{DE: a}"],
        "limits": LIMITS,
    },
    "replace": {
        "method": ["PUT", "'POST'", "PATCH", "GET"],
        "url": URLS,
        "authorization": ['"Bearer {token}"', "'{token}{token}'", "Bearer"],
        "wrap": ["commands", "' a '", "'{token}'"],
        "fields": ["{n: name, ' o ': syntax}", "{n: syntax}", "{'{token}': name}", "{n: nam}"],
        "limits": LIMITS,
        "read": ["{url: 'https://x.example/a'}", "{list: a}"],
    },
    "read": {
        "url": URLS,
        "list": ["a.b", "'{token}'"],
        "keep": ["[id, ' x ']", "id"],
        "absent": ["error", "empty", "none"],
    },
}
"""Values of the keys of a listing, and of the tables in it; some are not valid."""

PLAIN_TABLES = {
    "listing": {"service": "own"},
    "replace": {"method": "PUT", "url": "'https://x.example/a'"},
    "read": {"url": "'https://x.example/a'"},
}


def listing_with(table: str, values: dict[str, str]) -> str:
    """Return the text of a listing with some values in itself or in one of its tables."""
    pairs = PLAIN_TABLES[table] | values
    text = "{" + ", ".join(f"{key}: {value}" for key, value in pairs.items()) + "}"
    above = {"replace": ("listing", "replace"), "read": ("replace", "read")}.get(table)
    return listing_with(above[0], {above[1]: text}) if above else text


OF_A_KEY = {
    "commands": entries_of([*keys_of(CommandModel), "nam"], VALUES),
    "sync": table_of(keys_of(SyncModel)),
    "import": table_of(keys_of(ImportModel)),
}
PLAIN = st.fixed_dictionaries(
    {"version": st.just("1")},
    optional={
        key: st.sampled_from(values) for key, values in PLAIN_KEYS.items() if key != "version"
    },
)


@st.composite
def files(draw: st.DrawFn) -> str:
    """Return a manifest that is plain, but for some of its keys."""
    pairs = draw(PLAIN)
    odd = draw(st.lists(st.sampled_from([*keys_of(ManifestModel), "comands"]), max_size=2))
    pairs |= {key: draw(OF_A_KEY.get(key, VALUES)) for key in odd}
    return "".join(f"{key}: {value}\n" for key, value in pairs.items())


def check_plain(text: str, *, included: bool = False) -> None:
    """Check that the values of a plain file are those of its model."""
    mine, other = read(text), read(text)
    if mine is None or other is None:
        return

    keys = manifest_keys(mine.root, mine.context, included=included)

    if keys is None:
        assert mine.context.cut == []
        return
    what = "an included file" if included else MANIFEST
    root, expected = validated(other.root, other.report, other.context, what=what, broken=False)
    assert not other.report.problems.errors
    assert (keys, mine.root) == (expected, root)
    cut = [sorted(node.at for node in each.context.cut) for each in (mine, other)]
    assert cut[0] == cut[1]


@given(files(), st.booleans())
def test_a_plain_manifest_is_as_its_model_reads_it(text: str, included: bool) -> None:  # noqa: FBT001 - drawn
    check_plain(text, included=included)


@pytest.mark.parametrize(
    ("table", "key"), [(t, key) for t in OF_LISTINGS for key in OF_LISTINGS[t]]
)
@given(st.data())
def test_each_key_of_a_plain_listing_is_as_its_model_reads_it(
    table: str, key: str, data: st.DataObject
) -> None:
    value = data.draw(st.sampled_from(OF_LISTINGS[table][key]) | VALUES)

    check_plain(f"version: 1\nlistings:\n- {listing_with(table, {key: value})}\n")


@given(st.data())
def test_a_plain_listing_is_as_its_model_reads_it(data: st.DataObject) -> None:
    table = data.draw(st.sampled_from([*OF_LISTINGS]))
    optional = {key: st.sampled_from(values) for key, values in OF_LISTINGS[table].items()}
    values = data.draw(st.fixed_dictionaries({}, optional=optional))

    check_plain(f"version: 1\nlistings:\n- {listing_with(table, values)}\n")


@pytest.mark.parametrize(("key", "value"), [(k, v) for k, vs in PLAIN_KEYS.items() for v in vs])
def test_texts_alone_need_no_model(key: str, value: str) -> None:
    pairs = {"version": "1", "prefix": "/", key: value}
    file = read("".join(f"{name}: {text}\n" for name, text in pairs.items()))

    assert file is not None
    assert manifest_keys(file.root, file.context, included=False) is not None


def test_what_is_left_out_has_the_default_of_its_model() -> None:
    file = read("version: 1\ncommands:\n- name: a\nimport: {}\n")

    assert file is not None
    _, keys = validated(file.root, file.report, file.context, what=MANIFEST, broken=False)
    entries = {Resource.COMMAND: (CommandKeys("a"),)}
    assert keys == ManifestKeys(imports=ImportKeys(), has_import=True, entries=entries)


IMPORTED = st.fixed_dictionaries(
    {"imported": st.sampled_from(["1", "1", "1", "2"])},
    optional={
        "commands": entries_of([*keys_of(ImportedCommandModel), "nam"], VALUES) | st.just("[]"),
        "unread": entries_of(keys_of(ImportedPlaceModel), VALUES),
        "gone": VALUES,
        "digest": VALUES,
    },
)


@given(IMPORTED)
def test_a_plain_imported_file_is_as_its_model_reads_it(pairs: dict[str, str]) -> None:
    text = "".join(f"{key}: {value}\n" for key, value in pairs.items())
    mine, other = read(text), read(text)
    if mine is None or other is None:
        return

    values = imported_values(mine.root, mine.context)

    try:
        expected = validated_import(other.root, other.report, other.context)
    except UnreadableError:
        assert values is None
        return
    assert values is None or values == expected


def test_an_imported_file_needs_no_model() -> None:
    file = read(
        "imported: 1\ncommands:\n- {name: a, description: b, syntax: /a, category: c, from: d,\n"
        "  formerly: [e], left_out: hidden, kept: true, recorded: true, source: f,\n"
        "  discord: {name: a, type: 1, options: [{type: 3, name: b}]}}\n"
        "unread:\n- {from: a, name: b, reason: c}\ngone: [x]\ndigest: y\n"
    )

    assert file is not None
    values = imported_values(file.root, file.context)
    assert values == validated_import(file.root, file.report, file.context)
