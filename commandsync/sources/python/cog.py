"""The classes and decorators around commands, followed to those of a framework; and their traits.

`lineage` follows the bases of a class through the bot's files to a class of a framework, which
tells its kind. A `Cog` is the class as users see it, that is its heir if another class inherits
from it: its category, its group and its defaults.

Bots wrap the decorators of their framework: `return commands.command(name=name)`, or a function
that applies some to another one. Such a function is followed as far as it only does that
(`parts_of`). Checks and arguments of decorators say why a command may not belong on a public list
(`Trait`).
"""

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from commandsync.sources.entry import Trait, is_owner_check, only_administrators, traits_of
from commandsync.sources.python.meaning import Code, Definition, Names, in_framework, is_known
from commandsync.sources.python.scope import (
    Function,
    Outline,
    Scope,
    callee,
    keywords,
    last_name,
    spelled,
)

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
_MOST_CLASSES = 30


class ClassRole(Enum):
    """The role of a class in a framework."""

    BOT = auto()
    COG = auto()
    GROUP_COG = auto()  # a cog whose slash commands are in a group
    GROUP = auto()  # a group of slash commands
    TREE = auto()
    ENUM = auto()
    FLAGS = auto()
    OTHER = auto()


_KINDS = {
    name: kind
    for kind, names in {
        ClassRole.BOT: "AutoShardedBot AutoShardedInteractionBot Bot Client InteractionBot",
        ClassRole.COG: "Cog",
        ClassRole.GROUP_COG: "GroupCog",
        ClassRole.GROUP: "SlashCommandGroup discord.app_commands.Group"
        " discord.app_commands.commands.Group",
        ClassRole.TREE: "CommandTree discord.AutoShardedBot discord.Bot",  # the bots are py-cord's
        ClassRole.ENUM: "Enum IntEnum StrEnum",
        ClassRole.FLAGS: "FlagConverter",
    }.items()
    for name in names.split()
}


@dataclass(frozen=True, slots=True)
class Lineage:
    """The inheritance of a class."""

    kind: ClassRole = ClassRole.OTHER  # its role in a framework
    # The class and those of its bases that are in the bot's files, the most specific first, each
    # with its own scope.
    classes: tuple[tuple[ast.ClassDef, Scope], ...] = ()
    unfollowed: tuple[str, ...] = ()  # the base classes that are not in the bot's files, as written


def kind_of(name: str) -> ClassRole:
    """Return the kind of a class of a framework, or of Python, by its full name."""
    return _KINDS.get(name) or _KINDS.get(name.rpartition(".")[2], ClassRole.OTHER)


def lineage(definition: Definition, names: Names) -> Lineage:
    """Return the classes that a class inherits from, and its kind."""
    kinds: list[ClassRole] = []
    unfollowed: list[str] = []
    order: dict[ast.ClassDef, Scope] = {}
    waiting = [definition]
    while waiting and len(order) < _MOST_CLASSES:
        current = waiting.pop(0)
        if not isinstance(current.node, ast.ClassDef) or current.node in order:
            continue
        order[current.node] = names.classes[current.node]
        for base in current.node.bases:
            match names.meaning(base, current.scope):
                case Definition(node=ast.ClassDef()) as meaning:
                    waiting.append(meaning)
                case str() as name if is_known(name):
                    kinds.append(kind_of(in_framework(name) or name))
                case _:
                    is_builtin = hasattr(builtins, last_name(base))
                    unfollowed += [] if is_builtin else [spelled(base)]
    kind = next((kind for kind in kinds if kind is not ClassRole.OTHER), ClassRole.OTHER)
    return Lineage(kind, tuple(order.items()), tuple(unfollowed))


def kebab(name: str) -> str:
    """Return the name of a group of slash commands that has only the name of its class."""
    return _CAPITAL.sub("-", name).lower()


WORDS = frozenset(
    {
        *("command", "group", "bridge_command", "hybrid_command", "bridge_group", "hybrid_group"),
        *("slash_command", "sub_command", "subcommand", "sub_command_group"),
        *("context_menu", "message_command", "user_command"),
    }
)
"""The last words of the decorators with which frameworks declare commands."""

_MAKING = re.compile(rf"\b({'|'.join(sorted(WORDS))}|Command)\s*\(")
_DEEPEST = 5  # decorators that are made of others


class ScopedDecorator(NamedTuple):
    """A decorator, and the scope in which its names have their meaning."""

    expression: ast.expr
    scope: Scope


def parts_of(  # noqa: PLR0911 - one for each form
    decorator: ast.expr, scope: Scope, code: Code, depth: int = 0
) -> list[ScopedDecorator] | None:
    """Return the decorators inside a decorator of the bot's own; None if it is not followed.

    Any other decorator is returned itself.
    """
    meaning = code.meaning(callee(decorator), scope)
    if not (isinstance(meaning, Definition) and isinstance(meaning.node, Function)):
        return [ScopedDecorator(decorator, scope)]
    made, function = _last_return(meaning.node), meaning.node
    if depth > _DEEPEST or made is None:
        return None
    turn = code.turn(decorator if isinstance(decorator, ast.Call) else None, scope, meaning)
    if not isinstance(decorator, ast.Call):
        return _applied(_Body(made, _first(function), function, turn), code, depth)
    match made:
        case ast.Lambda(args=ast.arguments(args=[parameter]), body=body):
            return _applied(_Body(body, parameter.arg, function, turn), code, depth)
        case ast.Name() if inner := _nested(function, made):
            turn = code.turn(None, turn, Definition(inner, turn))
            return _applied(_Body(_last_return(inner), _first(inner), inner, turn), code, depth)
        case ast.Call() | ast.Name() | ast.Attribute():
            return parts_of(code.filled(made, turn), turn, code, depth + 1)
        case _:
            return None


def may_make_commands(decorator: ast.expr, scope: Scope, code: Code) -> bool:
    """Whether a decorator of the bot's own makes commands, in whatever way."""
    meaning = code.meaning(callee(decorator), scope)
    node = meaning.node if isinstance(meaning, Definition) else None
    if not (isinstance(meaning, Definition) and isinstance(node, Function)):
        return False
    return _MAKING.search(meaning.scope.file.lines(node)) is not None


def named(decorator: ast.expr) -> str:
    """Return the name of a decorator for a message."""
    return f"`{spelled(callee(decorator))}`"


class _Body(NamedTuple):
    """The result of a decorator for its function."""

    made: ast.expr | None
    parameter: str  # the function that it gets; empty without one
    function: Function
    scope: Scope


def _applied(body: _Body, code: Code, depth: int) -> list[ScopedDecorator] | None:
    """Return the decorators that are applied to a parameter: `first(second(parameter))`."""
    parts: list[ScopedDecorator] = []
    made = body.made
    while isinstance(made, ast.Call) and len(made.args) == 1 and not made.keywords:
        own = parts_of(code.filled(made.func, body.scope), body.scope, code, depth + 1)
        if own is None:
            return None
        parts += own
        made = made.args[0]
    if isinstance(made, ast.Name) and body.parameter == made.id:
        return parts
    inner = _nested(body.function, made)
    decorators = inner.decorator_list if inner else []
    keeps = any(code.last_name(callee(each), body.scope) == "wraps" for each in decorators)
    return parts if keeps else None


def _last_return(function: Function) -> ast.expr | None:
    last = function.body[-1] if function.body else None
    return last.value if isinstance(last, ast.Return) else None


def _first(function: Function) -> str:
    return function.args.args[0].arg if function.args.args else ""


def _nested(function: Function, expression: ast.expr | None) -> Function | None:
    """Return the function with this name that is defined in another one."""
    name = expression.id if isinstance(expression, ast.Name) else ""
    own = (part for part in function.body if isinstance(part, Function) and part.name == name)
    return next(own, None)


_CHECKS = {"is_owner": Trait.OWNER_ONLY, "is_nsfw": Trait.NSFW, "guilds": Trait.GUILD_ONLY}
_PERMISSIONS = {
    "default_member_permissions",
    "default_permissions",
    "has_guild_permissions",
    "has_permissions",
}
_DEFAULTS = {"default_member_permissions", "default_permissions"}  # empty: only administrators
_COG_CHECKS = {"cog_check", "interaction_check"}
_GUILDS = {"debug_guilds", "guild", "guild_id", "guild_ids", "guilds", "test_guilds"}


def of_decorators(decorators: Iterable[ScopedDecorator], code: Code) -> Iterator[Trait]:
    """Yield the traits that the decorators of a function or a class state, each with its scope."""
    for decorator, scope in decorators:
        name = code.last_name(callee(decorator), scope)
        if name in _CHECKS:
            yield _CHECKS[name]
        call = decorator if isinstance(decorator, ast.Call) else None
        if call and name in _PERMISSIONS:
            if _administrators(call, scope, code, by_default=name in _DEFAULTS):
                yield Trait.ADMIN_ONLY
        elif (
            call
            and name == "check"
            and any(_is_owner_check(part, scope, code) for part in call.args)
        ):
            yield Trait.OWNER_ONLY


def _is_owner_check(check: ast.expr, scope: Scope, code: Code) -> bool:
    """Whether a check lets only the bot's owner pass: `is_owner`, or one that asks for it."""
    if is_owner_check(last_name(callee(check))):
        return True
    meaning = code.meaning(check, scope)
    node = meaning.node if isinstance(meaning, Definition) else None
    parts = (
        node.body if isinstance(node, Function) else [node] if isinstance(node, ast.Lambda) else []
    )
    return any(_returns_owner(part) for part in parts)


def _returns_owner(statement: ast.AST) -> bool:
    """Whether all that is returned is the answer of `is_owner(...)`."""
    match statement:
        case (
            ast.Return(value=ast.Await(value=ast.Call(func=called)))
            | ast.Return(value=ast.Call(func=called))
            | ast.Lambda(body=ast.Call(func=called))
        ):
            return last_name(called) == "is_owner"
        case _:
            return False


def of_cog_check(statements: Iterable[ast.stmt]) -> Iterator[Trait]:
    """Yield the trait of a whole cog, whose check only returns `is_owner(...)`."""
    for statement in statements:
        if isinstance(statement, Function) and statement.name in _COG_CHECKS:
            yield from [Trait.OWNER_ONLY] if any(map(_returns_owner, statement.body[-1:])) else []


def of_arguments(given: Mapping[str, ast.expr], scope: Scope, code: Code) -> Iterator[Trait]:
    """Yield the traits in the arguments of a call that declares a command or a group."""
    yield from traits_of({key: code.value(value, scope) for key, value in given.items()})
    for key, value in given.items():
        if key in _GUILDS and code.value(value, scope) not in (None, [], (), False):
            yield Trait.GUILD_ONLY
        if key in _DEFAULTS and _includes_administrator(value, scope, code):
            yield Trait.ADMIN_ONLY


def _administrators(call: ast.Call, scope: Scope, code: Code, *, by_default: bool) -> bool:
    """Whether a call names permissions that only administrators have; perhaps by default."""
    given = keywords(call)
    if "administrator" in given:
        return code.value(given["administrator"], scope) is True
    included = (_includes_administrator(value, scope, code) for value in call.args)
    return by_default and not call.keywords and all(included)


def _includes_administrator(value: ast.expr, scope: Scope, code: Code) -> bool:
    if isinstance(value, ast.Call) and last_name(value.func) == "Permissions":
        return _administrators(value, scope, code, by_default=True)
    return only_administrators(code.value(value, scope))


@dataclass(frozen=True, slots=True)
class Cog:
    """A class that contains commands; without values, the code outside of classes."""

    lineage: Lineage = field(default_factory=Lineage)  # of one that no other inherits from
    name: str | None = None  # the category of its commands; None for a bot, or if it cannot be read
    group: str | None = None  # of its slash commands; None for none, empty if it cannot be read
    # Of its prefix commands by default (`command_attrs`).
    attributes: dict[str, ast.expr] = field(default_factory=dict)
    traits: frozenset[Trait] = frozenset()  # of its decorators, arguments and check

    def overrides(self, node: ast.AST) -> bool:
        """Whether it has something else under the name of a function of its class or a base."""
        name = getattr(node, "name", "")  # a call has none
        for _, inside in self.lineage.classes:
            if name in inside.bindings:
                return inside.bound(name) is not node
        return False


class Cogs:
    """Reads the classes of all files."""

    def __init__(self, outlines: Iterable[Outline], code: Code) -> None:
        self._code = code
        self._known: dict[ast.ClassDef, Cog] = {}
        self._heirs: dict[ast.AST, Definition] = {}
        for outline in outlines:
            for node, inside in outline.classes.items():
                definition = Definition(node, inside.parent or inside)
                for base, _ in lineage(definition, code).classes[1:]:
                    self._heirs.setdefault(base, definition)

    def of(self, inside: Scope) -> Cog:
        """Return the cog of the commands that are declared in a scope."""
        owner, scope = inside.node, inside.parent
        if not isinstance(owner, ast.ClassDef) or scope is None:
            return Cog()
        if owner not in self._known:
            definition = Definition(owner, scope)
            passed: set[ast.AST] = {owner}  # classes that inherit from each other end it
            while (heir := self._heirs.get(definition.node)) and heir.node not in passed:
                passed.add(heir.node)
                definition = heir
            self._known[owner] = self._read(definition)
        return self._known[owner]

    def is_unfollowed(self, class_name: ast.expr, scope: Scope) -> bool:
        """Whether a class, or one that it inherits from, is not in the source or a framework."""
        meaning = self._code.meaning(class_name, scope)
        if isinstance(meaning, Definition):
            return bool(lineage(meaning, self._code).unfollowed)
        return not (isinstance(meaning, str) and is_known(meaning))

    def _read(self, definition: Definition) -> Cog:
        ancestry, scope = lineage(definition, self._code), definition.scope
        node = ancestry.classes[0][0]
        given = keywords(node)
        name = self._code.text(given["name"], scope) if "name" in given else node.name
        if name is None:
            self._code.mark("the name of this cog is computed at run time", given["name"], scope)
        decorators = [ScopedDecorator(each, scope) for each in node.decorator_list]
        traits = {
            *of_decorators(decorators, self._code),
            *of_arguments(given, scope, self._code),
            *(trait for part, _ in ancestry.classes for trait in of_cog_check(part.body)),
        }
        group = given.get("group_name", given.get("name"))
        kebab_name = kebab(node.name) if group is None else self._code.text(group, scope) or ""
        return Cog(
            lineage=ancestry,
            name=None
            if ancestry.kind in {ClassRole.BOT, ClassRole.GROUP, ClassRole.TREE}
            else name,
            group=kebab_name if ancestry.kind is ClassRole.GROUP_COG else None,
            attributes=_attributes(given.get("command_attrs")),
            traits=frozenset(traits),
        )


def _attributes(written: ast.expr | None) -> dict[str, ast.expr]:
    match written:
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {str(key.value): value for key, value in pairs if isinstance(key, ast.Constant)}
        case ast.Call() if last_name(written.func) == "dict":
            return keywords(written)
        case _:
            return {}
