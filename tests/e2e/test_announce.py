"""`announce` prints an entry for the manifest, or posts it on the page."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync.manifest import load_manifests
from commandsync.records.texts import Resource, canonical
from tests.support.bots import Bot, Proxy, Service
from tests.support.home import Home, Ran
from tests.support.untrusted import harmless

TEXT = st.characters(exclude_categories=["Cs"]) | st.sampled_from("\r\n\t #:-{}[]\x1b\u202e")
MANIFEST = """\
version: 1
announcements:   # the newest last
  - title: 'v1.0 is out'
    description: News.   # short
"""
NOTES = "- Reminders, see [the guide](https://lantern.example/guide).\n- A list of them.\n"
ENTRY = """\
  - title: Version 1.2.0
    description: |-
      - Reminders, see [the guide](https://lantern.example/guide).
      - A list of them.
"""


@pytest.fixture
def bot(service: Service, home: Home, proxy: Proxy) -> Bot:
    home.write(MANIFEST)
    home.write(NOTES, "news.md")
    return home.knows(service.bot([], ["v1.0 is out"]), url=proxy.url)


def announced(home: Home, *options: str, title: str = "Version 1.2.0", code: int = 0) -> Ran:
    return home.run("announce", "--title", title, *options, exits=code)


def post(home: Home, *options: str, title: str = "Version 1.2.0", code: int = 0) -> Ran:
    where = ("--notes-file", "news.md", "--post", "--yes", *options)
    return announced(home, *where, title=title, code=code)


@pytest.mark.usefixtures("bot")
def test_the_entry_is_printed_and_nothing_is_written_or_sent(home: Home, proxy: Proxy) -> None:
    ran = announced(home, "--notes-file", "news.md")

    assert (ran.out, ran.err) == (ENTRY, "")
    assert home.read("commands.yaml") == MANIFEST
    assert proxy.requests == []


@pytest.mark.usefixtures("bot")
def test_a_pasted_entry_is_posted_by_the_next_apply(home: Home, bot: Bot) -> None:
    home.write(MANIFEST + announced(home, "--notes-file", "news.md").out)

    home.run("apply", "--yes", exits=0)

    assert [(each["title"], each["description"]) for each in bot.announcements()[1:]] == [
        ("Version 1.2.0", NOTES.strip())
    ]


def test_a_text_comes_from_an_option_or_standard_input_and_needs_no_manifest(home: Home) -> None:
    piped = home.run(
        *("announce", "--title", " Two\n lines ", "--notes-file", "-"),
        stdin=b"\xef\xbb\xbf- one\r\n- two\r\n",
    )

    assert announced(home, "--text", "News.").out == (
        "  - title: Version 1.2.0\n    description: News.\n"
    )
    assert piped.out.splitlines() == [
        *("  - title: Two lines", "    description: |-", "      - one", "      - two")
    ]


@settings(max_examples=max(20, settings().max_examples // 4))
@given(title=st.text(TEXT, max_size=40), text=st.text(TEXT, max_size=200))
def test_what_is_printed_loads_as_the_text_that_was_given(
    home: Home, title: str, text: str
) -> None:
    home.write(text.encode(), "text.md")

    ran = home.run("announce", f"--title={title}", "--notes-file", "text.md")

    harmless(ran.said, "text")
    wanted = (" ".join(title.split()), canonical(text.removeprefix("\ufeff")))
    if not all(wanted):
        assert ran.code == 2
        return
    assert ran.code == 0, ran.err
    added = f"version: 1\nannouncements:\n{ran.out}"
    (manifest,) = load_manifests(["-"], stdin=added.encode)
    (entry,) = manifest.snapshot.collections[Resource.ANNOUNCEMENT]
    assert entry.text == wanted


def test_an_announcement_is_posted_once_by_two_runs(home: Home, bot: Bot, proxy: Proxy) -> None:
    first, second = post(home), post(home)

    assert first.out.splitlines()[0].endswith("news.md")
    assert "Plan: 1 to add, 0 to edit, 0 to delete, 0 unchanged." in first.out
    assert "Apply: 1 done. Verified" in first.out
    assert "Plan: 0 to add, 0 to edit, 0 to delete, 1 unchanged." in second.out
    assert "not in" not in first.out
    assert len(proxy.writes) == 1
    assert [(each["title"], each["description"]) for each in bot.announcements()[1:]] == [
        ("Version 1.2.0", NOTES.strip())
    ]
    assert home.read("commands.yaml") == MANIFEST


def test_another_text_is_reported_and_not_posted(home: Home, bot: Bot, proxy: Proxy) -> None:
    bot.post("announcements", title="version 1.2.0", description="Reminders.")

    ran = post(home)

    assert "warning: an announcement titled 'Version 1.2.0'" in ran.out
    assert "Plan: 0 to add, 0 to edit, 0 to delete, 0 unchanged." in ran.out
    assert proxy.writes == []
    assert post(home, "-q", title="1.2.0: reminders").out.startswith("Apply: 1 done. ")
    assert bot.announcements()[-1]["title"] == "1.2.0: reminders"


@pytest.mark.usefixtures("bot")
def test_the_manifest_counts_when_an_announcement_is_posted(home: Home, proxy: Proxy) -> None:
    home.write(MANIFEST + "  - {title: Version 1.2.0, description: Other.}\n")
    other = post(home)
    home.write(MANIFEST.replace("version: 1", "version: 1\nsync: {announcements: mirror}"))
    mirrored = post(home, code=2)

    assert proxy.requests == []
    assert [other.out, *other.err.splitlines()] == [
        "",
        (
            "warning: commands.yaml:5:5: the manifest has another text for 'Version 1.2.0': "
            "nothing is posted"
        ),
        "  hint: edit it there, or give the announcement another title",
    ]
    assert mirrored.err.splitlines() == [
        "error: the next apply of commands.yaml would delete it: announcements are mirrored",
        "  hint: without --post it is printed for the manifest, and the next apply posts it",
    ]


def test_posting_needs_no_manifest(home: Home, bot: Bot) -> None:
    (home.path / "commands.yaml").unlink()

    post(home)

    assert [each["title"] for each in bot.announcements()] == ["v1.0 is out", "Version 1.2.0"]
    assert not (home.path / "commands.yaml").exists()


@pytest.mark.usefixtures("bot")
def test_off_a_terminal_a_post_wants_yes(home: Home, proxy: Proxy) -> None:
    ran = announced(home, "--notes-file", "news.md", "--post", code=2)

    assert "hint: --yes " in ran.err
    assert proxy.requests == []


@pytest.mark.promise("large-notes")
@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize(
    ("options", "code", "message", "hint"),
    [
        ("", 2, "announce takes one text", "give --text or --notes-file"),
        ("--text x --notes-file n", 2, "announce takes one text", "give --text or --notes-file"),
        (
            "--text=",
            2,
            "Invalid value for '--text': the text is empty",
            "see commandsync announce --help",
        ),
        (
            "--notes-file missing.md",
            1,
            "cannot read missing.md: no such file or directory",
            "check the path",
        ),
        ("--notes-file latin.md", 1, "latin.md is not UTF-8", "save it as UTF-8"),
        ("--notes-file empty.md", 2, "the announcement has no text", "write some"),
        (
            "--notes-file long.md",
            2,
            "the text has 2,001 characters; the limit is 2,000",
            "shorten it, and link to the rest",
        ),
        (
            "--notes-file huge.md",
            1,
            "huge.md is larger than 4,194,304 bytes",
            "is it the right file?",
        ),
        (
            "--notes-file - -f -",
            2,
            "standard input can be read only once",
            "give one of the two as a file",
        ),
        ("--text x --listing top.gg", 2, "--listing needs --post", "only the page is synced"),
        (
            "--text a-secret-of-discord",
            5,
            "an announcement contains a token, in its text",
            "remove the token where it is now, and renew it: others may have read it",
        ),
    ],
)
def test_what_cannot_be_announced_is_named_and_nothing_is_printed(
    home: Home, options: str, code: int, message: str, hint: str
) -> None:
    home.variable("DISCORD_TOKEN", "a-secret-of-discord")
    home.write("\n", "empty.md")
    home.write("x" * 2_001, "long.md")
    home.write("x" * 4_194_305, "huge.md")
    home.write(b"\xe4\n", "latin.md")

    ran = announced(home, *options.split(), code=code)

    assert ran.out == ""
    assert f"error: {message}\n  hint: {hint}" in ran.err


@pytest.mark.skipif(os.name != "posix", reason="Windows passes arguments as Unicode")
def test_a_title_in_another_encoding_is_refused(home: Home) -> None:
    ran = home.child("announce", "--title", "caf\udce9", "--text", "Open.")

    assert ran.code == 2
    assert "the title is not UTF-8" in ran.err
