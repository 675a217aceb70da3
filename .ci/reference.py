"""Write the generated parts of docs/: the commands, and what is known of the listing services.

With `--check` it checks that the pages are current.
"""

from __future__ import annotations

import re
import sys
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING

import click

from commandsync.cli.help import OWN
from commandsync.cli.program import program
from commandsync.report.services import services_markdown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

DOCS = Path(__file__).resolve().parents[1] / "docs"
SHARED = ("Manifest", "Service", "Output")  # the sections of help pages that are described once
_DEFAULT = re.compile(r"\s*\[default: ([^]]+)\]")
_AS_WRITTEN = "\b\n"  # click's mark of a paragraph that it does not wrap
_OPTION = re.compile(r"(?<![\w`-])--?[a-z][a-z-]*")
_PATH = re.compile(r"(?<!`)\b[\w./-]+\.(?:yaml|json|md|db)\b|\bCOMMANDSYNC_[A-Z]+\b")


def commands_of(group: click.Group, inside: str) -> Iterator[tuple[str, click.Command]]:
    """Yield every command with its full name, each group before its commands."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None and not command.hidden:
            yield f"{inside} {name}", command
        if isinstance(command, click.Group):
            yield from commands_of(command, f"{inside} {name}")


def options_of(command: click.Command) -> list[click.Option]:
    """Return the options of a command without `--help`."""
    return [option for option in command.params if isinstance(option, click.Option)]


def row(option: click.Option) -> str:
    """Return the line of an option in a table."""
    text = option.help or ""
    default = _DEFAULT.search(text)
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    if not option.is_flag and not option.count:
        names = f"{names[:-1]} {_metavar(option)}`"
    shown = default[1] if default else _default(option)
    meaning = prose(_DEFAULT.sub("", text))
    if isinstance(option.type, click.IntRange | click.FloatRange) and option.type.max is not None:
        meaning += f" From {option.type.min:,} to {option.type.max:,}."
    if option.envvar:
        meaning += f" Environment variable: `{option.envvar}`."
    return f"| {names.replace('|', chr(92) + '|')} | {f'`{shown}`' if shown else ''} | {meaning} |"


def _metavar(option: click.Option) -> str:
    if option.metavar:
        return option.metavar
    if isinstance(option.type, click.Choice):
        return "|".join(map(str, option.type.choices))
    return "N" if isinstance(option.type, click.IntRange) else "TEXT"


def _default(option: click.Option) -> str:
    default = option.to_info_dict()["default"]
    if option.is_flag or option.count or default is None:
        return ""
    return f"{default:g}" if isinstance(default, float) else str(default)


def prose(text: str) -> str:
    """Return a text of click as Markdown, in one line."""
    text = re.sub(r"([*|<])", r"\\\1", " ".join(text.split()))
    return _PATH.sub(r"`\g<0>`", _OPTION.sub(r"`\g<0>`", text))


def table(head: str, options: Iterable[click.Option]) -> str:
    """Return options as a table."""
    return "\n".join([f"| {head} | default | meaning |", "|---|---|---|", *map(row, options)])


def described(name: str, command: click.Command) -> str:
    """Return the section of a command."""
    context = click.Context(command, info_name=name)
    usage = " ".join(command.collect_usage_pieces(context))
    paragraphs = cleandoc(command.help or "").split("\n\n")
    arguments = [
        f"`{argument.make_metavar(context)}`: {prose(argument.help)}"
        for argument in command.params
        if isinstance(argument, click.Argument) and argument.help
    ]
    heading = (f"### {name}", f"```text\n{name} {usage}\n```")
    return "\n\n".join(
        [*heading, *map(paragraph_of, paragraphs), *arguments, *options_part(options_of(command))]
    )


def paragraph_of(text: str) -> str:
    """Return a paragraph of a help text as Markdown: the examples as a block."""
    if not text.startswith(_AS_WRITTEN):
        return prose(text)
    head, *examples = text.removeprefix(_AS_WRITTEN).splitlines()
    return "\n".join([head, "", "```sh", *map(str.strip, examples), "```"])


def options_part(options: Sequence[click.Option]) -> Iterator[str]:
    """Yield the own options of a command as a table, and the names of the shared ones."""
    own = [option for option in options if section_of(option) not in SHARED]
    if own:
        yield table("own option", own)
    for shared in SHARED:
        names = [f"`{max(o.opts, key=len)}`" for o in options if section_of(o) == shared]
        if names:
            yield f"[{shared} options](#{shared.lower()}-options): {', '.join(names)}"


def section_of(option: click.Option) -> str:
    """Return the section of the help page that has an option."""
    return str(getattr(option, "section", OWN))


def key(option: click.Option) -> tuple[str, str]:
    """Return what two commands have in common if they share an option."""
    return option.opts[-1], option.help or ""


def reference() -> dict[str, str]:
    """Return the generated parts of the page, by their names."""
    commands = dict(commands_of(program, "commandsync"))
    options = [option for command in commands.values() for option in options_of(command)]
    shared = {key(option): option for option in options if section_of(option) in SHARED}
    return {
        "shared options": "\n\n".join(
            f"### {name} options\n\n{table('shared option', options)}"
            for name in SHARED
            if (options := [shared[k] for k in sorted(shared) if section_of(shared[k]) == name])
        ),
        "commands": "\n\n".join(described(name, command) for name, command in commands.items()),
    }


PAGES: Mapping[str, Callable[[], dict[str, str]]] = {
    "command-line.md": reference,
    "listings.md": lambda: {"services": services_markdown()},
}


def with_parts(name: str) -> str:
    """Return a page with its current generated parts."""
    text = (DOCS / name).read_text(encoding="utf-8")
    for title, part in PAGES[name]().items():
        before, begin, rest = text.partition(f"<!-- {title} -->\n\n")
        _, end, after = rest.partition("\n\n<!-- end -->")
        if not end:
            sys.exit(f"docs/{name} has no place for the {title}")
        text = f"{before}{begin}{part}{end}{after}"
    return text


def main(arguments: Sequence[str]) -> int:
    """Write the pages, or with `--check` name those that differ; return the exit code."""
    code = 0
    for name in PAGES:
        page, current = DOCS / name, with_parts(name)
        if current == page.read_text(encoding="utf-8"):
            continue
        if arguments == ["--check"]:
            print(f"docs/{name} is not current: run make reference", file=sys.stderr)
            code = 1
        else:
            page.write_text(current, encoding="utf-8", newline="\n")
            print(f"wrote docs/{name}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
