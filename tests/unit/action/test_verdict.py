"""The verdict of a run, and what it looks like in the summary and the comment."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser

import cmarkgfm  # type: ignore[import-untyped]  # it has no types
import pytest
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]  # as above

from commandsync.action import verdict
from commandsync.action.reporter import comment_body
from commandsync.action.step import INPUTS
from commandsync.action.verdict import of_plans
from commandsync.apply.check import plan_refusal
from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.diagnostics import Location, Notice
from commandsync.errors import (
    CommandsyncError,
    Forbidden,
    ListingError,
    RateLimited,
    Reply,
    StalePlanError,
)
from commandsync.plan.differences import user_changes
from commandsync.plan.plan import RecordPlan, make_plan
from commandsync.plan.rules import SyncRules, parse_delete_limit
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.report import render_plans, render_results
from commandsync.report.github import page
from commandsync.report.lines import Screen, visible
from commandsync.report.usersentences import sentence_list
from tests.support.plans import UNTRUSTED, announcement, command, plan_of
from tests.support.runs import EVERYTHING, TARGET, wanted
from tests.support.runs import command as text_of

REPLY = Reply(429, b"")
PLAN = make_plan(
    desired=wanted([text_of("help")]), listed=wanted([]), target=TARGET, rules=EVERYTHING
)


def failed(cause: ListingError | None) -> Result:
    settled = Settled(PLAN.changes[0], Outcome.FAILED, "no", cause=cause)
    return Result(plan=PLAN, settled=(settled,), verified=False)


def test_a_plan_that_no_longer_fits_is_stale() -> None:
    found = verdict.of_plans([PLAN], fail_on_changes=False, refusals=[StalePlanError("moved")])

    assert (found.word, found.reason, found.code) == ("failed", "stale", 5)


def test_the_gravest_of_several_failures_gives_the_reason() -> None:
    errors = [RateLimited("slow down", reply=REPLY), StalePlanError("moved"), CommandsyncError("x")]
    found = verdict.of_plans([PLAN, *errors], fail_on_changes=True)

    assert (found.reason, found.code, found.changed) == ("stale", 5, True)


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        (Forbidden("no", reply=REPLY), "auth"),
        (RateLimited("slow", reply=REPLY), "rate-limited"),
        (None, "incomplete"),
    ],
)
def test_without_writes_the_first_cause_counts(cause: ListingError | None, reason: str) -> None:
    assert verdict.of_results([failed(cause)], code=1).reason == reason


def test_what_was_written_in_part_is_incomplete_whatever_the_cause() -> None:
    touched = replace(failed(Forbidden("no", reply=REPLY)), touched=True)

    assert verdict.of_results([touched], code=6).reason == "incomplete"


def test_a_failure_without_a_word_of_its_own_is_incomplete() -> None:
    assert verdict.of_error(CommandsyncError("x")).reason == "incomplete"


RUN = "https://github.com/octo/bots/actions/runs/4211"
ALLOWED = SyncRules(announcements="mirror", max_deletes=parse_delete_limit("all"))
OURS = {"a", "code", "details", "em", "h2", "h3", "h4", "p", "pre", "strong", "summary"}
TABLES = {"br", "table", "tbody", "td", "th", "thead", "tr"}
LONG = "Plays a song. " * 20 + "\n</details>\n```\n<img src=x>\n"


@dataclass
class Shown(HTMLParser):
    """What a page shows: text outside of code, texts in code, links, and hidden comments."""

    tags: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    outside: str = ""
    codes: list[tuple[str, bool]] = field(default_factory=list)
    links: set[str | None] = field(default_factory=set)
    hidden: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "br":  # it has no end
            return
        self.open.append(tag)
        if tag == "code":
            self.codes.append(("", "details" in self.open))
        if tag == "a":
            self.links.add(dict(attrs)["href"])

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "code" in self.open:
            self.codes[-1] = (self.codes[-1][0] + data, self.codes[-1][1])
        else:
            self.outside += data

    def handle_comment(self, data: str) -> None:
        self.hidden.append(data)


def shown(body: str) -> Shown:
    """Render a comment, with the HTML in it, and read it."""
    html = cmarkgfm.github_flavored_markdown_to_html(body, Options.CMARK_OPT_UNSAFE)
    parser = Shown()
    parser.feed(html)
    parser.close()
    assert not parser.open
    return parser


def body_of(markdown: str) -> str:
    """Return the comment of a run, as the Action writes it."""
    notes = [f"Commit {'a' * 40}, [run]({RUN})"]
    text = page(markdown, label=UNTRUSTED[7], notes=notes)
    return comment_body(text, key="0" * 20, run_url=RUN)


@pytest.fixture
def untrusted() -> RecordPlan:
    """A plan with an untrusted text in every field of every change."""
    texts = [text.strip() for text in UNTRUSTED]
    news = [announcement(text, text, line=90 + n) for n, text in enumerate(texts[:3])]
    return plan_of(
        [
            *(
                command(text, text, syntax=text, category=text, line=n + 1)
                for n, text in enumerate(texts)
            ),
            command("edited", LONG, category=texts[8], line=80),
            command("added", LONG, line=81),
            *news,
        ],
        [
            *(
                command(f"gone {n} {text}", text, id=f"{n}-->", uses=n)
                for n, text in enumerate(texts)
            ),
            command("edited", "Was short.", syntax=texts[9], id="e"),
            *(announcement(text, "Was.", id=f"a{n}") for n, text in enumerate(texts[:3])),
        ],
        rules=ALLOWED,
        notices=[Notice(text, text) for text in texts],
    )


def test_untrusted_texts_are_text(
    golden: Callable[[str, str], None], untrusted: RecordPlan
) -> None:
    body = body_of(render_plans([untrusted], format="markdown"))
    read = shown(body)

    golden(body.partition("\n")[2], "comment.markdown")
    assert set(read.tags) <= OURS | TABLES
    assert read.links == {RUN}
    assert [text.partition(":")[0] for text in read.hidden] == [" commandsync"]
    assert re.fullmatch(r"[\w\s#:.,()-]*", read.outside)
    codes = [text for text, _ in read.codes]
    assert all(any(visible(text.strip()) in code for code in codes) for text in UNTRUSTED)


def test_what_users_notice_of_untrusted_texts_is_text() -> None:
    old = [command(f"x{n}", text, syntax=f"/x {text}") for n, text in enumerate(UNTRUSTED)]
    new = [
        command(text, syntax=f"/x <{text}>", category=text, formerly=(f"x{n}",))
        for n, text in enumerate(UNTRUSTED)
    ]
    changes = user_changes(
        old=Snapshot({Resource.COMMAND: tuple(old)}), new=Snapshot({Resource.COMMAND: tuple(new)})
    )
    read = shown(body_of(sentence_list(changes)))

    assert set(read.tags) <= OURS | {"ul", "li"}
    assert read.links == {RUN}
    assert len(read.hidden) == 1
    assert re.fullmatch(r"[\w\s#:.,()-]*", read.outside)
    codes = [text for text, _ in read.codes]
    assert all(any(visible(text.strip()) in each for each in codes) for text in UNTRUSTED)


def test_after_apply_a_comment_shows_what_it_was_and_what_it_is(
    golden: Callable[[str, str], None], untrusted: RecordPlan
) -> None:
    ends = [Outcome.DONE, Outcome.FAILED, Outcome.DONE, Outcome.SKIPPED]
    settled = tuple(
        Settled(change, ends[n % len(ends)], "" if n % 2 == 0 else UNTRUSTED[n % 9], UNTRUSTED[8])
        for n, change in enumerate(untrusted.changes)
    )
    result = Result(plan=untrusted, settled=settled, verified=False, touched=True)
    body = body_of(render_results([result], format="markdown"))
    read = shown(body)

    golden(body.partition("\n")[2], "comment-applied.markdown")
    assert set(read.tags) <= OURS | TABLES
    assert read.links == {RUN}
    assert re.fullmatch(r"[\w\s#:.,()-]*", read.outside)


def test_a_comment_shows_renames_and_refusals(golden: Callable[[str, str], None]) -> None:
    files = f"https://github.com/octo/bots/blob/{'a' * 40}"
    desired = [
        command("clear", "Clears\nmessages.", line=8, formerly=("purge",)),
        *(command(f"kept-{n}", line=20 + n) for n in range(3)),
        command("skip", "Skips. " * 40, line=30),
    ]
    listed = [
        command("purge", "Purges.", id="1", uses=12),
        *(command(f"kept-{n}", id=f"k{n}") for n in range(3)),
        *(command(name, f"{name} it. " * 40, id=name, uses=3) for name in ("ours", "theirs")),
    ]
    at = Location("my commands/[a](b).yaml", 3, 1)
    desired[1] = replace(command("kept-0", category="Fun"), location=at)
    plan = plan_of(desired, listed)
    versions = [Snapshot({Resource.COMMAND: (command("ours", "ours it. " * 40),)})]
    error = plan_refusal(
        plan, listed=Snapshot({Resource.COMMAND: tuple(listed)}), token=None, versions=[*versions]
    )
    assert error is not None
    outcome = of_plans(
        [plan], Screen(words=INPUTS, files=files), fail_on_changes=False, refusals=[error]
    )
    body = body_of(outcome.markdown)
    read = shown(body)

    golden(body.partition("\n")[2], "comment-refused.markdown")
    assert set(read.tags) <= OURS | TABLES
    assert read.links == {
        RUN,
        *(f"{files}/commands.yaml#L{line}" for line in (8, 30)),
        f"{files}/my%20commands/%5Ba%5D%28b%29.yaml#L3",
    }


def test_fifteen_hundred_adds_leave_every_delete_and_edit_visible() -> None:
    added = [command(f"new-{n}", "Is new.", category="Fun", line=n + 1) for n in range(1_500)]
    edited = [command(f"edited-{n}", "New.", line=2_000 + n) for n in range(20)]
    plan = plan_of(
        [*added, *edited],
        [
            *(command(f"gone-{n}", id=f"g{n}", uses=n) for n in range(150)),
            *(command(f"edited-{n}", "Old.", id=f"e{n}") for n in range(20)),
        ],
        rules=ALLOWED,
    )
    body = body_of(render_plans([plan], format="markdown"))
    read = shown(body)

    unfolded = {text for text, folded in read.codes if not folded}
    assert len(body) < 65_536
    assert {f"gone-{n}" for n in range(150)} | {f"edited-{n}" for n in range(20)} <= unfolded
    assert ("new-0", True) in read.codes
    assert "Add (1,500)" in read.outside
    assert "Cut here." in read.outside
