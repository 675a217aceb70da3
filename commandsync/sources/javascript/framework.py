"""Commands that are classes or methods with decorators: discordx, necord, discord-nestjs, Seyfert.

A decorator is a framework's by its import. It has literal arguments: a name, or an object with the
keys of Discord's commands. Options are decorated parameters of the method (discordx), decorated
fields of a class that is the type of a parameter (necord, discord-nestjs), or the members of an
object (Seyfert). Groups are decorators of the class or the method (discordx, necord), or name the
classes of their sub-commands (discord-nestjs, Seyfert). Where Seyfert loads the sub-commands of a
folder, they are the classes in it. A guard for the bot's owner, of a method or a class, makes its
commands the owner's.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from commandsync.sources.entry import as_list, is_owner_check
from commandsync.sources.javascript.function import decorators_of
from commandsync.sources.javascript.program import Program
from commandsync.sources.javascript.value import (
    REST,
    BlockScope,
    Computed,
    Function,
    ImportedValue,
    Node,
    ObjectValue,
    Value,
    field,
    fields_of,
    first_part,
    parts,
)

_LIBRARIES = ("discordx", "necord", "@discord-nestjs/", "seyfert")
_NESTJS = "@discord-nestjs/"
_SUB = re.compile(r"Sub[cC]ommand")
_COMMAND = re.compile(r"Slash(Command)?|Sub[cC]ommand|(User|Message)(Command)?")
_OPTION = re.compile(r"SlashOption|Param|(\w+)Option")
_MENUS = {"User": "User", "UserCommand": "User", "Message": "Message", "MessageCommand": "Message"}
_TYPES = {"string": "String", "boolean": "Boolean", "GuildMember": "User"}  # in TypeScript
_GUARDS = {"Guard", "UseGuards"}
_OWNERS_ONLY = "ownerOnly"
_HEAD = re.compile(r"(?:new\s+)?(?:\w+\.)*(\w*)")
_WORD = re.compile(r"[A-Z]\w*")
_MOST_GROUPS = 2  # command > group > sub-command

Decorator = tuple[str, list[Value], Computed]
"""The name, the arguments and the place of a decorator."""

Groups = dict[str, ObjectValue]
"""The groups around a command by their names, the outermost first."""


def decorated(program: Program, owner: Function) -> list[ObjectValue] | None:
    """Return the commands of a class as Discord has them, each at the place of its decorator.

    Of a class that is a sub-command of another one, there are none; None for any other class.
    """
    libraries = set(_origins(program, owner))
    if "seyfert" in libraries:
        command = None if _is_below(program, owner) else _of_seyfert(program, owner, "")
        return [command] if command else [] if _is_below(program, owner) else None
    if any(module.startswith(_NESTJS) for module in libraries):
        command = _of_class(program, owner, "Command")
        if command or _of_class(program, owner, "SubCommand"):
            return [command] if command else []
    return _in_groups(_of_methods(program, owner)) or None


def _in_groups(commands: Iterable[tuple[ObjectValue, Groups]]) -> list[ObjectValue]:
    """Return commands inside of the groups around them."""
    top: list[ObjectValue] = []
    wrapped: dict[str, ObjectValue] = {}
    for command, groups in commands:
        inside, path = top, ""
        for name, about in groups.items():
            members = {**about, **({"type": "SubcommandGroup"} if path else {}), "options": []}
            path = f"{path} {name}"
            if path not in wrapped:
                wrapped[path] = ObjectValue(members, command.at)
                inside.append(wrapped[path])
            inside = wrapped[path]["options"]
        inside.append(command)
    return top


def _origins(program: Program, owner: Function) -> Iterator[str]:
    """Yield the packages of the decorators of a class."""
    for decorator in decorators_of(owner.node):
        call = first_part(decorator)
        made = program.value(field(call, "function") or call, owner.scope)
        if isinstance(made, ImportedValue):
            yield made.module


def _of_seyfert(program: Program, owner: Function, kind: str) -> ObjectValue | None:
    """Return the command of Seyfert that a class is, or the sub-command, with its type."""
    around = _all(program, decorators_of(owner.node), owner.scope)
    by_name = {name: (given, at) for name, given, at in around}
    if "Declare" not in by_name:
        return None
    given, at = by_name["Declare"]
    command = ObjectValue({**fields_of(given[0] if given else None)}, at)
    if of_type := kind or program.fields(owner).get("type"):
        command["type"] = of_type
    listed = next(iter(by_name.get("Options", ([], at))[0]), None)
    if "AutoLoad" in by_name:
        folder = PurePosixPath(owner.scope.file.path).parent
        listed = [
            each
            for each in program.classes
            if folder in PurePosixPath(each.scope.file.path).parents and _is_below(program, each)
        ]
    groups = fields_of(next(iter(by_name.get("Groups", ([], at))[0]), None))
    if listed is not None:
        command["options"] = _options_of(program, listed, groups, at)
    return command


def _options_of(program: Program, listed: Value, groups: dict[str, Value], at: Computed) -> Value:
    """Return the options of a command of Seyfert: an object by their names, or sub-commands."""
    if isinstance(listed, list):
        return _below(program, listed, groups, at)
    if not isinstance(listed, ObjectValue):
        return listed
    named = [
        ObjectValue({"name": key, **part}, part.at) if isinstance(part, ObjectValue) else part
        for key, part in listed.items()
    ]
    return sorted(named, key=_is_optional)


def _is_below(program: Program, owner: Function) -> bool:
    """Whether a class is a sub-command of Seyfert."""
    bases = program.lineage(owner)
    return bool(bases) and isinstance(bases[-1], ImportedValue) and bases[-1].name == "SubCommand"


def _below(
    program: Program, classes: Iterable[Value], groups: dict[str, Value], at: Computed
) -> list[Value]:
    """Return the sub-commands of a command, with groups as parts of it."""
    found: list[Value] = []
    inside: dict[str, ObjectValue] = {}
    for each in classes:
        is_class = isinstance(each, Function)
        command = _of_seyfert(program, each, "Subcommand") if is_class else None
        around = _all(program, decorators_of(each.node), each.scope) if command else []
        named = next((given[0] for name, given, _ in around if name == "Group" and given), None)
        if command is None:
            found.append(ObjectValue({REST: each, "type": "Subcommand"}, at))
        elif not isinstance(named, str):
            found.append(command)
        else:
            if named not in inside:
                text = fields_of(groups.get(named)).get("defaultDescription")
                about: dict[str, Value] = {"name": named, "description": text, "options": []}
                inside[named] = ObjectValue({**about, "type": "SubcommandGroup"}, command.at)
                found.append(inside[named])
            inside[named]["options"].append(command)
    return found


def unclaimed(program: Program, owner: Function, read: set[Computed]) -> ObjectValue | None:
    """Return a sub-command of Seyfert or discord-nestjs that no command has, as far as is known."""
    libraries = set(_origins(program, owner))
    command = None
    if "seyfert" in libraries and _is_below(program, owner):
        command = _of_seyfert(program, owner, "Subcommand")
    elif any(module.startswith(_NESTJS) for module in libraries):
        command = _of_class(program, owner, "SubCommand")
    known = {at.node.id for at in read}
    return command if command is not None and command.at.node.id not in known else None


def _of_class(program: Program, owner: Function, kind: str) -> ObjectValue | None:
    """Return the command of discord-nestjs that a class is; None if it is none of this kind."""
    around = _all(program, decorators_of(owner.node), owner.scope)
    for name, given, at in around:
        if name == kind:
            command = _command(given, "", at)
            include = command.pop("include", [])
            if kind == "Command" and include:
                command["options"] = [_included(program, part, at) for part in as_list(include)]
            _add_options(program, command, [part for _, part in _members(owner.node)], owner.scope)
            return _guarded(command, around)
    return None


def _included(program: Program, value: Value, at: Computed, depth: int = 0) -> ObjectValue:
    """Return a sub-command by its class, or a group by the call that is given its classes."""
    if isinstance(value, Function) and (command := _of_class(program, value, "SubCommand")):
        command["type"] = "Subcommand"
        return command
    if isinstance(value, Computed) and value.node.type == "call_expression" and not depth:
        inner = parts(field(value.node, "arguments"))
        about, *classes = [program.value(part, value.scope) for part in inner] or [None]
        options = [_included(program, part, value, depth + 1) for part in classes]
        return ObjectValue(
            {**fields_of(about), "type": "SubcommandGroup", "options": options}, value
        )
    return ObjectValue({"name": value, "type": "Subcommand"}, at)


def _of_methods(program: Program, owner: Function) -> Iterator[tuple[ObjectValue, Groups]]:
    """Yield the commands that are methods, with the groups around each."""
    around = _all(program, decorators_of(owner.node), owner.scope)
    defined = {about["name"]: about for _, given, _ in around for about in _defined(given)}
    shared = _groups(around, defined, owner.scope)
    for decorators, method in _members(owner.node):
        found = _all(program, decorators, owner.scope)
        groups = _groups(found, defined, owner.scope) or shared
        for name, given, at in found:
            if _COMMAND.fullmatch(name):
                command = _command(given, owner.scope.text(method, "name"), at)
                is_below = groups or _SUB.fullmatch(name)
                if kind := _MENUS.get(name, "Subcommand" if is_below else None):
                    command["type"] = kind
                _add_options(program, command, [method], owner.scope)
                yield _guarded(command, [*around, *found]), {} if name in _MENUS else groups


def _defined(given: list[Value]) -> Iterator[ObjectValue]:
    """Yield the group that the arguments of `@SlashGroup` define."""
    return (about for about in given if isinstance(about, ObjectValue) and _is_named(about))


def _is_named(about: ObjectValue) -> bool:
    return isinstance(about.get("name"), str)


def _groups(found: list[Decorator], defined: Groups, scope: BlockScope) -> Groups:
    """Return the groups that decorators put commands into, the outermost first."""
    groups: list[ObjectValue] = []
    for name, given, at in found:
        made = scope.names.get(name)  # by `createCommandGroupDecorator` of necord
        if isinstance(made, ObjectValue) and _is_named(made):
            groups = [made, *_defined(given)]
        elif name == "SlashGroup" and given and isinstance(given[0], str):
            root = fields_of(defined.get(given[0])).get("root") if given[0] in defined else None
            names = [*filter(None, [*given[1:2], root])][:1] + given[:1]
            groups = [defined.get(each, ObjectValue({"name": each}, at)) for each in names]
    return {str(about["name"]): about for about in groups[:_MOST_GROUPS]}


def _guarded(command: ObjectValue, around: list[Decorator]) -> ObjectValue:
    """Return a command, marked as the owner's if a guard around it is for the owner."""
    for _, _, at in (decorator for decorator in around if decorator[0] in _GUARDS):
        for guard in parts(field(first_part(at.node), "arguments")):
            head = _HEAD.match(at.scope.text(guard))
            if head and is_owner_check(head[1]):
                command[_OWNERS_ONLY] = True
    return command


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


def _all(program: Program, decorators: Iterable[Node], scope: BlockScope) -> list[Decorator]:
    """Return the decorators of the frameworks, and those that the bot makes with them."""
    found = []
    for decorator in decorators:
        call = first_part(decorator)
        named = field(call, "function") or call
        made = program.value(named, scope)
        if isinstance(made, ImportedValue) and made.is_of(*_LIBRARIES, "@nestjs/"):
            name = made.name.rpartition(".")[2]
        elif isinstance(made, ObjectValue):  # by `createCommandGroupDecorator` of necord
            name = scope.text(named)
        else:
            continue
        given = program.listed(field(call, "arguments"), scope) if call != named else []
        found.append((name, given, Computed(decorator, scope)))
    return found


def _command(given: list[Value], default: str, at: Computed) -> ObjectValue:
    """Return a command or an option by the arguments of its decorator."""
    record = ObjectValue({"name": default} if default else {}, at)
    for number, value in enumerate(given):
        if isinstance(value, ObjectValue):
            record.update(value)
        elif isinstance(value, str) or number == 0:
            record["name"] = value
    return record


def _add_options(
    program: Program, command: ObjectValue, methods: Sequence[Node], scope: BlockScope
) -> None:
    options: list[Value] = list(command.get("options", []) or [])
    for method in methods:
        for parameter in parts(field(method, "parameters")):
            decorators = parameter.children_by_field_name("decorator")
            options += _options(program, decorators, parameter, scope)
            for word in _WORD.findall(scope.text(field(parameter, "type"))):
                meant = scope.names.get(word)
                if isinstance(meant, ImportedValue) and meant.is_file and decorators:
                    command[REST] = meant  # its fields may be options
                if isinstance(meant, Function):
                    for decorators, member in _members(meant.node):
                        options += _options(program, decorators, member, meant.scope)
    if options:
        command["options"] = sorted(options, key=_is_optional)


def _is_optional(option: Value) -> bool:
    return not (isinstance(option, dict) and option.get("required") is True)


def _options(
    program: Program, decorators: list[Node], member: Node, scope: BlockScope
) -> Iterator[ObjectValue]:
    default = re.sub(r"[^\w].*", "", scope.text(field(member, "name", "property", "pattern")))
    for name, given, _ in _all(program, decorators, scope):
        if match := _OPTION.fullmatch(name):
            option = _command(given, default, Computed(member, scope))
            written = scope.text(field(member, "type")).lstrip(": ")
            inferred = match[1] or _TYPES.get(written, written or "String")
            kind = option.get("type", inferred)
            option["type"] = kind if isinstance(kind, (int, str)) else inferred
            yield option
