"""Text that steers terminals, hides or reverses is shown escaped and stored unchanged."""

import json
import re
import unicodedata
from base64 import b64encode
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync.manifest.dump import dump_manifest
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import CommandText, Resource, canonical
from tests.support.bots import Bot, Instead, Proxy, Service
from tests.support.home import Home
from tests.support.rawserver import Request
from tests.support.untrusted import FORMATS, harmless

ODD = [
    *(
        character
        for character in map(chr, (*range(0x20000), *range(0xE0000, 0xE1000)))  # no other has one
        if unicodedata.category(character) in {"Cc", "Cf", "Zl", "Zp", "Zs"}
    ),
    *(chr(last) for end in range(0xFFFF, 0x110000, 0x10000) for last in (end - 1, end)),
]
"""Every control, format, separating and never-assigned character; some of them are whitespace."""

TEXTS = {
    "ANSI": "\x1b[31mred\x1b]0;title\x07\x1b]8;;https://evil.example\x1b\\link\x9b2J",
    "overrides": "safe\u202egpj.exe\u2066isolated\u2069\u061c\u200f",
    "nothing to see": "a\u200b\u2060\ufeff\u00ad\u180eb",
    "runner": "x\n::set-output name=a::b\n  ::error::x\n##[group]y\n##vso[task.x]z",
    "markdown": "``` \n</details><!-- x --> | `a` | @everyone <img src=x onerror=y> [k](http://x)",
    "yaml": "- ? : # & * ! | > ' \" % @ ` {} [] , ~ null\n---\n...\n\t\\x\u2028\u2029\x85.",
    "carriage": "a\rb\r\rc\x0bd\x0ce",
    "long": "Is long. " * 2_200 + "\x00",
}


def records() -> list[dict[str, str]]:
    every = [ODD[start : start + 40] for start in range(0, len(ODD), 40)]
    texts = [("odd", "-".join(["|", *some, "|"])) for some in every]
    named = [*texts, *TEXTS.items()]
    plain = [
        {"name": f"n{number}", "description": f"{what} {text}", "syntax": "/x"}
        for number, (what, text) in enumerate(named)
    ]
    return [
        *plain,
        {
            "name": f"x{TEXTS['ANSI']}",
            "description": "d",
            "syntax": "s",
            "category": "a\x00\u202eb",
        },
        {"name": "x", "description": "d", "syntax": f"s{TEXTS['runner']}", "category": "##[x]"},
    ]


def said(bot: Bot) -> list[tuple[str, ...]]:
    names = ("name", "description", "syntax", "category")
    return [
        tuple((record.get(name) or "").replace("\r\n", "\n") for name in names)
        for record in bot.commands()
    ]


half = st.characters(categories=["Cs"])
halves = st.builds(
    lambda first, others: f"{first}x{first}{''.join(others)}",
    half,
    st.lists(half | st.characters(codec="ascii", categories=["L"]), max_size=11),
)
"""Texts with halves of surrogate pairs, and now and then a whole pair in two escapes."""


class Halves:
    """A service whose records hold halves of surrogate pairs.

    Attributes:
        listed: The commands by their id.
        encoding: Of its answers.
        sent: What was written to it.
    """

    def __init__(self, texts: list[str], encoding: str) -> None:
        self.listed = {
            str(number): {"name": text, "description": text, "syntax": text, text: text}
            for number, text in enumerate(texts)
        }
        self.encoding = encoding
        self.sent: list[dict[str, str]] = []

    def __call__(self, seen: Request) -> Instead:
        if seen.short == "GET commands":
            records = [{"id": key, **record} for key, record in self.listed.items()]
            escaped = self.encoding == "utf-8"
            text = json.dumps({"data": records}, ensure_ascii=escaped)
            return Instead(200, text.encode(self.encoding, "surrogatepass"))
        if seen.method == "DELETE":
            del self.listed[seen.path.rpartition("/")[2]]
        elif seen.writes:
            record = json.loads(seen.body.decode())
            self.sent.append(record)
            self.listed[record.pop("id")] = record
        return Instead(200, {"success": True, "data": []})


@pytest.fixture
def bot(service: Service, home: Home) -> Bot:
    return home.knows(service.bot(records()))


@pytest.mark.promise("text-unchanged")
def test_what_is_pulled_and_applied_is_equal(home: Home, bot: Bot, service: Service) -> None:
    assert home.run("pull", "--out", "commands.yaml").code == 0
    harmless(home.read("commands.yaml").replace("\t", " "), "text")
    assert home.run("plan", "--detailed-exitcode").code == 0
    home.write(home.read("commands.yaml").replace(f'bot: "{bot.id}"\n', ""))
    empty = home.knows(service.bot())

    applied = home.run("apply", "--yes", "--format", "json").document

    assert applied["verified"] is True
    assert said(empty) == said(bot)
    assert home.run("plan", "--detailed-exitcode").code == 0


@pytest.mark.usefixtures("bot")
def test_what_is_imported_is_equal_to_the_letter_and_shown_escaped(home: Home) -> None:
    home.write(json.dumps(records()), "list.json")

    imported = home.run("import", "list.json", exits=0)

    harmless(imported.out, "text")
    harmless(imported.err, "text")
    harmless(home.read("commands.imported.yaml").replace("\t", " "), "text")
    plan = home.run("plan", "--format", "json").document["summary"]
    assert (plan["edit"], plan["delete"], plan["unchanged"]) == (0, 0, len(records()))


@pytest.mark.promise("text-escaped")
@pytest.mark.parametrize("form", FORMATS)
def test_no_format_shows_it_raw(home: Home, bot: Bot, service: Service, form: str) -> None:
    home.run("pull", "--out", "commands.yaml")
    home.write(home.read("commands.yaml").replace(f'bot: "{bot.id}"\n', ""))
    home.knows(service.bot(["x", "y"]))
    home.write("version: 1\ncommands: []\n", "none.yaml")

    for ran in (
        home.run("plan", "--format", form),
        home.run("validate", "--format", form),
        home.run("doctor", "--format", form),
        home.run("apply", "--yes", "-vv", "--format", form),
        home.run("apply", "--yes", "--max-deletes", "all", "-v", "--format", form),
        home.run("plan", "-f", "none.yaml", "--format", form),
        home.run("apply", "--yes", "--max-deletes=all", "-v", "-fnone.yaml", "--format", form),
    ):
        harmless(ran.out, form)  # type: ignore[arg-type]  # one of FORMATS
        harmless(ran.err, "github" if form == "github" else "text")


@pytest.mark.parametrize("form", ["markdown", "html", "json"])
def test_no_list_in_documents_shows_it_raw(home: Home, form: str) -> None:
    # In names, syntaxes and categories too, at the beginning and within.
    parts = [*("-".join(ODD[n : n + 40]) for n in range(0, len(ODD), 40)), *TEXTS.values()]
    texts = [f"{lead}{part}" for part in parts for lead in ("", "x\n", "\n ::error::x\n##[y]")]
    rows = [Entry(CommandText(*[canonical(text)] * 4)) for text in texts]
    home.write(dump_manifest(Snapshot({Resource.COMMAND: tuple(rows)}), bot="", base_url="").text)

    ran = home.run("docs", "--format", form, exits=0)

    harmless(ran.out.replace("\t", " "), "text")
    harmless(ran.err, "text")
    tags = [character for character in ran.out if 0xE0000 <= ord(character) < 0xE0080]
    assert not tags
    if form == "html":
        (style,) = re.findall("<style>(.*)</style>", ran.out, re.DOTALL)
        digest = b64encode(sha256(style.encode()).digest()).decode()
        assert f"style-src 'sha256-{digest}'" in ran.out


def test_no_pulled_text_has_a_tag_raw(home: Home, service: Service) -> None:
    home.knows(service.bot([{"name": f"a{chr(0xE0041)}", "description": "d", "syntax": "s"}]))
    home.write("version: 1\ncommands: []\n")

    pulled = home.run("pull")
    home.run("apply", "--yes", "--max-deletes", "all", "--backup", "before.yaml")

    assert r"\U000E0041" in pulled.out
    assert chr(0xE0041) not in pulled.out + home.read("before.yaml")


@pytest.mark.parametrize("form", FORMATS)
def test_a_services_words_are_escaped(home: Home, bot: Bot, proxy: Proxy, form: str) -> None:
    words = "".join(TEXTS[what] for what in ("ANSI", "overrides", "nothing to see", "runner"))
    proxy.rule = lambda _: Instead(400, {"error": words})
    home.variable("COMMANDSYNC_BASE_URL", proxy.url)
    home.write("version: 1\ncommands: []\n")

    before = bot.everything()

    ran = home.run("plan", "--format", form, exits=1)

    assert "red" in ran.said
    assert bot.everything() == before
    harmless(ran.out, form)  # type: ignore[arg-type]  # one of FORMATS
    harmless(ran.err, "text")
    harmless(home.run("doctor").out, "text")


@pytest.mark.filterwarnings("ignore:Generating overly large repr")  # the fixtures hold whole lists
@settings(max_examples=3)
@given(
    # equal in what is read of them, they would be copies, which a manifest contains once
    texts=st.lists(
        halves,
        min_size=1,
        max_size=4,
        unique_by=lambda text: re.sub("[\ud800-\udfff]+", "\ufffd", text).casefold(),
    ),
    encoding=st.sampled_from(["utf-8", "utf-16", "utf-32"]),
)
def test_half_of_a_surrogate_pair_makes_no_listing_unreadable(
    home: Home, service: Service, proxy: Proxy, texts: list[str], encoding: str
) -> None:
    for left in home.path.glob("*.yaml"):  # of another bot
        left.unlink()
    home.knows(service.bot(), url=proxy.url)
    proxy.rule = halved = Halves(texts, encoding)
    before = dict(halved.listed)

    pulled = home.run("pull", "--pin", "--out", "commands.yaml", "--force")
    same = home.run("plan", "--detailed-exitcode")
    home.write(home.read("commands.yaml").replace("description: ", "description: New "), "new.yaml")
    edited = home.run("apply", "--yes", "-f", "new.yaml", "--backup", "b.yaml", "--force")
    home.write("version: 1\ncommands: []\n", "none.yaml")
    shown = [home.run("plan", "-f", "none.yaml", "--format", form) for form in FORMATS]
    listed = [home.run("pull", "--format", form) for form in ("text", "json")]
    gone = home.run("apply", "--yes", "--max-deletes", "all", "-f", "none.yaml")

    assert (pulled.code, same.code, edited.code) == (0, 0, 0), edited.said
    assert len(halved.sent) == len(before)
    assert {type(json.dumps(sent, ensure_ascii=False).encode()) for sent in halved.sent} == {bytes}
    assert {ran.code for ran in (*shown, *listed)} == {0}
    assert (gone.code, halved.listed) == (0, {})
    for form, ran in zip(FORMATS, shown, strict=True):
        harmless(ran.out, form)
    assert "\ufffd" in pulled.said + home.read("b.yaml")


def test_half_of_a_surrogate_pair_in_a_manifest_is_a_problem_at_its_place(home: Home) -> None:
    home.write('version: 1\ncommands:\n- {name: a, description: "\\ud800", syntax: c}\n')

    ran = home.run("validate", exits=4)

    assert ran.err.startswith("commands.yaml:3:")
