import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.diagnostics import Location
from commandsync.plan.plan import RecordPlan
from commandsync.report import render_plans
from commandsync.report.markdown import place
from tests.support.plans import command, plan_of, plans
from tests.support.registered import untrusted_plans


def test_bars_and_backticks_stay_inside_their_cell() -> None:
    plan = plan_of([command("a`b|c", "@everyone <b> #1", line=1)])

    assert (
        "| ``a`b\\|c`` | `commands.yaml:1:5` | `@everyone <b> #1` | ``/a`b\\|c`` |"
        in render_plans([plan], format="markdown")
    )


def test_long_texts_stand_below_the_table_in_a_fence_that_holds() -> None:
    plan = plan_of([command("a", "One\n```\ntwo")], [command("a", "One\n```\nthree", id="1")])

    assert render_plans([plan], format="markdown").endswith(
        "| `a` |  | description | *see below* | *see below* |\n"
        "\n"
        "`a`, description:\n"
        "\n"
        "````diff\n"
        "│ ```\n"
        "- three\n"
        "+ two\n"
        "````\n"
    )


def test_every_field_that_is_added_is_shown_whole() -> None:
    name, text = "n" * 120, "Plays a song. " * 20
    shown = render_plans(
        [plan_of([command(name, text, category="Music", line=1)])], format="markdown"
    )

    assert f"\n+ {name}\n" in shown
    assert f"\n+ {text.rstrip(' ')}" in shown
    assert f"| *see below* | `/{name}` | `Music` |" in shown


def test_long_texts_are_folded_and_whole() -> None:
    lines = [f"{number} {'x' * 2_000}" for number in range(99)]
    old, new = ("\n".join([first, *lines]) for first in ("Old", "New"))
    desired = [command("add", new), command("edit", "\n".join(reversed(lines)))]
    listed = [command("edit", old, id="1"), command("delete", old, id="2")]
    shown = render_plans([plan_of(desired, listed)], format="markdown")

    _, deleted, edited, added = shown.split("#### ")
    for section, sign, texts in (
        (deleted, "-", ["Old", *lines]),
        (edited, "-", ["Old", *lines[:-1]]),
        (added, "+", ["New", *lines]),
    ):
        folded = section.partition("<details>\n<summary>1 long text</summary>\n")[2]
        assert all(f"\n{sign} {text}\n" in folded for text in texts)


def test_a_rename_is_one_row_that_says_what_is_kept() -> None:
    name = "c" * 120
    desired = [command(name, "Clears.", line=8, formerly=("purge",))]
    listed = [command("purge", "Purges.", syntax=f"/{name}", id="2")]
    shown = render_plans([plan_of(desired, listed)], format="markdown")

    cut_name = f"{'c' * 80}… (40 more characters)"
    renamed = shown.partition("#### Rename (1)\n")[2]
    (row,) = renamed.splitlines()[3:4]
    change = "description: `Purges.` → `Clears.`"
    assert row == f"| `purge` | `{cut_name}` | kept | `commands.yaml:8:5` | {change} |"
    assert f"\n+ {name}\n" in renamed


def test_the_changed_part_of_a_long_text_is_shown_whole() -> None:
    old, new = ("The same. " * 30 + part * 60 for part in ("old ", "new "))
    plan = plan_of([command("a", new)], [command("a", old, id="1")])
    shown = render_plans([plan], format="markdown")

    assert "old " * 59 in shown
    assert "new " * 59 in shown


def test_long_tables_are_folded_unless_they_delete_something() -> None:
    many = [command(f"new-{n}") for n in range(30)]
    gone = [command(f"gone-{n}", id=f"{n}") for n in range(30)]
    shown = render_plans([plan_of(many, gone)], format="markdown")

    deleted, _, added = shown.partition("#### Add (30)\n")
    assert "details" not in deleted
    assert added.startswith("\n<details>\n<summary>30 rows</summary>\n\n| Name |")
    assert added.endswith("|\n\n</details>\n")


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("./bots/a b.yaml", "https://host.example/x/bots/a%20b.yaml#L3"),
        ("../outside.yaml", ""),
        ("/tmp/outside.yaml", ""),  # noqa: S108 - it is only named
    ],
)
def test_a_place_links_to_its_line_in_the_folder(path: str, url: str) -> None:
    shown = place(Location(path, 3, 5), "https://host.example/x")

    assert shown == (f"[`{path}:3:5`]({url})" if url else f"`{path}:3:5`")


@given(st.one_of(plans(), untrusted_plans()))
def test_nothing_foreign_stands_outside_of_code(plan: RecordPlan) -> None:
    shown = render_plans([plan], format="markdown")
    outside = re.sub(r"(?ms)^(`{3,})\w+\n.*?^\1$", "", shown)
    own = re.sub(r"(?<!`)(`+)(?!`)(?:.*?[^`])\1(?!`)", "", outside)
    own = re.sub(r"(?m)^(<details>|<summary>[\d,]+ \w+( \w+)?</summary>|</details>)$", "", own)

    assert not set(own) & set("@<[!\\")
    assert re.fullmatch(r"[A-Za-z0-9#:.,;→*|() \n-]*", own)
    assert not any(line.lstrip().startswith("::") for line in shown.splitlines())
    assert not re.search(r"##\w*\[", shown)
    for table in re.findall(r"(?m)(?:^\|.*\n)+", outside):
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1


def test_a_notice_needs_no_hint_and_a_result_no_trouble(every_change: RecordPlan) -> None:
    plain = replace(every_change, notices=(replace(every_change.notices[0], hint=""),))

    assert " #`\n```\n\n#### Edit (1)\n" in render_plans([plain], format="markdown")
