"""Hints of the command line in the words of a workflow, which has inputs and no flags."""

from __future__ import annotations

import re

_EMPTY = (
    r"the input token and the variable \1 are empty: is the secret defined under the name that the "
    "workflow uses, and does the job name its environment? Forks and Dependabot get no secrets"
)
_IMPOSSIBLE = re.compile(  # in a workflow
    "; or make the deletes alone, with apply --only NAMES|; a lower concurrency helps"
    "|, or with a longer timeout|, or insecure_http=True if you are certain|, --only and --strict"
)
# The first that matches counts.
_WORDS = {
    r"set (\w+), or give --token-file": _EMPTY,
    r"(with )?plan --out": "in the mode plan",
    r"apply --plan": "the input plan-file",
    r"allow it with --max-deletes (\w+)": (
        r"allow it once: run the workflow by hand on the default branch, with the input "
        r"max-deletes: \1"
    ),
    r"--max-deletes (\w+%?)": r"the input max-deletes: \1",
    r"--max-deletes": "the input max-deletes",
    r"-f|--file": "the input file",
    r"--base-url": "the input base-url",
    r"--bot|bot=\.\.\.": "the input bot",
    r"--no-prune": "the input prune",
    r"--token-file|token=\.\.\.": "the input token",
    r"into the variable or file": "into the secret",
}
_FORMS = re.compile("|".join(rf"(?<![\w-])(?:{form})(?![\w-])" for form in _WORDS))


def in_inputs(hint: str) -> str:
    """Return a hint that names inputs where it named flags."""
    return _FORMS.sub(lambda match: _renamed(match[0]), _IMPOSSIBLE.sub("", hint))


def _renamed(text: str) -> str:
    return next(
        match.expand(words) for form, words in _WORDS.items() if (match := re.fullmatch(form, text))
    )
