"""Any text may be in a file: reading it ends soon, and never in a traceback."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.support.botcode import COMMANDS, ReadingOf, bots, notes_of

ONE_COMMAND = COMMANDS + "@commands.command()\nasync def ping(ctx, x=1): 'Pong'\n"
PIECES = (
    *("@commands.command(", "@app_commands.command()", "async def ", "class A(", "):", "name="),
    "*",
    *("lambda: ", "'", '"', "[", "]", "(", ")", "\n", "    ", "\t", "\\", "\x00", "\r", "é", "🎲"),
    *("Optional[", "Literal[", "| None", "import ", "from . import *\n", "f'{", "}'", ":= ", "@"),
)

TWINS = "".join(f"from mod{number} import *\n" for number in range(12))
CHAIN = "".join(f"B{number} = Union[B{number - 1}, B{number - 1}]\n" for number in range(1, 60))
SUMS = "".join(f"s{number} = s{number - 1} + s{number - 1}\n" for number in range(1, 60))

COMMAND = COMMANDS + "@commands.command()\nasync def g(ctx, {}): 0\n"
NAMED = COMMANDS + "{}@commands.command(name={})\nasync def g(ctx): 0\n"

READ = {
    "a chain of branches": COMMANDS + "if x: 0\n" + "elif x: 0\n" * 400 + COMMAND.format("a"),
    "a list in lists": COMMAND.format("a=" + "[" * 150 + "]" * 150),
    "a long Literal": "from typing import *\n"
    + COMMAND.format(f"a: Literal[{', '.join(map(str, range(300)))}]"),
    "a long union": COMMAND.format("a: " + "b|" * 500 + "b"),
    "a name of many parts": COMMAND.format("a: a" + ".b" * 500),
    "a huge number": COMMAND.format(f"a=0x{'f' * 9999}"),
    "a text that is no type": COMMAND.format("a: '(', b: 'int | \"(\"'"),
    "classes that inherit from each other": COMMANDS
    + "class A(B):\n    @commands.command()\n    async def g(self, ctx): 0\nclass B(A): 0\n",
    "greedy in greedy": COMMAND.format("a: " + "commands.Greedy[" * 150 + "int" + "]" * 150),
    "options in options": COMMAND.format("a: " + "Option(" * 150 + "int" + ")" * 150),
    "twice as many types each time": "from typing import Union\nB0 = int\n"
    + CHAIN
    + COMMAND.format("a: B59"),
}
NOT_READ = {
    "a lambda in lambdas": NAMED.format("", "lambda: " * 300 + "0"),
    "a long sum": NAMED.format("", "'a'+" * 900 + "'b'"),
    "a name of itself": NAMED.format("a = a\n", "a"),
    "a null byte": ONE_COMMAND + "\x00",
    "brackets": ONE_COMMAND.replace("x=1", "x=" + "(" * 5000),
    "minus signs": ONE_COMMAND + "-" * 100_000 + "1",
    "twice as long each time": NAMED.format("s0 = 'ab'\n" + SUMS, "s59"),
}


@st.composite
def damaged(draw: DrawFn) -> str:
    """Draw the code of a bot in which a few parts are cut out, moved or replaced."""
    code = draw(bots())
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(code)))
        end = min(len(code), start + draw(st.integers(0, 60)))
        code = code[:start] + draw(st.sampled_from(PIECES)) + code[end:]
    return code


@given(code=damaged())
def test_damaged_code_is_read(code: str, reading_of: ReadingOf) -> None:
    reading = reading_of({"bot.py": code.encode()})
    lines = code.count("\n") + code.count("\r") + 1

    for entry in reading.entries:
        assert entry.name.strip()
        assert entry.description.strip()
        assert entry.syntax.strip()
        assert entry.place is not None
        assert 1 <= entry.place.line <= lines


@pytest.mark.promise("code-not-run")
@pytest.mark.parametrize("code", READ.values(), ids=READ)
def test_strange_code_is_read(code: str, reading_of: ReadingOf) -> None:
    assert [entry.name for entry in reading_of(code).entries] == ["g"]


@pytest.mark.parametrize("code", NOT_READ.values(), ids=NOT_READ)
def test_unreadable_code_has_a_note(reading_of: ReadingOf, code: str, tmp_path: Path) -> None:
    reading = reading_of(code)

    assert reading.entries == ()
    assert len(notes_of(reading)) == 1
    assert {part.place.path for part in reading.partly} == {f"{tmp_path}/bot.py"}


def test_a_tree_that_is_too_deep_for_some_versions_of_python_is_read(reading_of: ReadingOf) -> None:
    reading = reading_of(ONE_COMMAND + "a" + ".a" * 5000)

    assert bool(reading.entries) is not bool([*reading.notes, *reading.unread])


def test_modules_that_import_everything_from_each_other_are_read(reading_of: ReadingOf) -> None:
    files: dict[str, str | bytes] = {f"mod{number}.py": TWINS for number in range(12)}
    reading = reading_of(files | {"bot.py": TWINS + ONE_COMMAND})

    assert [entry.name for entry in reading.entries] == ["ping"]


def test_many_groups_in_each_other_are_read(reading_of: ReadingOf) -> None:
    groups = "@commands.group()\nasync def g(ctx): 0\n" + "@g.group()\nasync def g(ctx): 0\n" * 2000
    reading = reading_of(
        {"a.py": "from z import g\n@g.command()\nasync def x(ctx): 0\n", "z.py": COMMANDS + groups},
    )

    assert len(reading.entries) < 20


NEWER = """\
type Alias = int
class Cache[T]:
    def first[K: (int, str)](self, k: K) -> T: ...
@bot.command()
async def ok(ctx): "Ok"
@bot.command()
async def bad(ctx):
    try: pass
    except A, B: pass
class Mod(commands.Cog):
    @commands.command()
    async def one(self, ctx): "One"
    @commands.command()
    async def two(self, ctx):
        x = (
"""


def test_an_invalid_file_does_not_hide_the_others(reading_of: ReadingOf) -> None:
    latin = ONE_COMMAND.replace("Pong", "Gr\xf6\xdfe").replace("ping", "size")
    reading = reading_of(
        {
            "bad.py": ONE_COMMAND.replace("ping", "fine") + "bot = commands.Bot('!')\n" + NEWER,
            "coded.py": b"# coding: nothing\n" + ONE_COMMAND.encode(),
            "cut.py": ONE_COMMAND.encode() + b"\xff",
            "hex.py": b"# coding: hex\n" + ONE_COMMAND.encode(),
            "good.py": b"\xef\xbb\xbf" + ONE_COMMAND.encode(),
            "large.py": ONE_COMMAND + "#" * 2_100_000,
            "latin.py": b"# coding: latin-1\n" + latin.encode("latin-1"),
            "text.txt": ONE_COMMAND,
        },
    )

    assert [entry.name for entry in reading.entries] == ["fine", "ok", "one", "ping", "size"]
    starts = [note.split(": ")[0] for note in notes_of(reading)]
    newer = [start for start in starts if start.startswith("bad.py:14:12 ")]

    assert bool(newer) is (sys.version_info < (3, 14))
    assert starts[len(newer) :] == [
        "bad.py:20:13 the file is not valid Python",
        "coded.py:1:1 the file is not valid Python",
        "cut.py:1:1 the file cannot be decoded",
        "hex.py:1:1 the file cannot be decoded",
        "large.py:1:1 the file is larger than 2 MiB",
    ]
