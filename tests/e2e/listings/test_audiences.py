"""Telegram's lists by scope and language: each is planned, sent, verified and named by itself."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest

from tests.support.bots import Instead
from tests.support.destination import NAMES, Destination
from tests.support.home import git_repo
from tests.support.rawserver import Request

SCOPES = ("default", "all_private_chats", "all_group_chats")
ADMINISTRATORS = "all_chat_administrators"
LANGUAGES = ("de", "no")  # YAML reads the second one as a boolean
PAIRS = list(product(SCOPES, ("", *LANGUAGES)))
KEYS = [f"{scope} {language}".strip() for scope, language in PAIRS]
LISTED = [{"command": name, "description": f"Old {name}."} for name in NAMES[:4]]


def described(name: str, language: str = "") -> str:
    return f"{name} in {language or 'all languages'}"


def write(place: Destination, *, scopes: tuple[str, ...] = SCOPES, **languages: str) -> None:
    """Write a manifest with three commands, and a file for each language; `none` deletes a list."""
    texts = [(name, described(name)) for name in NAMES[:3]]
    files = {
        language: given if given == "none" else f"texts/{language}.yaml"
        for language, given in languages.items()
    }
    more = f"    scopes: {json.dumps(scopes)}\n" if scopes else ""
    place.write(*texts, more=more + (f"    languages: {json.dumps(files)}\n" if files else ""))
    for language, given in languages.items():
        lines = [f"{name}: {described(name, language)}{given}\n" for name in NAMES[:2]]
        place.home.write("".join(lines), f"texts/{language}.yaml")


def of_key(key: str, more: str = "") -> list[dict[str, str]]:
    """Return the list of a scope and language; the last command has no text in a language."""
    language = key.partition(" ")[2]
    texts = [described(name, language) + (more if language else "") for name in NAMES[:2]]
    texts.append(described(NAMES[2]))
    return [
        {"command": name, "description": text} for name, text in zip(NAMES[:3], texts, strict=True)
    ]


def results(ran: Any) -> dict[str, Any]:  # noqa: ANN401 - a run
    """Return the documents of a run by the names of their lists."""
    found = ran.document.get("results", [ran.document])
    return {" ".join(filter(None, each["audience"].values())): each for each in found}


def warnings(ran: Any) -> list[str]:  # noqa: ANN401 - as above
    return [
        notice["message"]
        for each in results(ran).values()
        for notice in each["warnings"] + each.get("notices", [])
    ]


def of_pair(scope: str = "", language: str = "") -> Any:  # noqa: ANN401 - a rule
    """Return what lets the requests of a list fail, by its scope or language."""

    def rule(request: Request) -> Instead | None:
        text = request.target + request.body.decode()
        is_meant = (scope in text) if scope else f'"language_code": "{language}"' in text
        return Instead(500, {}) if is_meant else None

    return rule


@pytest.mark.promise("exit-code-0-telegram")
def test_each_scope_and_language_is_written_once(telegram: Destination) -> None:
    write(telegram, de="", no="")

    ran = telegram.apply(exits=0)

    assert [key for key, _ in telegram.listing.writes] == KEYS
    assert telegram.listing.lists == {key: of_key(key) for key in KEYS}
    assert results(ran).keys() == {*KEYS}
    assert {each["verified"] for each in results(ran).values()} == {True}
    assert {each["listing"] for each in results(ran).values()} == {"telegram"}

    telegram.proxy.requests.clear()
    telegram.apply(exits=0)

    assert telegram.proxy.writes == []
    assert len(telegram.proxy.requests) == len(PAIRS) + 1  # and the scope that is not declared


def test_lists_that_hide_another_are_named(telegram: Destination) -> None:
    telegram.call("setMyCommands", commands=LISTED, scope={"type": "all_private_chats"})
    telegram.call("setMyCommands", commands=LISTED[:1], scope={"type": ADMINISTRATORS})
    write(telegram, scopes=())
    expected = [
        "telegram: hidden in private chats by a list of 4 commands",
        "telegram: hidden from administrators of groups by a list of 1 command",
    ]

    plan = telegram.home.run("plan", "--format", "json")
    reads = len(telegram.proxy.requests)
    ran = telegram.apply()
    doctor = telegram.home.run("doctor")

    assert (plan.code, ran.code) == (0, 0)
    assert warnings(plan) == expected
    assert reads == len(SCOPES) + 1
    assert results(ran)["default"]["verified"] is True
    assert all(each.removeprefix("telegram: ") in doctor.out for each in expected)
    assert telegram.listing.lists["all_private_chats"] == LISTED

    write(telegram, scopes=("all_group_chats",))
    assert warnings(telegram.home.run("plan", "--format", "json")) == expected[1:]


def test_another_list_that_cannot_be_read_is_a_warning(telegram: Destination) -> None:
    telegram.proxy.rule = of_pair("all_group_chats")
    write(telegram, scopes=("default",))

    ran = telegram.apply("--retries", "0")

    (said,) = warnings(ran)
    assert said.startswith("telegram (all_group_chats): the list cannot be read: ")
    assert (ran.code, results(ran)["default"]["verified"]) == (0, True)


def test_a_list_is_named_until_it_is_deleted(telegram: Destination) -> None:
    repo = git_repo(telegram.home.path)
    write(telegram, scopes=("default",), de="", no="")
    repo.commit({})
    telegram.apply(exits=0)
    write(telegram, scopes=("default",), no="")

    (said,) = warnings(telegram.home.run("plan", "--format", "json"))
    assert said == "telegram (de): an earlier version had this list, of 3 commands"
    assert telegram.listing.lists["default de"] == of_key("default de")

    write(telegram, scopes=("default",), de="none", no="")
    ran = telegram.apply()
    assert (ran.code, results(ran)["default de"]["summary"]["delete"]) == (0, 3)
    assert results(ran)["default de"]["verified"] is True
    assert telegram.listing.lists["default de"] == []
    assert telegram.proxy.writes[-1].target.endswith("/deleteMyCommands")

    write(telegram, scopes=("default",), no="")
    assert warnings(telegram.home.run("plan", "--format", "json")) == []


def test_an_unread_list_to_delete_is_not_without_changes(telegram: Destination) -> None:
    write(telegram, scopes=("default",), de="none", no="")
    telegram.home.variable(telegram.listing.variable, "")

    for form in ("text", "markdown"):
        ran = telegram.home.run("plan", "--format", form, exits=0)

        assert "telegram (de)" in ran.out
        assert "0 commands to send." in ran.out
        assert "No changes" not in ran.out


def test_an_earlier_version_has_its_own_texts_of_a_language(telegram: Destination) -> None:
    write(telegram, scopes=("default",), de="")
    git_repo(telegram.home.path).commit({})
    write(telegram, scopes=("default",), de="!")
    telegram.home.variable(telegram.listing.variable, "")

    ran = telegram.home.run("plan", "--since", "HEAD", "--format", "json")

    changes = {key: each["summary"]["edit"] for key, each in results(ran).items()}
    assert changes == {"default": 0, "default de": 2}
    assert {each["compared_with"] for each in results(ran).values()} == {"HEAD"}


def test_a_loss_is_told_once(telegram: Destination) -> None:
    write(telegram, scopes=SCOPES, de="")
    text = telegram.home.read("commands.yaml")
    telegram.home.write(text.replace(NAMES[0], NAMES[0].upper()))

    said = warnings(telegram.home.run("plan", "--format", "json"))

    assert [each for each in said if "left out" in each] == [
        "telegram: 1 command is left out: a name there contains only a-z, 0-9 and _ (COMMAND0)"
    ]


@pytest.mark.parametrize(
    ("lines", "file", "place", "message"),
    [
        ("scopes: [chat]", "", "commands.yaml", "scopes"),
        ("languages: {deu: de.yaml}", "", "commands.yaml", "a language must look like de"),
        ("languages: {de: other.yaml}", "", "commands.yaml", '"other.yaml" matches no file'),
        ("languages: {de: ../de.yaml}", "", "commands.yaml", "leads out"),
        ("languages: {de: de.yaml}", "- help", "de.yaml:1:1", "must have keys and values"),
        ("languages: {de: de.yaml}", "command0:", "de.yaml:1:1", "is missing"),
        ("languages: {de: de.yaml}", "command0: {a: b}", "de.yaml:1:1", "is missing"),
        ("languages: {de: de.yaml}", "a: b\na: c", "de.yaml:2:1", "duplicate key"),
    ],
)
def test_scopes_and_languages_are_checked(
    telegram: Destination, lines: str, file: str, place: str, message: str
) -> None:
    telegram.write(NAMES[0], more=f"    {lines}\n")
    telegram.home.write(file, "de.yaml")

    ran = telegram.home.run("validate", exits=4)

    assert place in ran.said
    assert message in ran.said


@pytest.mark.parametrize(
    "texts",
    [f"/{NAMES[0]}: Eins.\ncomand0: Zwei.\n", f'{{"{NAMES[0]}": "Eins.",\n"comand0": "Zwei."}}'],
    ids=["lines", "JSON"],
)
def test_a_text_without_a_command_is_a_warning(telegram: Destination, texts: str) -> None:
    telegram.write(NAMES[0], more="    languages: {de: de.yaml}\n")
    telegram.home.write(texts, "de.yaml")

    ran = telegram.home.run("validate", exits=0)

    assert 'de.yaml:2:1: warning: "comand0" is not a command of the manifest' in ran.said
    assert "did you mean command0?" in ran.said


def test_only_telegram_has_scopes_and_languages(topgg: Destination) -> None:
    topgg.write(NAMES[0], more="    scopes: [default]\n    languages: {de: none}\n")

    ran = topgg.home.run("validate", exits=4)

    assert 'languages is not allowed for "top.gg"' in ran.said
    assert 'scopes is not allowed for "top.gg"' in ran.said
