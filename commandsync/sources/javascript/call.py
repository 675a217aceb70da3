"""Calls in a bot's code: their results, and the commands that they register or are given.

A call of a function of the bot is followed. Methods of builders, lists and objects are known. Any
other function is a library's, or is not found: it may call the functions that it is given, it
registers commands if it is one that does, and it may wrap the object that it is given.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from commandsync.diagnostics import Location
from commandsync.sources.entry import as_list
from commandsync.sources.javascript.expression import Expressions
from commandsync.sources.javascript.value import (
    REST,
    BlockScope,
    Builder,
    Computed,
    Function,
    ImportedValue,
    MissingText,
    Node,
    ObjectValue,
    Value,
    field,
    fields_of,
)

_BUILDER = re.compile(
    r"(?:\w+\.)*(?:SlashCommand|ChatInputCommand|(User|Message)?Context(?:Menu)?Command)"
    r"(Subcommand(?:Group)?|\w+(?=Option))?(?:Option)?(?:Builder)?"
)
_OF_BUILDERS = ("discord.js", "@discordjs/", "@sapphire/")
_KNOWN = (  # packages whose classes, functions and decorators are known, or declare no command
    *(*_OF_BUILDERS, "discordx", "necord", "@discord-nestjs/", "@nestjs/", "@skyra/", "seyfert"),
    *("slash-create", "eris", "oceanic.js", "commandkit", "telegraf", "grammy", "@grammyjs/"),
    *("node", "events", "node:events"),
)
_MAKER = re.compile("command", re.IGNORECASE)
_KEEPING = re.compile(  # names of functions that do not change a builder
    r".*command.*|(set|push|put|create|add|log|stringify|(define|register|deploy)\w*)",
    re.IGNORECASE,
)
_TO_REGISTRY = re.compile(r"[rR]egister(ChatInput|ContextMenu)?Command")  # of Sapphire
_REGISTERING = re.compile(
    r"(create|set|put|edit|add|update|upsert|overwrite|bulk|install|register|deploy|publish|sync"
    r"|upload)\w*commands?",
    re.IGNORECASE,
)
_SENDING = {"put", "post", "fetch", "request"}
_SENT = re.compile(r"commands", re.IGNORECASE)  # in the address of what is sent
_COMMANDS = re.compile(r"\bcommands\s*\??\.\s*(set|create)\s*\(")
_OPTION = re.compile(r"create(\w+)Option")  # of Seyfert
_OF_ERIS = {"registerCommand", "registerSubcommand"}
_OF_LISTS = {"push", "map", "forEach", "concat"}
_WHOLE = {"freeze", "stringify", "from", "structuredClone", "values", "assign"}
_UNKNOWN_PART = "a part of the list of commands is not followed"


class FunctionCall(NamedTuple):
    """A call of a function that is not the bot's, or is not found."""

    name: str
    given: list[Value]
    at: Computed
    owner: Value = None  # of the method; None for a function


class Calls(Expressions):
    """Evaluates calls; `Program` has the files, functions and classes."""

    def __init__(self, texts: dict[str, str] | None) -> None:
        super().__init__()
        self._texts = texts
        self.calls: list[FunctionCall] = []
        self.built: list[Builder] = []  # what builders have begun, options and sub-commands apart
        self.chained: set[int] = set()  # the calls of builders that are followed, by their nodes
        self.registered: list[
            tuple[Value, ObjectValue]
        ] = []  # commands, with the arguments beside them
        self.pushed: list[ObjectValue] = []  # objects that lists got
        self.handlers: list[ObjectValue] = []  # objects that calls about commands are given
        self.partly: list[tuple[Location, str]] = []

    def call(self, node: Node, scope: BlockScope) -> Value:
        """Return the result of a call."""
        function, at = field(node, "function"), Computed(node, scope)
        given = self.listed(field(node, "arguments"), scope)
        member = field(function, "property")
        name, owner = scope.text(member) or scope.text(function), None
        if name == "require" or (function and function.type == "import"):
            return self.module(next(iter(given), None), at)
        if function and member:
            owner = self.value(function, scope, "object")
            called = self.member_of(owner, function, scope)
        else:
            called = self.value(function, scope)
        call = FunctionCall(name, given, at, owner)
        if name == "super":
            self.extend(call)
            return at
        self._register(call, is_library=is_known(called))
        return self.own(called, call) if isinstance(called, Function) else self._of(call, called)

    def _of(self, call: FunctionCall, called: Value) -> Value:
        """Return the result of a method of a value, or of a function that is not the bot's."""
        name, given, _, owner = call
        match owner:
            case Builder():
                return self._built(owner, call)
            case list() if name in _OF_LISTS and given:
                return self._of_list(owner, call)
            case ObjectValue() if name == "toJSON":
                return owner
        if name in _WHOLE and given and isinstance(given[0], (ObjectValue, list)):
            return _whole(name, given)
        result = self._unknown(call, called)
        return self._text(given, result) if isinstance(result, Computed) else result

    def _text(self, given: list[Value], computed: Computed) -> Value:
        """Return the text of the bot for a call with one literal, such as `t("ping.text")`."""
        literals = [value for value in given if isinstance(value, str)]
        if self._texts is None or len(literals) != 1:
            return computed
        return self._texts.get(literals[0], MissingText(computed.node, computed.scope))

    def text_of(self, key: str) -> str | None:
        """Return the text of the bot with this key; None without one."""
        return (self._texts or {}).get(key)

    def _built(self, owner: Builder, call: FunctionCall) -> Builder:
        """Return a builder after a call of one of its methods."""
        self.chained.add(call.at.node.id)
        flat = [part for argument in call.given for part in as_list(argument)]
        built = [
            self.called(part, [Builder({}, part, self.level)])
            if isinstance(part, Function)
            else part
            for part in flat
        ]
        owner.apply(call.name if owner.level >= self.level else "", built, call.at)
        return owner

    def _of_list(self, owner: list[Value], call: FunctionCall) -> Value:
        """Return the result of a method of a list; `push` adds to it."""
        first = call.given[0]
        match call.name:
            case "push":
                self.pushed += [part for part in call.given if isinstance(part, ObjectValue)]
                owner += [call.at] if self.level else call.given
            case "map":
                return [self.called(first, [part]) for part in owner]
            case "concat":
                return [*owner, *(part for each in call.given for part in as_list(each))]
            case _:
                for part in owner:
                    self.called(first, [part])
        return call.at

    def made(self, node: Node, scope: BlockScope) -> Value:
        """Return the object that `new` makes."""
        called, at = self.value(node, scope, "constructor"), Computed(node, scope)
        given = self.listed(field(node, "arguments"), scope)
        if isinstance(called, Function) and "class" in called.node.type:
            return self.instance(called, given, at)
        match = builder_of(called)
        if match is None:
            call = FunctionCall(scope.text(node, "constructor"), given, at)
            return self._unknown(call, called, is_new=True)
        builder = Builder(fields_of(next(iter(given), None)), at, self.level)
        builder["type"] = match[1] or match[2] or "ChatInput"
        if not match[2]:
            self.built.append(builder)
        return builder

    def _unknown(self, call: FunctionCall, called: Value, *, is_new: bool = False) -> Value:
        """Return the result of a function that is not the bot's: the object that it is given."""
        name, given, at, _ = call
        self.calls.append(call)
        self.follow_given(given)
        first = next(filter(fields_of, given), None)
        if name in _OF_ERIS and given:
            return ObjectValue({"name": given[0], **fields_of(given[-1])}, at)
        if is_known(called) and (option := _OPTION.fullmatch(name)):
            return ObjectValue({**fields_of(first), "type": option[1]}, at)
        if isinstance(first, Builder) and not (_KEEPING.fullmatch(name) or is_new):
            first[REST] = at  # it may change the builder
        if first is not None and self._is_wrapped(name, first, called):
            return first
        return called.member("()", at.node, at.scope) if isinstance(called, ImportedValue) else at

    def _is_wrapped(self, name: str, given: ObjectValue, called: Value) -> bool:
        """Whether a function makes a command of an object; one that is not known may change it."""
        is_named = {"name", "description"} <= {*given}
        if isinstance(given, Builder):
            return True
        if is_known(called):
            return _MAKER.search(name) is not None
        if is_named or _MAKER.search(name):
            self.partly.append((given.at.place, f"{short(name)} is not followed"))
        return is_named or _MAKER.search(name) is not None

    def _register(self, call: FunctionCall, *, is_library: bool) -> None:
        """Remember the commands that a call registers with Discord or with a framework."""
        name, given, at, _ = call
        if _TO_REGISTRY.fullmatch(name) and given and self._to_registry(given, at):
            return
        is_maker = _MAKER.search(name) and len(given) == 1 and not is_library
        for value in _sent(call, is_maker=bool(is_maker)):
            match value:
                case Builder():
                    pass  # it is known where it begins
                case ObjectValue() if _runs(value) and name != "put":
                    self.handlers.append(value)
                case ObjectValue() if "name" in value:
                    self.registered.append((value, value))
                case Computed() if value is not at:
                    self.partly.append((value.place, _UNKNOWN_PART))

    def _to_registry(self, given: list[Value], at: Computed) -> bool:
        """Remember a command that Sapphire registers, and return whether it is one."""
        command = self.called(given[0], [Builder({}, at, self.level)])
        if not isinstance(command, ObjectValue) or _runs(command):
            return False
        around = {**fields_of(at.scope.names.get("this")), **fields_of(given[-1])}
        self.registered.append((command, ObjectValue(around, at)))
        return True

    def follow_given(self, given: list[Value]) -> None:
        """Call the functions that another function is given, and may call."""
        raise NotImplementedError

    def module(self, source: Value, at: Computed) -> Value:
        """Return the exports of another file of the bot, or the package that is imported."""
        raise NotImplementedError

    def called(self, function: Value, given: list[Value]) -> Value:
        """Return the result of a function of the bot for some values; another value as it is."""
        raise NotImplementedError

    def own(self, function: Function, call: FunctionCall) -> Value:
        """Return the result of a call of a function of the bot."""
        raise NotImplementedError

    def instance(self, owner: Function, given: list[Value], at: Computed) -> Value:
        """Return an object of a class of the bot."""
        raise NotImplementedError

    def extend(self, call: FunctionCall) -> None:
        """Run the constructor of the class above, as `super(...)` does."""
        raise NotImplementedError


def _sent(call: FunctionCall, *, is_maker: bool) -> Iterator[Value]:
    """Yield the values that a call about commands is given, one by one."""
    name, given, at, _ = call
    last = given[-1] if given else None
    if name == "put" or (name in _SENDING and _SENT.search(at.text)):
        yield from as_list(fields_of(last).get("body", fields_of(last).get("data", last)))
    elif name in {"set", "create"} and _COMMANDS.search(at.text):
        first = next(iter(given), None)
        if isinstance(first, str):  # of a map by names
            fields_of(last).setdefault("name", first)
        yield from as_list(last if isinstance(first, str) else first)
    elif is_maker or _REGISTERING.fullmatch(name):
        for value in given:
            yield from _described(value)


def _whole(name: str, given: list[Value]) -> Value:
    """Return the result of a function of the language for an object or a list."""
    first, *others = given
    if name == "values" and isinstance(first, ObjectValue):
        return list(first.values())
    if name == "assign" and isinstance(first, ObjectValue):
        for each in others:
            first.update(each if isinstance(each, ObjectValue) else {REST: each})
    return first


def _described(value: Value) -> Iterator[Value]:
    """Yield the objects of a value that may be commands, and the parts of a list that are open."""
    for part in as_list(value):
        if isinstance(part, ObjectValue):
            yield from [part] if {"name", "description"} & {*part} else []
        elif isinstance(value, list) and isinstance(part, Computed):
            yield part


def _runs(value: ObjectValue) -> bool:
    return any(isinstance(member, Function) for member in value.values())


def is_known(value: Value) -> bool:
    """Whether a class, a function or a decorator is a library's that is known."""
    return isinstance(value, ImportedValue) and value.is_of(*_KNOWN)


def builder_of(value: Value) -> re.Match[str] | None:
    """Return the parts of the name of a builder; None for any other class."""
    if isinstance(value, ImportedValue):
        return _BUILDER.fullmatch(value.name) if value.is_of(*_OF_BUILDERS) else None
    is_class = isinstance(value, Function) or not isinstance(value, Computed)
    return None if is_class else _BUILDER.fullmatch(value.text)


def short(text: str) -> str:
    """Return the name of a function or a class, as a message has it."""
    return repr(text.partition("(")[0].partition("\n")[0][:60])
