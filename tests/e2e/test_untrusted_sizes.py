"""Input that is made to exhaust memory or time ends the whole program soon and as designed."""

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress

import pytest

from commandsync.document.plan import digest_of
from commandsync.report import render_plans
from tests.support.home import LONGEST, Home
from tests.support.plans import varied_plan
from tests.support.rawserver import RawServer, answer, sending

MEGABYTE = 2**20
MOST_MEMORY = 300 * MEGABYTE
MOST_SECONDS = 30  # of the processor's time; what is well takes one or two

# VmHWM is this process's own; what getrusage tells begins with the parent's.
MEASURED = f"""
import re, resource, sys
from commandsync.cli.program import run
resource.setrlimit(resource.RLIMIT_CPU, ({MOST_SECONDS}, {MOST_SECONDS}))
code = run(sys.argv[1:])
status = open("/proc/self/status").read()
print("peak", int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) * 1024, file=sys.stderr)
sys.exit(code)
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="measured as Linux tells it")


def measured(home: Home, *arguments: str) -> tuple[int, str]:
    """Run the program; hold its memory and time to the limits, with nothing of ours in them."""
    environment = home.environment()
    ended = subprocess.run(
        [sys.executable, "-c", MEASURED, *arguments],
        cwd=home.path,
        env={key: environment[key] for key in environment if not key.startswith("COVERAGE_")},
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    said, _, peak = ended.stderr.rpartition("peak ")
    assert peak, ended.stderr[-2000:]
    assert int(peak) < MOST_MEMORY, f"{int(peak) // MEGABYTE} MB"
    assert "Traceback" not in said
    return ended.returncode, said


def commands(name: str, count: int) -> str:
    rows = (name.replace("%", str(number)) for number in range(count))
    return "commands:\n" + "".join(
        f"- {{name: {row}, description: b, syntax: c}}\n" for row in rows
    )


def ignoring(*patterns: str, name: str) -> str:
    return f"sync: {{ignore: {json.dumps(patterns)}}}\n{commands(name, 1)}"


def prefixed(prefix: str, syntax: str) -> str:
    return f"prefix: {prefix}\ncommands:\n- name: a\n  description: b\n  syntax: {syntax}\n"


NO_ERROR = ""
LINES = "1,000,000 lines"
WILDCARDS = "2,000 characters"
PATTERN = "more than one"

MANIFESTS: dict[str, tuple[str, Callable[[], str]]] = {
    "as many commands as there may be": (NO_ERROR, lambda: commands("a%", 35_000)),
    "more values": ("250,000 values", lambda: "x: [" + "a," * 5_000_000 + "]"),
    "more bytes": ("10 MiB", lambda: "#" + "a" * 11 * MEGABYTE),
    "more lines": (LINES, lambda: "\n" * 10_000_000 + "x: 1"),
    "lone carriage returns": (LINES, lambda: "\r" * 10_000_000 + "x: 1"),
    "one long text": (
        NO_ERROR,
        lambda: f"commands:\n- name: a\n  syntax: b\n  description: {'a ' * 5_000_000}😀\n",
    ),
    "a long prefix, often": ("100 characters", lambda: prefixed("p" * 5000, "{prefix}" * 600_000)),
    "the longest prefix, often": (
        "10,485,760 characters once",
        lambda: prefixed("😀" * 100, f"'{'{prefix}' * 1_300_000}'"),
    ),
    "the longest prefix, in many commands": (
        "duplicate command",
        lambda: (
            f"prefix: {'😀' * 100}\ncommands:\n"
            + f"- {{name: a, description: b, syntax: '{'{prefix}' * 30}'}}\n" * 30_000
        ),
    ),
    "many anchors and an unknown alias": (
        "the alias",
        lambda: f"x: [{''.join(f'&anchor{number} ,' for number in range(240_000))}*anchor]\n",
    ),
    "a long text, by aliases": (
        "10,485,760 characters",
        lambda: (
            f"bot: &a {'t' * 5_000_000}\ncommands:\n"
            + "- {name: a, description: *a, syntax: c}\n" * 30_000
        ),
    ),
    "many patterns": ('"a*" matches no file', lambda: "include: [" + '"a*",' * 100_000 + "]"),
    "many folders": (PATTERN, lambda: 'include: ["' + "**/" * 300 + '*.yaml"]'),
    "a long pattern": (PATTERN, lambda: 'include: ["' + "a/" * 100_000 + '*.yaml"]'),
    "as many to ignore as commands": (
        NO_ERROR,
        lambda: (
            "sync:\n  ignore:\n"
            + "".join(f"  - {number}-x*\n" for number in range(100))
            + "".join(f"  - b{number}\n" for number in range(40_000))
            + commands("%-a", 20_000)
        ),
    ),
    "too many stars to ignore": (
        "100 patterns",
        lambda: (
            "sync:\n  ignore:\n"
            + "".join(f"  - '*a*-{number}'\n" for number in range(20_000))
            + commands("a" * 100 + "%", 20_000)
        ),
    ),
    "many stars to ignore": (WILDCARDS, lambda: ignoring("*a" * 20_000, name="a" * 20_000 + "b")),
    "a long text to ignore": (
        WILDCARDS,
        lambda: ignoring(f"*{'b' * 4_000_000}c", name="b" * 4_000_000),
    ),
    "as long a text to ignore as there may be": (
        NO_ERROR,
        lambda: ignoring("*a" * 500, f"*{'b' * 990}c", name="ab" * 20_000 + "b"),
    ),
    "links to the folder itself": (
        "250,000 files",
        lambda: 'include: ["' + "*/" * 490 + '*.yaml"]',
    ),
}


@pytest.mark.promise("large-manifest")
@pytest.mark.parametrize("what", MANIFESTS)
def test_a_large_manifest_is_read_or_refused(home: Home, what: str) -> None:
    error, text = MANIFESTS[what]
    home.write("version: 1\n" + text())
    for number in range(1_000 if what.startswith("links") else 0):
        (home.path / f"link{number}").symlink_to(".")

    ended, said = measured(home, "validate")

    assert ended == (4 if error else 0)
    assert error in said
    assert len(said) < MEGABYTE


@pytest.mark.parametrize("end", [[], ["-f", "-"]], ids=["against", "file"])
def test_standard_input_without_an_end_is_read_up_to_the_limit(home: Home, end: list[str]) -> None:
    home.write("version: 1\ncommands: []\n")
    words = ["validate", *end] if end else ["plan", "--against", "-"]
    child = subprocess.Popen(
        [sys.executable, "-m", "commandsync", *words],
        cwd=home.path,
        env=home.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert child.stdin is not None
    written = 0
    with suppress(BrokenPipeError):
        while written < 40 * MEGABYTE:
            written += child.stdin.write(b"#" * MEGABYTE)
    with suppress(BrokenPipeError):
        child.stdin.close()
    child.stdin = None

    _, err = child.communicate(timeout=LONGEST)

    assert (child.returncode, written <= 12 * MEGABYTE) == (4, True)
    assert b"larger than 10 MiB" in err


def many(one: str, count: int) -> Callable[[], bytes]:
    def body() -> bytes:
        return f"[{','.join(one.replace('%', str(number)) for number in range(count))}]".encode()

    return body


ANSWERS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "as many records as there may be": (NO_ERROR, many('{"name":"a%","id":%}', 100_000)),
    "more records": ("100,000 commands", many('{"name":"a","id":%}', 100_001)),
    "as many keys as there may be": (
        NO_ERROR,
        lambda: b'[{"name":"a",' + many('"%":0', 999_990)()[1:-1] + b"}]",
    ),
    "more values": ("1,000,000 values", lambda: b"[" + b"{}," * 10_000_000 + b"{}]"),
    "one long text": (NO_ERROR, lambda: b'[{"name":"' + b"a" * 32 * 1_000_000 + b'"}]'),
    "one long text and an emoji": (
        "64 MiB",
        lambda: b'[{"name":"' + b"a" * 32 * 1_000_000 + "😀".encode() + b'"}]',
    ),
    "a shorter one": (
        NO_ERROR,
        lambda: b'[{"name":"' + b"a" * 16 * 1_000_000 + "😀".encode() + b'"}]',
    ),
    "more bytes": ("32 MiB", lambda: b"[" + b" " * 33 * MEGABYTE + b"]"),
    "deep": ("not valid JSON", lambda: b"[" * 900_000),
}


@pytest.mark.promise("large-response")
@pytest.mark.parametrize("what", ANSWERS)
def test_an_answer_made_to_be_large_is_read_or_refused_within_limits(home: Home, what: str) -> None:
    error, body = ANSWERS[what]
    home.write("version: 1\nsync: {ignore: ['*']}\ncommands: []\n")
    with RawServer() as server:
        server.then(sending(answer(body())))
        home.variable("COMMANDSYNC_BASE_URL", server.url)

        options = ("--bot=42", "--retries=0", "-q", "--no-prune", "--format=markdown")
        ended, said = measured(home, "plan", *options)

    assert ended == (1 if error else 0)
    assert error in said


def saved(count: int, **one: object) -> Callable[[], str]:
    """Return a plan's text with so many deletes, or with as many of something else."""

    def text() -> str:
        plan = json.loads(render_plans([varied_plan()], format="json"))
        delete = plan["changes"][-1]
        for key, value in one.items():
            plan[key] = [value] * count
        if not one:
            plan["changes"] = [{**delete, "id": str(number)} for number in range(count)]
        plan["digest"] = digest_of(plan)
        return json.dumps(plan, separators=(",", ":"))

    return text


KEPT = {"resource": "announcement", "id": "", "name": "", "text": {"title": "", "description": ""}}
NO_HOST = "host name of listing.example"  # it is a plan after all
DIGEST = "its digest"
PLANS: dict[str, tuple[str, Callable[[], str]]] = {
    "as many deletes as there may be": ("its fingerprint", saved(60_000)),
    "more deletes": ("1,000,000 values", saved(70_000)),
    "many kept": (NO_HOST, saved(20_000, kept=KEPT)),
    "many warnings": (
        NO_HOST,
        saved(30_000, warnings={"message": "", "hint": "", "location": None}),
    ),
    "more values": ("1,000,000 values", lambda: '{"version":1,"x":[' + "{}," * 9_000_000 + "{}]}"),
    "one long text and an emoji": (
        "64 MiB",
        lambda: '{"version":1,"x":"' + "a" * 32_000_000 + '😀"}',
    ),
    "a long text, an emoji and a digest": (
        DIGEST,
        lambda: '{"version":1,"digest":"","x":"' + "a" * 15_000_000 + '😀"}',
    ),
    "a long text and a digest": (
        DIGEST,
        lambda: '{"version":1,"digest":"","x":"' + "a" * 32_000_000 + '"}',
    ),
    "too long": ("33,554,432 bytes", lambda: '{"version":1,"x":"' + "a" * 34_000_000 + '"}'),
}


@pytest.mark.promise("large-plan")
@pytest.mark.parametrize("what", PLANS)
def test_a_large_plan_is_read_or_refused(home: Home, what: str) -> None:
    error, text = PLANS[what]
    home.write(text(), "plan.json")
    home.variable("COMMANDSYNC_TOKEN", "opaque")

    ended, said = measured(home, "apply", "--plan", "plan.json", "--yes", "--retries", "0")

    assert ended == (5 if "damaged: " in said else 1)
    assert error in said
