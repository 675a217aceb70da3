"""A token that the user's own input contains is shown nowhere, and written nowhere.

Every command, option and format is taken from click's own tree, and every text of a manifest from
a list of its places.
"""

import json
import re
import socket
import string
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from urllib.parse import quote

import click
import pytest

from tests.support.bots import Bot, Service
from tests.support.home import Home, Ran, checked, commands_of
from tests.support.terminal import POSIX, Terminal

LEAVES = {
    words: command for words, command in commands_of() if not isinstance(command, click.Group)
}
WAITING = {("serve",), ("demo",)}
"""They end at a signal, or take long; they are run as children, and stopped after a line."""

FORMATTED = [
    (words, form)
    for words, command in LEAVES.items()
    if words not in WAITING
    for form in next(
        (
            parameter.type.choices
            for parameter in command.params
            if "--format" in parameter.opts and isinstance(parameter.type, click.Choice)
        ),
        ("",),
    )
]
OF_MANIFESTS = [
    (words, form)
    for words, form in FORMATTED
    if any("--file" in parameter.opts for parameter in LEAVES[words].params)
]
LONGEST_PIECE = 16  # characters of a token that may be shown, such as the header of a JWT

JWT = "eyJhbGciOiJIUzI1NiJ9.{}.{}"
_LETTERS = string.ascii_letters + string.digits
_PRINTABLE = _LETTERS + string.punctuation


def token_of(seed: object, *, longest: int = 200) -> str:
    """Return a token: like a JWT, or of any characters, all of those that some format escapes."""
    random = Random(repr(seed))  # noqa: S311 - a token of a test
    if random.random() < 0.3:
        return JWT.format(*("".join(random.choices(_LETTERS, k=n)) for n in (60, 43)))
    length = random.randint(8, longest)
    text = random.choices(_PRINTABLE, k=length)
    for sign in "\\\"'%&<>|*_`[]#:/ "[: length - 3].strip():
        text[random.randrange(2, length)] = sign
    # Not an option, nor a path that leads out of the folder or that is shown in another form.
    return "t" + re.sub(r"/[/.]+|\.\.+", "-", "".join(text[1:])).rstrip("/") + "z"


def value_of(parameter: click.Parameter) -> str:
    match parameter.type:
        case click.Choice(choices=choices):
            return str(choices[0])
        case click.IntRange() | click.FloatRange():
            return "5"
        case _:
            return "1"


def line_of(words: tuple[str, ...], form: str, *chosen: tuple[click.Parameter, str]) -> list[str]:
    """Return the words of a command with its format, what it requires, and what was chosen."""
    values = {parameter.name: (parameter, value) for parameter, value in chosen}
    options, arguments = [*words], []
    for parameter in LEAVES[words].params:
        _, value = values.get(parameter.name, (parameter, ""))
        if "--yes" in parameter.opts or "-vv" in parameter.opts:
            options.append(parameter.opts[-1])
        elif "--format" in parameter.opts and form and not value:
            options.append(f"--format={form}")
        elif parameter.name == "retries" and not value:
            options.append("--retries=0")
        elif value or parameter.required:
            value = value or value_of(parameter)
            if isinstance(parameter, click.Argument):
                arguments.append(value)
            else:
                options.append(f"{max(parameter.opts, key=len)}={value}")
    return [*options, *arguments]


def files(home: Home) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in home.path.rglob("*") if path.is_file()}


def leaks(token: str, text: str) -> bool:
    """Whether a text has the token, a longer piece of it, or what escapes make of it."""
    spellings = {token, quote(token, safe=""), json.dumps(token)[1:-1], quote(token)}
    pieces = {token[at : at + LONGEST_PIECE] for at in range(len(token) - LONGEST_PIECE + 1)}
    own = {piece for piece in pieces if not JWT.startswith(piece[:8])}
    return any(piece in text for piece in spellings | own)


def hold(home: Home, before: dict[Path, bytes], token: str, ran: Ran, line: object) -> None:
    """Hold a run against the promise: no output, file or file's name has the token."""
    assert "defect" not in ran.said, (line, ran.said)
    assert not leaks(token, ran.out), (line, token, ran.out)
    assert not leaks(token, ran.err), (line, token, ran.err)
    for path, content in files(home).items():
        if before.get(path) != content:
            assert not leaks(token, str(path.relative_to(home.path))), (line, token, path)
            if path.suffix != ".db":  # the service's own, with the tokens of its bots
                assert not leaks(token, content.decode("utf-8", "replace")), (line, token, path)


@pytest.fixture
def bot(service: Service, home: Home) -> Bot:
    return home.knows(service.bot(["help", "play"], ["v1"]))


@pytest.mark.promise("token-in-input")
@pytest.mark.parametrize(
    ("words", "form"), FORMATTED, ids=lambda each: each if isinstance(each, str) else " ".join(each)
)
def test_no_option_shows_it(home: Home, bot: Bot, words: tuple[str, ...], form: str) -> None:
    """Nor a variable that stands for an option."""
    for parameter in LEAVES[words].params:
        if getattr(parameter, "is_flag", False) or getattr(parameter, "count", False):
            continue
        names_file = isinstance(parameter.type, click.Path) or parameter.name == "database"
        token = token_of((words, form, parameter.name), longest=70 if names_file else 200)
        home.variable("COMMANDSYNC_TOKEN", token)
        values = [token, quote(token, safe="")]
        if "--base-url" in parameter.opts:
            values += [f"{bot.url}/{token}", f"http://127.0.0.1:9/{quote(token)}"]
        for value in values:
            before = files(home)
            line = line_of(words, form, (parameter, value))

            hold(home, before, token, home.run(*line), line)

        if name := getattr(parameter, "envvar", None):
            home.variable(name, token)
            hold(home, files(home), token, home.run(*line_of(words, form)), name)
            home.forget(name)
            home.knows(bot)


@pytest.mark.thorough
@pytest.mark.parametrize("words", sorted(WAITING), ids=" ".join)
def test_a_command_that_waits_shows_it_neither(home: Home, words: tuple[str, ...]) -> None:
    """A port that is taken ends what would wait; a child gets all options that led to that.

    Those that name files are for another one: a file that is missing may end it.
    """
    home.variable("COMMANDSYNC_BASE_URL", "http://127.0.0.1:9")
    home.variable("COMMANDSYNC_TOKEN", token := token_of(words))
    waiting: dict[bool, list[tuple[click.Parameter, str]]] = {True: [], False: []}
    has_port = any("--port" in parameter.opts for parameter in LEAVES[words].params)
    for parameter in LEAVES[words].params:
        if getattr(parameter, "is_flag", False) or getattr(parameter, "count", False):
            continue
        line = line_of(words, "", (parameter, token))
        with closing(socket.create_server(("127.0.0.1", 0))) as taken:
            port = [f"--port={taken.getsockname()[1]}"] if has_port else []
            said = home.run(*words, *port, *line[len(words) :]).said
        if "cannot listen on 127.0.0.1" in said:
            waiting[isinstance(parameter.type, click.Path)].append((parameter, token))

        assert said
        assert not leaks(token, said), (line, token, said)
        assert not any(leaks(token, str(path)) for path in files(home))

    assert bool(waiting[False]) is has_port
    for chosen in filter(None, waiting.values()):
        child = home.started(*words, "--port=0", *line_of(words, "", *chosen)[len(words) :])
        assert child.stdout is not None
        first = child.stdout.readline()
        child.terminate()
        said = b"".join([first, *child.communicate()]).decode()

        assert said
        assert not leaks(token, said), (chosen, token, said)
        assert not any(leaks(token, str(path)) for path in files(home))


def manifests_with(token: str, bot: Bot) -> Iterator[tuple[str, str]]:
    """Yield manifests with the token in each place that a user's text can have."""
    command = {"name": "help", "description": "Does {prefix}.", "syntax": "{prefix}help"}
    news = {"title": "v1", "description": "News."}
    whole = {"version": 1, "prefix": "!", "commands": [command], "announcements": [news]}
    text = f"{'x' * 80} My token is {token}{token} of the bot, do not show it {'y' * 80}"
    for key in (*command, "category", "formerly", "unknown", "id"):
        for value in (token, text, f"a\n{text}") if key == "description" else (text,):
            yield key, json.dumps({**whole, "commands": [{**command, key: value}, {"name": 1}][:1]})
    for key in news:
        yield key, json.dumps({**whole, "announcements": [{**news, key: text}]})
    for key in ("bot", "base_url", "token_env", "prefix", "include", token):
        yield key, json.dumps({**whole, key: f"{bot.url}/{token}" if key == "base_url" else token})
    for policy in ("ignore", "max_deletes"):
        yield policy, json.dumps({**whole, "sync": {policy: token}})
    yield "category", json.dumps({**whole, "defaults": {"category": token}})
    yield "a comment", f"# {token}\n{json.dumps(whole)}"
    yield "no YAML", f'version: 1\ncommands:\n  - name: "{text}\n   x: [ {token}\n'


@pytest.mark.promise("token-in-input")
@pytest.mark.parametrize(
    ("words", "form"),
    OF_MANIFESTS,
    ids=lambda each: each if isinstance(each, str) else " ".join(each),
)
def test_no_manifest_shows_it(
    home: Home, bot: Bot, words: tuple[str, ...], form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does a text of notes, a list of a platform, or the manifest of an earlier revision."""
    token = token_of((words, form))
    listed = bot.everything()
    outputs = [
        parameter
        for parameter in LEAVES[words].params
        if isinstance(parameter.type, click.Path) and parameter.name not in {"files", "token_file"}
    ]
    monkeypatch.setenv("COMMANDSYNC_TOKEN", token)
    home.write(f"## 1.0\n\n- My token is {token}\n", "CHANGELOG.md")
    home.write(json.dumps([{"name": f"a{token}", "description": token, "syntax": token}]), "l.json")
    many = sum(each == words for each, _ in OF_MANIFESTS) > 2
    for number, (place, manifest) in enumerate(manifests_with(token, bot)):
        # Four formats of a command share the places: each comes in two of them.
        if many and (number + OF_MANIFESTS.index((words, form))) % 4 > 1:
            continue
        chosen: list[tuple[tuple[click.Parameter, str], ...]] = [()]
        if place in {"description", "category", "bot"}:
            names = ("CHANGELOG.md", "l.json", f"new{number}.md", f"new{number}.html")
            chosen += [((output, name),) for output in outputs for name in names]
        for choice in chosen:
            home.write(manifest)
            before = files(home)
            line = line_of(words, form, *choice)

            hold(home, before, token, home.run(*line), (place, line))

    assert token not in json.dumps(bot.everything())
    assert words[0] in {"vote", "apply"} or bot.everything() == listed


@pytest.mark.promise("token-in-input")
@pytest.mark.parametrize("seed", range(20))
def test_a_document_of_json_stays_one_with_its_digest(home: Home, seed: int) -> None:
    token = token_of(seed)
    described = f'say "{token}" and {token}"'
    row = {"name": "help", "description": described, "syntax": "/help"}
    home.write(json.dumps({"version": 1, "commands": [row]}))
    home.write("version: 1\ncommands: []\n", "old.yaml")
    line = ("plan", "--against", "old.yaml", "--format", "json")
    open_plan = checked(home.run(*line), "plan")
    home.variable("COMMANDSYNC_TOKEN", token)

    plan = checked(home.run(*line), "plan")

    assert plan["changes"][0]["after"]["description"] == 'say "<hidden>" and <hidden>"'
    assert open_plan["changes"][0]["after"]["description"] == described
    assert (plan["digest"], plan["fingerprint"]) == (open_plan["digest"], open_plan["fingerprint"])


@pytest.mark.promise("token-in-input")
def test_what_is_refused_says_so_and_leaves_the_old_file(home: Home) -> None:
    token = token_of("refused")
    home.write(
        f"version: 1\ncommands:\n  - {{name: a, description: {json.dumps(token)}, syntax: a}}"
    )
    home.run("docs", "COMMANDS.md", "site/a.html", "a.json")
    home.write("version: 1\ncommands:\n  - {name: a, description: b, syntax: a}\n", "old.yaml")
    home.run("docs", "-f", "old.yaml", "--force", "COMMANDS.md")
    old = home.read("COMMANDS.md")
    home.variable("COMMANDSYNC_TOKEN", token)

    ran = home.run("docs", "COMMANDS.md", "a.json", exits=5)

    assert ran.said.startswith("error: COMMANDS.md is not written: a token of this run would be")
    assert "\n  hint: remove the token where it is now, and renew it: " in ran.said
    assert home.read("COMMANDS.md") == old


def test_a_token_in_a_file_or_another_variable_is_hidden_too(home: Home, bot: Bot) -> None:
    file, variable = token_of("file"), token_of("variable")
    home.write(file, "token.txt")
    home.variable("COMMANDSYNC_LANTERN", variable)
    description = json.dumps(f"{file} and {variable}")
    head = f"version: 1\ntoken_env: COMMANDSYNC_LANTERN\nbase_url: {bot.url}\n"
    home.write(f"{head}commands:\n  - {{name: a, description: {description}, syntax: a}}\n")

    by_file = home.run("plan", "--token-file", "token.txt", "--timeout", file, exits=2)
    by_name = home.run("plan", "--format", "json")

    assert "not '<hidden>'" in by_file.err
    assert not leaks(variable, by_name.said)


@pytest.mark.promise("token-in-input")
@pytest.mark.parametrize("variable", ["DISCORD_TOKEN", "TOPGG_TOKEN", "COMMANDSYNC_TOKEN_OTHER"])
def test_no_token_is_sent_in_a_text(home: Home, bot: Bot, variable: str) -> None:
    home.variable("COMMANDSYNC_TOKEN", bot.token)
    home.variable("COMMANDSYNC_BASE_URL", bot.url)
    home.variable(variable, token := token_of("other"))
    home.write(
        f"version: 1\ncommands:\n  - {{name: a, description: {json.dumps(token)}, syntax: /a}}\n"
    )
    planned, applied = home.run("plan"), home.run("apply", "--yes")

    assert "apply will refuse it" in planned.said
    assert applied.code == 5
    assert "contains a token" in applied.err
    assert not leaks(token, planned.said + applied.said)


def test_the_token_of_an_embedded_bot_is_still_printed(home: Home) -> None:
    added = home.run("bots", "add", "812045337190064138", "--name", "Harbor")
    home.variable("COMMANDSYNC_TOKEN", added.out.strip())

    assert home.run("bots", "token", "812045337190064138").out == added.out


@pytest.mark.promise("token-in-input")
def test_a_short_token_changes_no_name(home: Home) -> None:
    home.variable("COMMANDSYNC_TOKEN", "help")
    home.write("version: 1\ncommands:\n  - {name: help, description: help, syntax: /help}\n")

    assert "| `/help` | help " in home.run("docs", "--format", "markdown").out


@pytest.mark.skipif(not POSIX, reason="there are no pseudo terminals on Windows")
@pytest.mark.parametrize("before", [0, 30, 60, 75, 150])
def test_a_line_that_a_terminal_cuts_shows_no_part_of_it(home: Home, before: int) -> None:
    token = JWT.format(_LETTERS, _LETTERS[::-1])
    home.variable("COMMANDSYNC_TOKEN", token)
    row = {"name": "help", "description": f"{'a' * before} {token} and more", "syntax": "/help"}
    home.write(json.dumps({"version": 1, "commands": [row, {**row, "name": f"{token}{token}"}]}))
    old = {**row, "description": "Shows what it can do."}
    home.write(json.dumps({"version": 1, "commands": [old]}), "o.yml")

    with Terminal.running(home, "plan", "--against", "o.yml") as terminal:
        code, shown, _ = terminal.ended()

    assert code == 0
    assert "<hidden>" in shown
    assert not leaks(token, shown)
    assert token[20:30] not in shown
