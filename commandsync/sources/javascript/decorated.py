"""Commands that decorators declare: discordx, necord and discord-nestjs.

A decorator has literal arguments: a name, or an object with the keys of Discord's commands. Options
are decorated parameters of the method (discordx), or decorated fields of a class that is the type
of a parameter (necord, discord-nestjs). Groups of discordx are decorators of the class.
"""

import re
from collections.abc import Iterator, Sequence

from commandsync.sources.javascript.program import Program
from commandsync.sources.javascript.value import (
    Computed,
    Function,
    Node,
    Record,
    Scope,
    Value,
    field,
    first_part,
    parts,
)

_LIBRARY = re.compile(rb"[\"'](discordx|necord|@discord-nestjs/[\w-]+)[\"']")
_COMMAND = re.compile(r"Slash(Command)?|Command|SubCommand|(User|Message)(Command)?")
_OPTION = re.compile(r"SlashOption|Param|(\w+)Option")
_MENUS = {"User": "User", "UserCommand": "User", "Message": "Message", "MessageCommand": "Message"}
_WORD = re.compile(r"[A-Z]\w*")


def decorated(program: Program, owner: Function) -> Iterator[Record]:
    """Yield the commands of a class as Discord has them, each at the place of its decorator."""
    library = _LIBRARY.search(owner.scope.file.data)
    if not library:
        return
    scope, node = owner.scope, owner.node
    of_class = {name: (given, at) for name, given, at in _all(program, [node.parent, node], scope)}
    if "SlashGroup" in of_class and library[1] == b"discordx":
        yield _grouped(program, owner, *of_class["SlashGroup"])
    elif "Command" in of_class and library[1] != b"discordx":  # the class is the command
        given, at = of_class["Command"]
        command = _command(given, "", at)
        if "include" in command:  # a group, with classes as its commands
            return
        methods = [part for _, part in _members(node)]
        _add_options(program, command, methods, scope)
        yield command
    else:
        yield from (command for command, _ in _of_methods(program, owner))


def _grouped(program: Program, owner: Function, group: list[Value], at: Computed) -> Record:
    """Return the command of a class whose methods are in a group: its sub-commands."""
    inner = [command for command, kind in _of_methods(program, owner) if kind == "Slash"]
    whole = _command(group, "", Computed(owner.node, owner.scope))
    for command in inner:
        command["type"] = "Subcommand"
    whole["options"] = inner
    if "root" in whole:  # a group in a group of another class
        whole["name"] = at
    return whole


def _of_methods(program: Program, owner: Function) -> Iterator[tuple[Record, str]]:
    for decorators, method in _members(owner.node):
        for name, given, at in _all(program, decorators, owner.scope):
            if _COMMAND.fullmatch(name) and name != "Command":
                command = _command(given, owner.scope.text(method, "name"), at)
                if menu := _MENUS.get(name):
                    command["type"] = menu
                _add_options(program, command, [method], owner.scope)
                yield command, name.removesuffix("Command")


def _members(node: Node) -> Iterator[tuple[list[Node], Node]]:
    """Yield the methods and fields of a class, with the nodes of their decorators."""
    waiting: list[Node] = []
    for part in parts(field(node, "body")):
        if part.type == "decorator":
            waiting.append(part)
        else:
            inner = [child for child in part.named_children if child.type == "decorator"]
            yield [*waiting, *inner], part
            waiting = []


def _all(
    program: Program, nodes: Sequence[Node | None], scope: Scope
) -> Iterator[tuple[str, list[Value], Computed]]:
    """Yield the name, the arguments and the place of each decorator of nodes, or that they are."""
    for node in filter(None, nodes):
        inner = [node] if node.type == "decorator" else node.children_by_field_name("decorator")
        for decorator in inner:
            call = first_part(decorator)
            name = scope.text(call, "function") if field(call, "function") else scope.text(call)
            given = parts(field(call, "arguments")) if field(call, "function") else []
            values = [program.value(argument, scope) for argument in given]
            yield name, values, Computed(decorator, scope)


def _command(given: list[Value], default: str, at: Computed) -> Record:
    """Return a command or an option by the arguments of its decorator."""
    record = Record({"name": default} if default else {}, at)
    for number, value in enumerate(given):
        if isinstance(value, Record):
            record.update(value)
        elif isinstance(value, str) or number == 0:
            record["name"] = value
    return record


def _add_options(program: Program, command: Record, methods: Sequence[Node], scope: Scope) -> None:
    options: list[Value] = list(command.get("options", []) or [])
    for method in methods:
        for parameter in parts(field(method, "parameters")):
            options += _options(program, [parameter], parameter, scope)
            for word in _WORD.findall(scope.text(field(parameter, "type"))):
                meant = scope.names.get(word)
                if isinstance(meant, Function):
                    for decorators, member in _members(meant.node):
                        options += _options(program, decorators, member, meant.scope)
    if options:
        command["options"] = sorted(options, key=_is_optional)


def _is_optional(option: Value) -> bool:
    return not (isinstance(option, dict) and option.get("required") is True)


def _options(
    program: Program, decorators: list[Node], member: Node, scope: Scope
) -> Iterator[Record]:
    default = re.sub(r"[^\w].*", "", scope.text(field(member, "name", "property", "pattern")))
    for name, given, _ in _all(program, decorators, scope):
        if match := _OPTION.fullmatch(name):
            option = _command(given, default, Computed(member, scope))
            kind = option.get("type", match[1] or "String")
            option["type"] = kind if isinstance(kind, (int, str)) else "String"
            yield option
