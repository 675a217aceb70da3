"""GitHub's choice of jobs, as far as our workflow needs it: conditions, and inputs of steps."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.support.runner import ROOT, Event

Job = dict[str, Any]

SYNC = ROOT / ".github" / "workflows" / "sync.yml"
COMMENT = SYNC.with_name("comment.yml")
ACTION_PATH = "./.commandsync"
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_TOKEN = re.compile(r"'[^']*'|==|&&|\|\||[(),]|[\w.-]+|\s+")
_OPERATORS = {"==": "==", "&&": " and ", "||": " or "}


def definition(path: Path = SYNC) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    content: dict[str, Any] = yaml.load(text, yaml.BaseLoader)  # noqa: S506 - it makes only strings
    return content


def started(event: Event, **given: str) -> dict[str, dict[str, str]]:
    """Return the jobs that an event starts, each with the inputs of its Action's step.

    `given` is what the caller has under `with:`; `_` stands for `-`.
    """
    workflow = definition()
    declared = workflow["on"]["workflow_call"]["inputs"]
    given = {name.replace("_", "-"): value for name, value in given.items()}
    assert given.keys() <= declared.keys()
    inputs = {name: given.get(name, each.get("default", "")) for name, each in declared.items()}
    contexts = dict(_flattened("github", _context(event)))
    contexts |= {f"inputs.{name}": value for name, value in inputs.items()}
    contexts["secrets.COMMANDSYNC_TOKEN"] = "marked-secret-of-the-workflow"
    return {
        name: _inputs_of(job, contexts)
        for name, job in workflow["jobs"].items()
        if _value(job["if"], contexts)
    }


def script(path: Path, step: str) -> str:
    """Return the script of a named step."""
    jobs = definition(path)["jobs"].values()
    (found,) = (each for job in jobs for each in job["steps"] if each.get("name") == step)
    text: str = found["run"]
    return text


def _inputs_of(job: Job, contexts: Mapping[str, str]) -> dict[str, str]:
    (step,) = (step for step in job["steps"] if step.get("uses") == ACTION_PATH)
    return {
        name: _EXPRESSION.sub(lambda match: str(_value(match[1], contexts)), value)
        for name, value in step["with"].items()
    }


def _context(event: Event) -> dict[str, Any]:
    return {
        "event": event.payload,
        "event_name": event.name,
        "ref": event.variables.get("GITHUB_REF", ""),
    }


def _flattened(name: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flattened(f"{name}.{key}", inner)
    else:
        yield name, str(value)


def _value(expression: str, contexts: Mapping[str, str]) -> object:
    """Evaluate an expression: what is not there is an empty string, as GitHub has it."""
    tokens = _TOKEN.findall(expression)
    assert "".join(tokens) == expression, f"not understood: {expression}"
    python = "".join(_python(token, contexts) for token in tokens)
    return eval(python.strip(), {"format": lambda text, *values: text.format(*values)})  # noqa: S307 - our own workflow


def _python(token: str, contexts: Mapping[str, str]) -> str:
    if token in {"(", ")", ",", "format"} or token.startswith("'") or not token.strip():
        return token.strip() or " "
    return _OPERATORS.get(token) or repr(contexts.get(token, ""))
