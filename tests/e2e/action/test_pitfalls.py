import os
import re
import signal
from pathlib import Path

import pytest

from tests.support.bots import Instead, Proxy, Service
from tests.support.home import fields
from tests.support.rawserver import Request
from tests.support.runner import Hub, Runner, other, pull_request, push

OBEYED = {"add-mask", "notice", "warning", "error"}
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
HOSTILE = (
    "::set-output name=result::applied",
    "a ##[add-mask]b",
    "x\n::stop-commands::y\r\n::error::z",
    "EOF\nresult=applied\nEOF",
    "--><script>@everyone</script> ``` </details> %0A::warning::w",
)


def test_hostile_texts_are_never_obeyed(shell: Runner, hub: Hub, service: Service) -> None:
    bot = service.bot(["::error::listed", "##[warning]listed"])
    shell.write(fields(*((text, text) for text in HOSTILE)))
    inputs = {"base_url": bot.url, "bot": bot.id, "label": HOSTILE[4], "max_deletes": "all"}
    inputs["apply"] = "current"
    planned = shell.run(pull_request(), **inputs, ends="0 changes")
    applied = shell.run(push(), token=bot.token, **inputs, ends="0 applied")

    assert len(bot.names()) == len(HOSTILE)
    for step in (planned, applied):
        assert {one.name for one in step.commands} <= OBEYED
        assert {one.properties.get("title") for one in step.commands} <= {None, "Planned delete"}
        assert "result=applied" not in step.summary.splitlines()
    (comment,) = hub.ours
    outside = CODE_SPAN.sub("", comment)
    assert outside.count("<") == outside.count("<!--") == 1
    assert "@" not in outside


def test_nothing_of_the_workspace_is_imported_or_read(shell: Runner, service: Service) -> None:
    bot = service.bot()
    bad = "raise SystemExit('the workspace was imported')\n"
    for name in ("commandsync", "requests", "yaml", "click", "sitecustomize", "json"):
        shell.write(bad, f"{name}.py")
    shell.write("[install]\ntarget = /nowhere\n", "pip.conf")
    shell.write("this is not TOML", "uv.toml")
    shell.write(fields(("help",)))
    shell.variables["PYTHONPATH"] = str(shell.workspace)
    shell.variables["PYTHONSTARTUP"] = str(shell.workspace / "json.py")
    shell.run(push(), base_url=bot.url, bot=bot.id, token=bot.token, ends="0 applied")


def test_blanks_quotes_and_dashes_in_paths_are_only_names(shell: Runner) -> None:
    shell = type(shell)(shell.folder / "a 'b' \"c\" $(d) é", shell.python)
    wrong = "version: 1\ncommands:\n  - name: x\n"
    names = ("-x.yaml", "sub dir/it's.yaml", '"q".yaml')
    for name in names if os.name == "posix" else names[:2]:
        shell.write(wrong, f"my bots/{name}")
    files = "\n".join(names if os.name == "posix" else names[:2])
    step = shell.run(pull_request(), file=files, working_directory="my bots", ends="4 invalid")

    assert {one.place.rpartition("/")[0] for one in step.annotations("error")} >= {
        "my bots",
        "my bots/sub dir",
    }
    assert "my bots/-x.yaml:3:5" in {one.place for one in step.annotations("error")}


def test_problems_are_marked_ten_of_a_kind_and_all_are_in_the_summary(runner: Runner) -> None:
    lines = "".join(f"  - {{name: n{n}, description: d, syntax: s, usage: u}}\n" for n in range(15))
    runner.write(f"version: 1\ncommands:\n{lines}", "bots/one.yaml")
    step = runner.run(other("workflow_dispatch"), file="one.yaml", working_directory="./bots")
    quiet = runner.run(
        other("workflow_dispatch"), file="bots/one.yaml", annotations="false", summary="false"
    )

    errors = step.annotations("error")
    assert step.code == quiet.code == 4
    assert [one.properties["line"] for one in errors] == [str(n) for n in range(3, 13)]
    assert {one.properties["file"] for one in errors} == {"bots/one.yaml"}
    assert step.summary.count("`bots/one.yaml:") == 15
    assert (quiet.annotations("error"), quiet.summary) == ([], "")


def test_python_missing_or_too_old_is_reported(shell: Runner) -> None:
    shell.write(fields(("help",)))
    old = shell.folder / "old"
    old.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    old.chmod(0o755)
    bare = shell.folder / "bin"
    bare.mkdir()
    missing = shell.run(other("schedule"), python=str(old))
    shell.variables["PATH"] = str(bare)
    none = shell.run(other("schedule"), python="", summary="false")

    for step in (missing, none):
        assert step.code == 1
        assert "Python 3.11 or newer" in step.annotations("error")[0].data
        assert (step.outputs["result"], step.outputs["failure-reason"]) == ("failed", "invalid")
        assert "setup-python" in step.log
    assert "The input python is not Python 3.11 or newer" in missing.summary
    assert none.summary == ""


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for uv is a script")
def test_uv_supplies_a_python_where_those_of_the_machine_are_too_old(shell: Runner) -> None:
    shell.write(fields(("help",)))
    old, uv = shell.folder / "bin" / "python3", shell.folder / "bin" / "uv"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    uv.write_text(
        f'#!/bin/sh\ncase "$*" in *" python find "*) echo "{shell.python}";; esac\n',
        encoding="utf-8",
    )
    old.chmod(0o755)
    uv.chmod(0o755)
    shell.variables["PATH"] = str(old.parent)
    shell.run(other("workflow_dispatch"), python="", ends="0 valid")


@pytest.mark.skipif(os.name == "nt", reason="the runner does not send signals there")
def test_a_cancelled_apply_ends_its_requests(shell: Runner, service: Service, proxy: Proxy) -> None:
    bot = service.bot()
    shell.write(fields(*((f"c{n}",) for n in range(4))))
    signalled: list[int] = []

    def rule(seen: Request) -> Instead | None:
        if seen.writes and not signalled:
            signalled.append(process.pid)
            os.kill(process.pid, signal.SIGTERM)
        return None

    proxy.rule = rule
    process, files = shell.start(push(), base_url=proxy.url, bot=bot.id, token=bot.token)
    out, _ = process.communicate(timeout=60)
    step = shell.ended(process, files, out)

    assert step.code == 143, step.log
    assert (step.outputs["result"], step.outputs["failure-reason"]) == ("failed", "incomplete")
    assert step.outputs["changed"] == "true"
    assert "1 done" in step.summary
    assert bot.names() == ["c0"]
    shell.run(push(), base_url=bot.url, bot=bot.id, token=bot.token, ends="0 applied")
    assert bot.names() == ["c0", "c1", "c2", "c3"]


def test_two_jobs_at_once_add_nothing_to_each_other(shell: Runner, service: Service) -> None:
    bots = [service.bot(), service.bot()]
    shell.write(fields(("help",)))
    started = [shell.start(push(), base_url=bot.url, bot=bot.id, token=bot.token) for bot in bots]
    steps = [
        shell.ended(process, files, process.communicate(timeout=60)[0])
        for process, files in started
    ]

    assert [step.outputs["result"] for step in steps] == ["applied", "applied"], steps
    assert steps[0].outputs["plan-file"] != steps[1].outputs["plan-file"]
    assert [bot.names() for bot in bots] == [["help"], ["help"]]


def test_a_forks_plan_is_in_the_summary(runner: Runner, hub: Hub, service: Service) -> None:
    bot = service.bot()
    hub.read_only = True
    runner.write(fields(("help",)))
    event, inputs = pull_request(head="stranger/bots"), {"base_url": bot.url, "bot": bot.id}
    step = runner.run(event, **inputs, ends="0 changes")
    without = runner.run(event, summary="false", **inputs)

    assert "1 to add" in step.summary
    assert ("may not comment" in step.log, "in the summary" in step.log) == (True, True)
    assert ("may not comment" in without.log, "in the summary" in without.log) == (True, False)
    assert step.annotations("warning") == []
    assert hub.writes == []
    assert hub.requests == []


def test_the_token_is_masked(runner: Runner, service: Service) -> None:
    bot = service.bot()
    runner.write("token_env: COMMANDSYNC_MINE\n" + fields(("help",)))
    runner.variables["COMMANDSYNC_MINE"] = bot.token
    step = runner.run(push(), base_url=bot.url, bot=bot.id, ends="0 applied")

    masked = {one.data for one in step.commands if one.name == "add-mask"}
    assert bot.token in masked
    shown = "\n".join(line for line in step.log.splitlines() if "add-mask" not in line)
    everything = shown + step.summary + str(step.outputs)
    assert not [secret for secret in masked if secret in everything]


def test_the_input_token_goes_before_the_variables(runner: Runner, service: Service) -> None:
    bot = service.bot()
    runner.write("token_env: COMMANDSYNC_MINE\n" + fields(("help",)))
    runner.variables["COMMANDSYNC_MINE"] = "marked-other-token"
    runner.run(push(), base_url=bot.url, bot=bot.id, token=bot.token, ends="0 applied")


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_a_manifest_that_links_out_of_it_shows_nothing(runner: Runner, tmp_path: Path) -> None:
    secret = tmp_path / "secret.yaml"
    secret.write_text("version: 1\nuser: [p]hunter2\n", encoding="utf-8")
    (runner.workspace / "commands.yaml").symlink_to(secret)
    step = runner.run(pull_request(), ends="4 invalid")

    assert "link out of" in step.log
    assert "hunter2" not in step.log + step.summary
