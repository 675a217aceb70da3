"""What users notice, as sentences: the wording, the order, and no foreign text that acts."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync.plan.differences import UserChanges, user_changes
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import Resource
from commandsync.report.lines import Screen
from commandsync.report.usersentences import sentence_list, text
from tests.support.plans import UNTRUSTED, command, commands

COLOR = Screen(color=True)
OLD = [
    command("h", syntax="/h [command]"),
    command("ban", syntax="/ban <user> [reason]", category="Moderation"),
    command("kick"),
    command("purge"),
    command("roll", syntax="/roll [dice]"),
    command("volume", syntax="/volume <0-200>"),
    command("facts", "Says a fact.", category="Fun"),
    command("afk", syntax=".afk"),
    command("vote"),
]
NEW = [
    command("help", syntax="/help [command]", formerly=("h",)),
    command("play", "Plays music.", syntax="/play <song>"),
    command("queue", "Shows what plays next.", syntax="/queue"),
    command("skip", "Plays the next song.", syntax="/skip"),
    command("ban", syntax="/ban <user> <reason>", category="Staff"),
    command("roll", syntax="/roll [dice] [sides]"),
    command("volume", syntax="/volume <percent>"),
    command("facts", "Tells a fact."),
    command("afk", syntax="/afk"),
    command("vote"),
]


def between(old: Sequence[Entry], new: Sequence[Entry]) -> UserChanges:
    old, new = ([Entry(e.text, formerly=e.formerly) for e in side] for side in (old, new))
    return user_changes(
        old=Snapshot({Resource.COMMAND: tuple(old)}), new=Snapshot({Resource.COMMAND: tuple(new)})
    )


def test_the_wording_of_the_text(golden: Callable[[str, str], None]) -> None:
    golden(text(between(OLD, NEW)), "changes.text")


def test_the_wording_of_the_markdown(golden: Callable[[str, str], None]) -> None:
    golden(sentence_list(between(OLD, NEW)), "changes.markdown")


def test_without_a_change_the_text_says_so_and_the_markdown_is_empty() -> None:
    changes = between(OLD, OLD)

    assert sentence_list(changes) == ""
    assert text(changes) == "No change that users notice.\n"


def test_without_a_breaking_change_only_the_others_are_told() -> None:
    assert text(between([], [command("play")])).splitlines() == [
        "Other changes:",
        "  - New: /play.",
        "",
        "1 command with changes that users notice, none breaking.",
    ]


def test_a_terminal_marks_the_headings_and_quiet_prints_the_last_line() -> None:
    changes = between(OLD, NEW)

    assert "\x1b[31mBreaking:" in text(changes, screen=COLOR)
    assert text(changes, screen=Screen(quiet=True)) == text(changes).splitlines()[-1] + "\n"


def test_commands_with_the_same_new_prefix_are_told_together() -> None:
    old = [command(name, syntax=f"!{name}") for name in ("ban", "kick", "mute")]
    new = [command(name, syntax=f"/{name}") for name in ("ban", "kick", "mute")]

    assert sentence_list(between(old, new)) == (
        "- **Breaking**: Now with `/` instead of `!`: `/ban`, `/kick` and `/mute`.\n"
    )
    assert (
        sentence_list(between(old[:1], new[:1])) == "- **Breaking**: `!ban` is now called `/ban`.\n"
    )


def test_a_syntax_that_shows_another_prefix_only_now_is_another_usage() -> None:
    changes = between([command("ban", syntax="ban")], [command("ban", syntax="/ban")])

    assert sentence_list(changes) == "- `/ban` is used differently now: `/ban`, before: `ban`.\n"


def test_of_many_names_and_sentences_the_rest_is_a_number() -> None:
    changes = between(
        [command("a", "Old."), command("b", syntax="/b <x>")],
        [command("a"), command("b", syntax="/b <y>"), *(command(f"n{n}") for n in range(5))],
    )

    assert sentence_list(changes, most=2).splitlines() == [
        "- New: `/n0`, `/n1` and 3 more.",
        "- `/b` is used differently now: `/b <y>`, before: `/b <x>`.",
        "- and 1 more",
    ]


def test_texts_that_look_the_same_are_spelt_out() -> None:
    changes = between(
        [command("é", id="")], [command("e\u0301", formerly=("é",), syntax="/e\u0301")]
    )

    assert r"`/\xe9` is now called `/e\u0301`" in sentence_list(changes)


def test_a_name_without_a_prefix_is_in_quotes_and_a_long_one_is_cut() -> None:
    changes = between([], [command("tic tac toe", syntax="<x>"), command("x" * 120, syntax="<x>")])

    assert '"tic tac toe" and "' in text(changes)
    assert "40 more characters" in text(changes)
    assert "x" * 120 in text(changes, screen=Screen(full=True))


@settings(max_examples=20)
@given(st.lists(commands.map(Entry), max_size=3), st.lists(commands.map(Entry), max_size=3))
def test_no_line_is_a_command_to_a_runner(old: list[Entry], new: list[Entry]) -> None:
    changes = between(old, new)

    for line in text(changes).splitlines():
        assert re.match(
            r"  - |Breaking:$|Other changes:$|\d+ commands? with|No change|No change that|$", line
        )
    for line in sentence_list(changes).splitlines():
        assert line.startswith("- ")
    for shown in (text(changes, screen=Screen(full=True)), sentence_list(changes)):
        assert not re.search(r"##\w*\[|\x1b|\u202e|[\r\x00-\x09]", shown)


CALLS = st.sampled_from(["afk", "ban", "help", "kick"])
LEADS = st.sampled_from(["/", "!"])
SIMPLE = st.lists(
    st.builds(
        lambda name, lead, arguments, *texts: command(
            name, texts[0], syntax=f"{lead}{name}{arguments}", category=texts[1]
        ),
        CALLS,
        LEADS,
        st.sampled_from(["", " <a>", " [a]"]),
        st.sampled_from(["Old.", "New."]),
        st.sampled_from(["", "Fun"]),
    ),
    max_size=6,
)


def call(entry: Entry) -> str:
    """Return what users type, up to the first space."""
    return str(entry.text._asdict()["syntax"]).partition(" ")[0]


def names_in(sentences: list[str], pattern: str) -> list[str]:
    """Return the names in sentences of a form."""
    matches = (re.fullmatch(pattern, sentence) for sentence in sentences)
    return [name for match in matches if match for name in re.findall("`([^`]*)`", match[1])]


@given(SIMPLE, SIMPLE)
def test_the_sentences_lead_to_the_new_commands(old: list[Entry], new: list[Entry]) -> None:
    changes = between(old, new)
    sentences = [
        line.removeprefix("- ").removeprefix("**Breaking**: ")
        for line in sentence_list(changes).splitlines()
    ]
    called = names_in(sentences, "(.*) is now called .*")
    with_lead = names_in(sentences, "Now with .* instead of .*?: (.*)")
    lead = {"!": "/", "/": "!"}

    calls = Counter(call(entry) for entry in old)
    calls.subtract(names_in(sentences, "Gone: (.*)"))
    calls.subtract(called + [lead[name[0]] + name[1:] for name in with_lead])
    calls.update(with_lead + names_in(sentences, ".* is now called (.*)"))
    calls.update(names_in(sentences, "New: (.*)"))
    assert +calls == Counter(call(entry) for entry in new)
    described = [each.after for each in changes.changed if each.differs("description")]
    assert names_in(sentences, "New description: (.*)") == [
        text.syntax.split()[0] for text in described
    ]
    used = [
        each.after for each in changes.changed if each.before.syntax[1:] != each.after.syntax[1:]
    ]
    mentioned = names_in(sentences, "(`[^`]*`) (?:needs|is used differently) .*")
    assert sorted(mentioned) == sorted(text.syntax.split()[0] for text in used)


def test_foreign_text_is_in_code_spans_in_markdown() -> None:
    changes = between(
        [command(name, "Old.", syntax="/x") for name in UNTRUSTED],
        [command(name, syntax=f"/x <{name}>", category=name) for name in UNTRUSTED],
    )

    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", sentence_list(changes))
    assert set(re.findall(r"\w+", outside)) <= {
        *("Breaking", "needs", "now", "and", "New", "description", "Now", "in", "the", "category"),
        *("is", "used", "differently", "before", "empty"),
    }
