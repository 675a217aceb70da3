"""Discord's own object of a command in Python, if all of it is literal in the code.

An object is made of the decorators of a function, the annotations and defaults of its parameters,
and the calls that describe them. If one of these is computed or unknown, there is no object: a
service gets no options rather than wrong ones.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from commandsync.records.snapshot import Node
from commandsync.sources.applicationcommands import KEYS
from commandsync.sources.python.meaning import UNKNOWN, Code, Definition, Value
from commandsync.sources.python.scope import Function, Scope, callee, keywords, last_name

_TYPES = {"str": 3, "int": 4, "bool": 5, "User": 6, "Member": 6, "Role": 8, "float": 10}
_TYPES |= {"Attachment": 11}
_CHANNELS = {"TextChannel": 0, "VoiceChannel": 2, "CategoryChannel": 4, "StageChannel": 13}
_OF_CHOICES: dict[type, int] = {str: 3, int: 4, float: 10}
_POSITIONS = {  # of the calls that describe a parameter
    "Option": ("input_type", "description"),
    "Param": ("default",),
    "SlashOption": ("name", "description", "required"),
}
_LIMITS = ("min_value", "max_value", "min_length", "max_length")
_RENAMED = {"ge": "min_value", "le": "max_value"}
_ELSEWHERE = {"name", "required", "input_type", "default"}  # parts of an option that are read
_CHANGING = {  # keys and decorators that change the object in ways that are not known here
    *KEYS["command"] - {"name", "description", "nsfw", "type", "id", "category"},
    *("allowed_contexts", "allowed_installs", "dm_only", "guild_install", "user_install"),
    *("auto_locale_strings", "autocomplete", "guild_only", "install_types", "option"),
    *("private_channel_only", "permissions"),
}
_PERMISSIONS = {"default_permissions", "default_member_permissions"}
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


class Given(NamedTuple):
    """A parameter of a command's function, and what is known of it."""

    node: ast.arg
    default: ast.expr | None
    option: str  # its name at Discord
    required: bool


class _UnknownError(Exception):
    """Something of an object is computed, or not known here."""


class SlashObjects:
    """Makes the objects of declared commands."""

    def __init__(self, code: Code) -> None:
        self._code = code

    def members(
        self,
        function: Function,
        scope: Scope,
        declared: dict[str, ast.expr],
        parameters: Iterable[Given],
    ) -> Node | None:
        """Return the members of a command but its name and description; None if it has no object.

        `declared` are the arguments of its declaration.
        """
        try:
            members = {**self._declared(declared, scope), **self._decorated(function, scope)}
            options = [self._option(given, function, scope) for given in parameters]
        except _UnknownError:
            return None
        return {**members, **({"options": options} if options else {})}

    def _declared(self, declared: dict[str, ast.expr], scope: Scope) -> dict[str, Value]:
        if declared.keys() & _CHANGING:
            raise _UnknownError
        is_nsfw = self._literal(declared.get("nsfw", ast.Constant(value=False)), scope)
        return {"nsfw": True} if is_nsfw is True else {}

    def _decorated(self, function: Function, scope: Scope) -> dict[str, Value]:
        members: dict[str, Value] = {}
        if re.search(rf"\b{function.name}\.(on_)?autocomplete\(", scope.file.text):
            raise _UnknownError
        for decorator in function.decorator_list:
            name = last_name(callee(decorator))
            if name == "guild_only":
                members["contexts"] = [0]
            elif name in _PERMISSIONS and isinstance(decorator, ast.Call):
                members["default_member_permissions"] = self._permissions(decorator, scope)
            elif name in _CHANGING:
                raise _UnknownError
        return members

    def _permissions(self, call: ast.Call, scope: Scope) -> str:
        """Return the permissions that a decorator names, as Discord writes them."""
        named = {key: self._literal(value, scope) for key, value in keywords(call).items()}
        if call.args or len(named) < len(call.keywords) or not named.keys() <= _BITS.keys():
            raise _UnknownError
        return str(sum(1 << _BITS[key] for key, value in named.items() if value))

    def _literal(self, expression: ast.expr, scope: Scope) -> Value:
        value = self._code.value(expression, scope)
        if value is UNKNOWN:
            raise _UnknownError
        return value

    def _in_decorator(
        self, name: str, parameter: str, function: Function, scope: Scope
    ) -> ast.expr | None:
        """Return the argument for a parameter in the decorators with a name."""
        calls = [part for part in function.decorator_list if isinstance(part, ast.Call)]
        named = (keywords(part) for part in calls if self._code.last_name(part.func, scope) == name)
        return next((given[parameter] for given in named if parameter in given), None)

    def _option(self, given: Given, function: Function, scope: Scope) -> dict[str, Value]:
        node, default = given.node, given.default
        if node.annotation is None:
            raise _UnknownError
        option = {"name": given.option, **self._of_type(node.annotation, scope)}
        if default is not None and self._describes(default, scope):
            option |= self._described(default, scope)
        if text := self._in_decorator("describe", node.arg, function, scope):
            option["description"] = self._literal(text, scope)
        if choices := self._in_decorator("choices", node.arg, function, scope):
            option["choices"] = [*self._choices(choices, scope)]
        if not isinstance(option.get("description"), str):  # each framework has another default
            raise _UnknownError
        return option | ({"required": True} if given.required else {})

    def _describes(self, expression: ast.expr, scope: Scope) -> bool:
        return self._code.called(Definition(expression, scope)) in _POSITIONS

    def _of_type(self, annotation: ast.expr, scope: Scope) -> dict[str, Value]:
        """Return the members of an option that the annotation of its parameter states."""
        match annotation:
            case ast.BinOp(left=inner, op=ast.BitOr(), right=ast.Constant(value=None)):
                return self._of_type(inner, scope)
            case ast.Subscript(value=head, slice=inside):
                return self._of_subscript(self._code.last_name(head, scope), inside, scope)
            case ast.Call() if self._describes(annotation, scope):
                return self._described(annotation, scope)
            case ast.Name(id=name) if self._code.meaning(annotation, scope) is None:
                pass
            case _:
                name = self._code.framework(annotation, scope).rpartition(".")[2]
        if name in _CHANNELS:
            return {"type": 7, "channel_types": [_CHANNELS[name]]}
        return {"type": _known(_TYPES, name)}

    def _of_subscript(self, name: str, inside: ast.expr, scope: Scope) -> dict[str, Value]:
        parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
        if name in {"Optional", "Choice"} and len(parts) == 1:
            return self._of_type(parts[0], scope)
        if name == "Literal":
            return self._of_values([self._literal(part, scope) for part in parts])
        if name == "Range" and len(parts) == len(("type", "least", "most")):
            return self._of_range(parts, scope)
        raise _UnknownError

    def _of_range(self, parts: Sequence[ast.expr], scope: Scope) -> dict[str, Value]:
        option = self._of_type(parts[0], scope)
        keys = _LIMITS[2:] if option["type"] == _TYPES["str"] else _LIMITS[:2]
        limits = zip(keys, [self._literal(part, scope) for part in parts[1:]], strict=True)
        return option | {key: value for key, value in limits if value not in {None, ...}}

    def _of_values(self, values: Sequence[Value]) -> dict[str, Value]:
        """Return the members of an option that has only some values."""
        choices = [{"name": str(value), "value": value} for value in values]
        return {"type": _known(_OF_CHOICES, *map(type, values)), "choices": choices}

    def _described(self, call: ast.expr, scope: Scope) -> dict[str, Value]:
        """Return the members in a call that describes a parameter, such as `Option(...)`."""
        positions = _POSITIONS[self._code.called(Definition(call, scope))]
        args, named = getattr(call, "args", []), getattr(call, "keywords", [])
        given = dict(zip(positions, args, strict=False)) | {part.arg: part.value for part in named}
        if len(given) < len(args) + len(named):
            raise _UnknownError
        option = self._of_type(given["input_type"], scope) if "input_type" in given else {}
        for key, part in given.items():
            written = _RENAMED.get(key, key)
            if key == "choices":
                option["choices"] = [*self._choices(part, scope)]
            elif written in {*_LIMITS, "description"}:
                option[written] = self._literal(part, scope)
            elif key not in _ELSEWHERE:
                raise _UnknownError
            elif key in {"name", "required"}:  # a computed one is read as the default
                self._literal(part, scope)
        return option

    def _choices(self, expression: ast.expr, scope: Scope) -> Iterator[dict[str, Value]]:
        """Yield choices, each with its name and its value."""
        meaning = self._code.meaning(expression, scope)
        match getattr(meaning, "node", None):
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                for part in parts:
                    yield self._choice(part, scope)
            case ast.Dict() as written:  # by their names, of nextcord
                for name, value in self._literal(written, scope).items():
                    yield {"name": name, "value": value}
            case _:
                raise _UnknownError

    def _choice(self, part: ast.expr, scope: Scope) -> dict[str, Value]:
        if not isinstance(part, ast.Call):
            value = self._literal(part, scope)
            return {"name": str(value), "value": value}
        given = dict(zip(("name", "value"), part.args, strict=False)) | keywords(part)
        if given.keys() != {"name", "value"}:
            raise _UnknownError
        return {key: self._literal(value, scope) for key, value in given.items()}


def _known(types: Mapping[Any, int], *names: object) -> int:
    """Return the type of an option by the only name; raises `_UnknownError` if it is not known."""
    if len({*names}) != 1 or names[0] not in types:
        raise _UnknownError
    return types[names[0]]
