"""Commands that frameworks have forms of their own for: decorators, and Telegram's handlers.

discordx, necord and discord-nestjs decorate (`decorated`). A decorator has literal arguments: a
name, or an object with the keys of Discord's commands. Options are decorated parameters of the
method (discordx), or decorated fields of a class that is the type of a parameter (necord,
discord-nestjs). Groups are decorators of the class or the method (discordx, necord), or name the
classes of their sub-commands (discord-nestjs). A guard for the bot's owner, of a method or a class,
makes its commands the owner's.

In grammY, Telegraf and GramIO, calls handle a command, or set a menu (`Telegram`). `Program` keeps
the calls whose names the frameworks have. They count if a file of the bot imports a framework of
Telegram, and the file of the call imports none of command lines.
"""

import re
from collections.abc import Iterator, Sequence

from commandsync.records.snapshot import Audience
from commandsync.sources.entry import Unread, as_list, is_owner_check
from commandsync.sources.javascript.program import Program
from commandsync.sources.javascript.value import (
    Computed,
    Function,
    Node,
    Record,
    Scope,
    Value,
    field,
    fields_of,
    first_part,
    parts,
)
from commandsync.sources.telegrammenu import (
    COMPUTED_MENU,
    SCOPES,
    CodeMenus,
    add_text,
    menu_entry,
)

_OF_DECORATORS = re.compile(rb"[\"'](discordx|necord|@discord-nestjs/[\w-]+)[\"']")
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

Groups = dict[str, Record]
"""The groups around a command by their names, the outermost first."""


def decorated(program: Program, owner: Function) -> list[Record] | None:
    """Return the commands of a class as Discord has them, each at the place of its decorator.

    Of a class that is a sub-command of another one, there are none; None for any other class.
    """
    library = _OF_DECORATORS.search(owner.scope.file.data)
    if not library:
        return None
    if library[1].startswith(b"@discord-nestjs"):
        command = _of_class(program, owner, "Command")
        return [command] if command else [] if _of_class(program, owner, "SubCommand") else None
    top: list[Record] = []
    wrapped: dict[str, Record] = {}
    for command, groups in _of_methods(program, owner):
        inside, path = top, ""
        for name, about in groups.items():
            members = {**about, **({"type": "SubcommandGroup"} if path else {}), "options": []}
            path = f"{path} {name}"
            if path not in wrapped:
                wrapped[path] = Record(members, command.at)
                inside.append(wrapped[path])
            inside = wrapped[path]["options"]
        inside.append(command)
    return top or None


def _of_class(program: Program, owner: Function, kind: str) -> Record | None:
    """Return the command of discord-nestjs that a class is; None if it is none of this kind."""
    around = [*_all(program, [owner.node.parent, owner.node], owner.scope)]
    for name, given, at in around:
        if name == kind:
            command = _command(given, "", at)
            include = command.pop("include", [])
            if kind == "Command" and include:
                command["options"] = [_included(program, part, at) for part in as_list(include)]
            _add_options(program, command, [part for _, part in _members(owner.node)], owner.scope)
            return _guarded(command, around)
    return None


def _included(program: Program, value: Value, at: Computed, depth: int = 0) -> Record:
    """Return a sub-command by its class, or a group by the call that is given its classes."""
    if isinstance(value, Function) and (command := _of_class(program, value, "SubCommand")):
        command["type"] = "Subcommand"
        return command
    if isinstance(value, Computed) and value.node.type == "call_expression" and not depth:
        inner = parts(field(value.node, "arguments"))
        about, *classes = [program.value(part, value.scope) for part in inner] or [None]
        options = [_included(program, part, value, depth + 1) for part in classes]
        return Record({**fields_of(about), "type": "SubcommandGroup", "options": options}, value)
    return Record({"name": value, "type": "Subcommand"}, at)


def _of_methods(program: Program, owner: Function) -> Iterator[tuple[Record, Groups]]:
    """Yield the commands that are methods, with the groups around each."""
    around = [*_all(program, [owner.node.parent, owner.node], owner.scope)]
    defined = {about["name"]: about for _, given, _ in around for about in _defined(given)}
    shared = _groups(around, defined, owner.scope)
    for decorators, method in _members(owner.node):
        found = [*_all(program, decorators, owner.scope)]
        groups = _groups(found, defined, owner.scope) or shared
        for name, given, at in found:
            if _COMMAND.fullmatch(name):
                command = _command(given, owner.scope.text(method, "name"), at)
                if kind := _MENUS.get(name, "Subcommand" if groups else None):
                    command["type"] = kind
                _add_options(program, command, [method], owner.scope)
                yield _guarded(command, [*around, *found]), {} if name in _MENUS else groups


def _defined(given: list[Value]) -> Iterator[Record]:
    """Yield the group that the arguments of `@SlashGroup` define."""
    return (about for about in given if isinstance(about, Record) and _is_named(about))


def _is_named(about: Record) -> bool:
    return isinstance(about.get("name"), str)


def _groups(found: list[Decorator], defined: Groups, scope: Scope) -> Groups:
    """Return the groups that decorators put commands into, the outermost first."""
    groups: list[Record] = []
    for name, given, at in found:
        made = scope.names.get(name)  # by `createCommandGroupDecorator` of necord
        if isinstance(made, Record) and _is_named(made):
            groups = [made, *_defined(given)]
        elif name == "SlashGroup" and given and not isinstance(given[0], Record):
            root = fields_of(defined.get(given[0])).get("root") if given[0] in defined else None
            names = [*filter(None, [*given[1:2], root])][:1] + given[:1]
            groups = [defined.get(each, Record({"name": each}, at)) for each in names]
    return {str(about["name"]): about for about in groups[:_MOST_GROUPS]}


def _guarded(command: Record, around: list[Decorator]) -> Record:
    """Return a command that is the owner's if one of the guards around it is for the owner."""
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


def _all(program: Program, nodes: Sequence[Node | None], scope: Scope) -> Iterator[Decorator]:
    """Yield the decorators of nodes, or those that they are."""
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
            written = scope.text(field(member, "type")).lstrip(": ")
            inferred = match[1] or _TYPES.get(written, written or "String")
            kind = option.get("type", inferred)
            option["type"] = kind if isinstance(kind, (int, str)) else inferred
            yield option


_OF_TELEGRAM = re.compile(
    rb"[\"'](?:npm:|https://[\w./]+/)?(telegraf|grammy|gramio|node-telegram-bot-api|@grammyjs/)"
)
_OF_COMMAND_LINES = re.compile(rb"[\"'](?:npm:)?(?:commander|yargs|cac|clipanion|oclif|sade)[/\"']")
_NAMED = re.compile(r"[\w.]*bot\.(start|help|settings)\(", re.IGNORECASE)  # of Telegraf
_COMPUTED_NAME = "the name of this command is computed at run time"
_COMPUTED = Audience("computed")  # of a menu whose scope or language only a run can tell
_HANDLER = "command"  # the method of a bot or a router that handles a command
_MOST_HEAD = 4000  # bytes with the imports of a file

Call = tuple[str, list[Value], Computed]
"""The name, the arguments and the place of a call."""


class Telegram:
    """Reads the handlers and the menus of all files; nothing without a framework of Telegram."""

    def __init__(self, program: Program) -> None:
        """Read the calls; what is computed is not read, unless a menu has all that is public."""
        self._program = program
        self.menus = CodeMenus()
        self.covered: set[Computed] = set()
        self._skipped: list[tuple[str, Computed, str]] = []
        self._libraries = {
            match[1]
            for file in program.files
            if (match := _OF_TELEGRAM.search(file.data, 0, _MOST_HEAD))
        }
        for call in self._calls():
            self._read(*call)

    @property
    def unread(self) -> list[Unread]:
        """The calls that are not read."""
        skipped = [] if self.menus.is_closed else self._skipped
        return [Unread(at.place, reason, name) for reason, at, name in skipped]

    def _calls(self) -> Iterator[Call]:
        """Yield each call of the frameworks once."""
        known = set()
        for name, given, at in self._program.calls if self._libraries else ():
            is_other = _OF_COMMAND_LINES.search(at.scope.file.data, 0, _MOST_HEAD)
            if given and not is_other and at.node.id not in known:
                known.add(at.node.id)
                yield name, given, at

    def _read(self, name: str, given: list[Value], at: Computed) -> None:
        first = given[0]
        if name == "setMyCommands":
            self._menu(given, at)
        elif name == _HANDLER or (name == "Command" and isinstance(first, str)):
            self._handlers(as_list(first), given, at)
        elif b"telegraf" in self._libraries and (named := _NAMED.match(at.text)):
            self._handlers([] if isinstance(first, Record) else [named[1]], given, at)

    def _handlers(self, names: list[Value], given: list[Value], at: Computed) -> None:
        self.covered.add(at)
        about = fields_of(given[1]).get("description", given[1]) if given[1:] else ""
        for name in names:
            if isinstance(name, str) and name.strip("/ "):
                entry = menu_entry(name.strip().removeprefix("/"), self._text(about), at.place)
                self.menus.handlers.setdefault(entry.name, entry)
            else:
                self._skipped.append(
                    (_COMPUTED_NAME, name if isinstance(name, Computed) else at, "")
                )

    def _menu(self, given: list[Value], at: Computed) -> None:
        """Read a call that sets a menu: its list and options, or one object with both."""
        self.covered.add(at)
        both = fields_of(given[0])
        commands = both.get("commands") if both else given[0]
        key = _audience(both or fields_of(given[1] if given[1:] else None))
        listed = self.menus.menus.setdefault(key, {})
        for part in commands if isinstance(commands, list) else [None]:
            name = fields_of(part).get("command")
            if isinstance(part, Record) and isinstance(name, str) and name.strip("/ "):
                text = self._text(fields_of(part).get("description"))
                add_text(listed, menu_entry(name.strip().removeprefix("/"), text, part.at.place))
            else:
                self.menus.partial.add(key)
                reason = COMPUTED_MENU if part is None else _COMPUTED_NAME
                self._skipped.append((reason, getattr(part, "at", part) or at, ""))

    def _text(self, value: Value) -> str:
        """Return a description; empty if only a run can tell it."""
        return self._program.text_of(value) if isinstance(value, str) else ""


def _audience(options: dict[str, Value]) -> Audience:
    scope = options.get("scope")
    name = fields_of(scope).get("type") if scope else SCOPES[0]
    language = options.get("language_code") or ""
    if isinstance(name, str) and isinstance(language, str):
        return Audience(name, language)
    return _COMPUTED
