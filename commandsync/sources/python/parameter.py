"""The parameters of a command's function: the arguments that users give, and options at Discord.

The annotation of a parameter (`annotation`), its default and decorators describe an argument. All
that they state of the option at Discord is in `ParameterArgument.members`. `members_of` makes the
object of a whole command, if all of it is literal: if something is computed or unknown, there is no
object, for a service gets no options rather than wrong ones.
"""

import ast
import builtins
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from commandsync.records.snapshot import Node
from commandsync.sources.objects import KEYS
from commandsync.sources.python.annotation import LIMITS, AnnotatedType, Annotations
from commandsync.sources.python.cog import lineage
from commandsync.sources.python.meaning import UNKNOWN, Code, Definition, Value
from commandsync.sources.python.scope import (
    Function,
    Scope,
    callee,
    keywords,
    last_name,
    parameters,
)

_DESCRIPTIONS = {"Option", "Param", "SlashOption", "flag", "option", "param", "parameter"}
_DEFAULTS = {  # of discord.ext.commands, as its signatures show them
    "Author": "<you>",
    "CurrentChannel": "<this channel>",
    "CurrentGuild": "<this server>",
}
_POSITIONS = {  # the positional arguments of the calls that describe an argument
    "Option": ("input_type", "description"),
    "SlashOption": ("name", "description", "required"),
    "option": ("name",),
    **dict.fromkeys(("Param", "param"), ("default",)),
}
_RENAMED = {"ge": "min_value", "le": "max_value"}
_STATED = {*LIMITS, "name", "description", "choices"}  # members of an option
_READ = _STATED | {"required", "input_type", "default"}  # the others may change it in any way


_CHANGING = {  # keys and decorators that change the object in ways that are not known here
    *KEYS["command"] - {"name", "description", "nsfw", "type", "id", "category"},
    *("allowed_contexts", "allowed_installs", "dm_only", "guild_install", "user_install"),
    *("auto_locale_strings", "autocomplete", "guild_only", "install_types", "option"),
    *("private_channel_only", "permissions"),
}
_PERMISSIONS = {"default_permissions", "default_member_permissions"}
_KNOWN = _PERMISSIONS | {"guild_only"}  # decorators
_BITS = {
    "kick_members": 1,
    "ban_members": 2,
    "administrator": 3,
    "manage_channels": 4,
    "manage_guild": 5,
    "view_audit_log": 7,
    "send_messages": 11,
    "manage_messages": 13,
    "mention_everyone": 17,
    "mute_members": 22,
    "deafen_members": 23,
    "move_members": 24,
    "manage_nicknames": 27,
    "manage_roles": 28,
    "manage_webhooks": 29,
    "manage_events": 33,
    "manage_threads": 34,
    "moderate_members": 40,
}


@dataclass(slots=True, kw_only=True)
class ParameterArgument:
    """The argument that users give for a parameter."""

    name: str  # its name in the code
    option: str  # its name in a slash command
    displayed: str  # its name in a prefix command
    annotation: AnnotatedType
    optional: bool = False  # whether it has a default
    default: str = ""  # its default as text; empty if there is none to show
    required: bool | None = None  # None if the code does not say it
    # Of the option at Discord, as far as the code states them; `UNKNOWN` for what is computed.
    members: dict[str, Value]
    rest: bool = False  # whether it is `*arguments`
    keywords: bool = False  # whether it is `**arguments`
    unread: list[Definition] = field(default_factory=list)  # the parts that the code does not state

    @property
    def choices(self) -> tuple[str, ...]:
        """The names of its only values; empty if the code does not state them all."""
        names = tuple(choice["name"] for choice in self.members.get("choices", ()))
        return () if UNKNOWN in names else names

    def option_of(self, *, required: bool) -> Node | None:
        """Return the option at Discord; None if something of it is computed."""
        choices = self.members.get("choices", ())
        parts = [*self.members.values(), *(part for each in choices for part in each.values())]
        if UNKNOWN in parts or self.rest or self.keywords or self.annotation.flags:
            return None
        members = {**self.members, "name": self.option}
        return members | {"required": True} if required else members


class Arguments:
    """Reads the parameters of functions."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._annotations = Annotations(code)
        self._of: dict[Function, list[ParameterArgument]] = {}

    def of(self, function: Function, scope: Scope) -> list[ParameterArgument]:
        """Return the arguments of a command, without `self` and the context."""
        if function not in self._of:
            before = 2 if isinstance(scope.node, ast.ClassDef) else 1
            given = list(parameters(function.args).items())[before:]
            by_name = {node.arg: self._argument(node, default, scope) for node, default in given}
            rest, keywords = function.args.vararg, function.args.kwarg
            for node, _ in given:
                by_name[node.arg].rest, by_name[node.arg].keywords = node is rest, node is keywords
            for decorator in function.decorator_list:
                if isinstance(decorator, ast.Call):
                    self._decorate(decorator, scope, by_name)
            self._of[function] = [*by_name.values()]
        return self._of[function]

    def flags(self, definition: Definition) -> Iterator[ParameterArgument]:
        """Yield the arguments that a class of flags adds to a slash command, one for each flag."""
        for owner, inside in reversed(lineage(definition, self._code).classes):
            for statement in owner.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    node = ast.copy_location(
                        ast.arg(statement.target.id, statement.annotation), statement
                    )
                    yield self._argument(node, statement.value, inside)

    def _argument(self, node: ast.arg, default: ast.expr | None, scope: Scope) -> ParameterArgument:
        annotation = self._annotations.read(node.annotation, scope)
        argument = ParameterArgument(
            name=node.arg,
            option=node.arg,
            displayed=node.arg,
            annotation=annotation,
            members=dict(annotation.members),
            unread=[*annotation.unread],
        )
        if annotation.option is not None:
            self._describe(annotation.option, argument)
        if default is None:
            return argument
        meaning = self._code.meaning(default, scope)
        if isinstance(meaning, Definition) and self._code.called(meaning) in _DESCRIPTIONS:
            self._describe(meaning, argument)
        else:
            argument.optional = True
            argument.default = self._shown(default, scope, argument)
        return argument

    def _describe(self, description: Definition, argument: ParameterArgument) -> None:
        """Read a call that describes an argument, such as `parameter(...)` or `Option(...)`."""
        call, scope = description.node, description.scope
        if not isinstance(call, ast.Call):
            return  # pragma: no cover - the callers pass calls
        positions = _POSITIONS.get(self._code.called(description), ())
        given = keywords(call) | dict(zip(positions, call.args, strict=False))
        if "converter" in given:
            argument.annotation = self._annotations.read(given["converter"], scope)
        if "input_type" in given:
            argument.members |= self._annotations.read(given["input_type"], scope).members
        argument.members |= self._members(given, scope)
        if len(given) < len(call.args) + len(call.keywords):  # some are not known here
            argument.members["type"] = UNKNOWN
        argument.option = self._text("name", given, scope) or argument.option
        argument.displayed = self._text("displayed_name", given, scope) or argument.displayed
        if "required" in given:
            required = self._code.value(given["required"], scope)
            argument.required = required if isinstance(required, bool) else None
        self._describe_default(given, scope, argument)

    def _members(self, given: dict[str, ast.expr], scope: Scope) -> Iterator[tuple[str, Value]]:
        """Yield the members of an option that a call states which describes it."""
        for key, part in given.items():
            name = _RENAMED.get(key, key)
            value = self._code.value(part, scope)
            if key == "choices":
                yield key, self._choices(part, scope)
            elif name in _STATED or key not in _READ or (key == "required" and value is UNKNOWN):
                yield name, value if name in _STATED else UNKNOWN

    def _text(self, key: str, given: dict[str, ast.expr], scope: Scope) -> str | None:
        return self._code.text(given[key], scope) if key in given else None

    def _describe_default(
        self, given: dict[str, ast.expr], scope: Scope, argument: ParameterArgument
    ) -> None:
        default = given.get("default")
        argument.optional |= "default_factory" in given
        if default is not None and self._code.value(default, scope) is not ...:
            argument.optional = True
            argument.default = self._shown(default, scope, argument)
        if "displayed_default" in given:
            argument.default = self._text("displayed_default", given, scope) or ""
            argument.unread.clear()

    def _decorate(
        self, call: ast.Call, scope: Scope, by_name: dict[str, ParameterArgument]
    ) -> None:
        """Apply `rename(...)`, `choices(...)` and `option(...)`."""
        given, called = keywords(call), self._code.last_name(call.func, scope)
        named = [given.get("parameter_name"), *call.args] if called == "option" else []
        for expression in [*filter(None, named)][:1]:
            if argument := by_name.get(self._code.text(expression, scope) or ""):
                self._describe(Definition(call, scope), argument)
        for name in given.keys() & by_name.keys():
            argument = by_name[name]
            if called == "rename":
                argument.members["name"] = self._code.value(given[name], scope)
                argument.option = self._text(name, given, scope) or argument.option
            elif called == "choices":
                argument.members["choices"] = self._choices(given[name], scope)
            elif called == "describe":
                argument.members["description"] = self._code.value(given[name], scope)

    def _choices(self, expression: ast.expr, scope: Scope) -> list[dict[str, Value]]:
        """Return choices with their names and values, some of which may be unknown."""
        meaning = self._code.meaning(expression, scope)
        around = meaning.scope if isinstance(meaning, Definition) else scope
        match getattr(meaning, "node", None):
            case ast.Dict(keys=keys, values=values) if None not in keys:  # by their names
                pairs = zip(filter(None, keys), values, strict=True)
                return [
                    self._choice(key, around) | {"value": self._code.value(value, around)}
                    for key, value in pairs
                ]
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return [self._choice(part, around) for part in parts]
            case _:
                return [{"name": UNKNOWN}]

    def _choice(self, expression: ast.expr, scope: Scope) -> dict[str, Value]:
        if isinstance(expression, ast.Call):  # Choice(name="One", value=1), OptionChoice("One", 1)
            parts = dict(zip(("name", "value"), expression.args, strict=False))
            parts |= keywords(expression)
            given = {key: self._code.value(part, scope) for key, part in parts.items()}
            name = given.get("name") if isinstance(given.get("name"), str) else UNKNOWN
            is_whole = given.keys() == {"name", "value"}
            return {"name": name, "value": given["value"] if is_whole else UNKNOWN}
        value = self._code.value(expression, scope)
        is_simple = isinstance(value, (str, int, float))
        return {"name": str(value) if is_simple else UNKNOWN, "value": value}

    def _shown(self, default: ast.expr, scope: Scope, argument: ParameterArgument) -> str:
        """Return a default as discord.py shows it: not at all if it is None or can be called."""
        value = self._code.value(default, scope)
        if value is None or self._is_callable(default, scope):
            return ""
        name = self._code.framework(default, scope)
        known = _DEFAULTS.get(name.rpartition(".")[2]) if ".commands." in name else None
        if known is not None:
            return known
        with suppress(ValueError):  # of a number with more digits than Python writes
            if value is not UNKNOWN:
                return str(value)
        argument.unread.append(Definition(default, scope))
        return ""

    def _is_callable(self, default: ast.expr, scope: Scope) -> bool:
        meaning = self._code.meaning(default, scope)
        if meaning is None and isinstance(default, ast.Name):
            return callable(getattr(builtins, default.id, None))
        callables = ast.ClassDef | Function | ast.Lambda
        return isinstance(meaning, Definition) and isinstance(meaning.node, callables)

    def members_of(
        self, function: Function, scope: Scope, declared: Mapping[str, ast.expr]
    ) -> dict[str, Value]:
        """Return the members of a command that its decorators and its declaration state.

        `declared` are the arguments of its declaration. `UNKNOWN` stands for what is computed, or
        changes the command in a way that is not known here.
        """
        named = {last_name(callee(each)): each for each in function.decorator_list}
        changing = {*declared, *named.keys() - _KNOWN} & _CHANGING
        if changing or function.name in scope.file.autocompleted:
            return {"type": UNKNOWN}
        is_nsfw = self._code.value(declared.get("nsfw", ast.Constant(value=False)), scope)
        members: dict[str, Value] = {"nsfw": is_nsfw} if is_nsfw else {}
        if "guild_only" in named:
            members["contexts"] = [0]
        for name in _PERMISSIONS & named.keys():
            members["default_member_permissions"] = self._permissions(named[name], scope)
        return members

    def _permissions(self, decorator: ast.expr, scope: Scope) -> Value:
        """Return the permissions that a decorator names, as Discord writes them."""
        if not isinstance(decorator, ast.Call) or decorator.args:
            return UNKNOWN
        given = keywords(decorator)
        named = {key: self._code.value(value, scope) for key, value in given.items()}
        is_known = len(named) == len(decorator.keywords) and UNKNOWN not in named.values()
        if not (is_known and named.keys() <= _BITS.keys()):
            return UNKNOWN
        return str(sum(1 << _BITS[key] for key, value in named.items() if value))
