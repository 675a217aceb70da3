"""Declared commands as entries: their full names, their syntax, descriptions and traits.

Each declaration leads to chains: the groups around it and itself, once for each instance of its
class. A chain is one command or, for a hybrid group, its fallback. The arguments of its function
are its syntax: as `Command.signature` of discord.py writes it, or as a slash command's.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain as chained
from itertools import islice

from commandsync.records.snapshot import Node
from commandsync.records.texts import MENU_DESCRIPTIONS
from commandsync.sources.entry import (
    NO_DESCRIPTION,
    Parameter,
    SourceEntry,
    Trait,
    literal,
    prefix_syntax,
    slash_syntax,
)
from commandsync.sources.objects import KEYS, object_of
from commandsync.sources.python.cog import ClassRole, Cogs, of_arguments, of_decorators
from commandsync.sources.python.declarations import Declaration, Form
from commandsync.sources.python.meaning import UNKNOWN, Code, Value
from commandsync.sources.python.parameter import Arguments, ParameterArgument
from commandsync.sources.python.scope import (
    Function,
    Scope,
    callee,
    keywords,
    last_name,
    parameters,
    spelled,
    words,
)

Chain = list[Declaration]

_LOCALIZATION_KEY = re.compile(r"\{\{[^{}\n]{1,100}\}\}")  # which disnake takes out
_PARAMETERS = re.compile(r"Parameters?\n---+\n", re.IGNORECASE)
_OF_MESSAGE = re.compile("message_command|Message")
_PARAGRAPH = re.compile(r"\n\s*\n")
_OF_GROUPS = {"name", "description", "parent"}  # keys of groups that an object may have
_LONGEST = 100  # characters, of the description of a slash command
_MOST_GROUPS = 10  # in each other
_MOST_CHAINS = 25
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


@dataclass
class Entries:
    """Makes the entries of the declarations of all files."""

    declared: Sequence[Declaration]
    groups_of: Callable[[ast.ClassDef, Scope], list[Declaration]]  # a class of slash commands
    guild_cogs: set[ast.AST]  # with slash commands that only certain servers have
    cogs: Cogs
    code: Code

    def __post_init__(self) -> None:
        """Find the slash commands that cannot be called, since others are declared in them."""
        self._with_sub_commands = {declaration.parent for declaration in self.declared}
        self.arguments = Arguments(self.code)

    def of(self, declaration: Declaration) -> Iterator[SourceEntry]:
        """Yield the commands of a declaration that users can call: none of a slash group."""
        is_own = declaration.parent is None
        if not (is_own and self.cogs.of(declaration.scope).overrides(declaration.node)):
            for chain in self._chains(declaration):
                yield from self._callable(chain)

    def _skip(self, chain: Chain, problem: str) -> None:
        """Remember a command that is not read, unless it is a group that cannot be called."""
        declaration, names = chain[-1], [part.name for part in chain]
        if not (declaration.is_group and declaration.form is Form.SLASH):
            name = " ".join(map(str, names)) if all(names) else declaration.name or ""
            is_guessed = declaration.is_guessed or not all(names)
            self.code.skip(
                problem, declaration.node, declaration.scope, name, is_guessed=is_guessed
            )

    def _callable(self, chain: Chain) -> Iterator[SourceEntry]:
        declaration = chain[-1]
        problem = next((part.problem for part in chain if part.problem), "")
        if problem:
            self._skip(chain, problem)
        elif declaration.form is Form.MENU:
            yield from self._entry(chain, [declaration.name])
        elif not self._is_slash(chain):
            yield from self._entry(chain, [part.name for part in chain], prefix=True)
        elif declaration.form is Form.HYBRID and declaration.is_group:
            yield from self._group_itself(chain)
        elif not declaration.is_group and declaration not in self._with_sub_commands:
            yield from self._entry(chain, self._slash_path(chain))

    def _group_itself(self, chain: Chain) -> Iterator[SourceEntry]:
        """Yield the command that a hybrid group is: by its prefix, or as its fallback."""
        given, scope = chain[-1].given, chain[-1].around
        parts = (part for part, _ in chain[-1].decorators)
        calls = (part for part in parts if isinstance(part, ast.Call) and part.args)
        mapped = (call.args[0] for call in calls if last_name(call.func) == "map_to")  # by py-cord
        fallback = next(mapped, given.get("fallback", ast.Constant(None)))
        if self.code.value(fallback, scope) is None:
            yield from self._entry(chain, [part.name for part in chain], prefix=True)
        else:
            name = self.code.text(fallback, scope)
            yield from self._entry(chain, [*self._slash_path(chain), name])

    def _entry(
        self, chain: Chain, path: list[str | None], *, prefix: bool = False
    ) -> Iterator[SourceEntry]:
        """Yield the entry of a command, unless its name cannot be read."""
        declaration = chain[-1]
        if not all(path):
            self._skip_unnamed(declaration, whose="this" if not path[-1] else "a group of this")
            return
        if prefix:
            declaration = replace(declaration, given=self._given(declaration))
        name, noted = " ".join(map(str, path)), len(self.code.notes)
        description = self._description(declaration, prefix=prefix)
        self._mark(declaration, name, prefix=prefix, is_computed=len(self.code.notes) > noted)
        syntax = self._syntax(declaration, name, prefix=prefix)
        is_literal = not prefix and len(self.code.notes) == noted and len(path) == len(chain)
        node = self._object(chain, description) if is_literal else None
        yield SourceEntry(
            name=name,
            description=description if description.strip() else NO_DESCRIPTION,
            syntax=syntax,
            category=self._category(chain),
            place=declaration.scope.file.place(declaration.node),
            traits=frozenset(trait for part in chain for trait in self._traits(part)),
            discord=object_of(node) if node else None,
        )

    def _skip_unnamed(self, declaration: Declaration, *, whose: str) -> None:
        own = declaration.function[0].name if declaration.function else ""
        node = (
            declaration.given.get("name", declaration.node) if whose == "this" else declaration.node
        )
        message = f"the name of {whose} command is computed at run time"
        self.code.skip(message, node, declaration.scope, own, is_guessed=True)

    def _object(self, chain: Chain, description: str) -> Node | None:
        """Return Discord's own object of a command in its groups; None if it is not all literal."""
        declaration = chain[-1]
        if declaration.form is Form.MENU:
            kind = 2 if _menu_of(declaration) == "user" else 3
            return {"type": kind, "name": declaration.name}
        node = self._members(declaration)
        for part in reversed(chain):
            if node is None or (part is not declaration and part.given.keys() - _OF_GROUPS):
                return None
            about = description if part is declaration else self._description(part, prefix=False)
            kind = 1 if part in {declaration, chain[0]} else 2
            named = {"type": kind, "name": part.name, "description": about, **node}
            node = named if part is chain[0] else {"options": [named]}
        return node

    def _syntax(self, declaration: Declaration, name: str, *, prefix: bool) -> str:
        if declaration.form is Form.MENU:
            return literal(name)
        if declaration.function is None:
            message = "the function of this command is computed at run time"
            self.code.note(message, declaration.node, declaration.scope)
        arguments = self.arguments.of(*declaration.function) if declaration.function else []
        if not prefix:
            flags = [argument.annotation.flags for argument in arguments]
            plain = (argument for argument in arguments if argument.annotation.flags is None)
            every = chained(plain, *map(self.arguments.flags, filter(None, flags)))
            return _slash_command(name, every, optional_types=not _is_disnake(declaration))
        usage = self._text(declaration, "usage")
        if usage is not None:
            return prefix_syntax(name, usage)
        for argument in arguments:
            for part in argument.unread:
                message = f"a value of {argument.name!r} is computed at run time"
                self.code.note(message, part.node, part.scope)
        required = declaration.given.get("require_var_positional", ast.Constant(value=False))
        require_rest = self.code.value(required, declaration.around) is True
        return prefix_syntax(
            name, " ".join(_written(argument, require_rest=require_rest) for argument in arguments)
        )

    def _mark(
        self, declaration: Declaration, name: str, *, prefix: bool, is_computed: bool
    ) -> None:
        """Mark unfollowed parts of a command: its text, its class, or a parameter's class."""
        given, scope = declaration.given, declaration.around
        if is_computed:
            reason = "its description is computed at run time"
            self.code.mark(reason, declaration.node, declaration.scope, name)
        if "cls" in given and self.cogs.is_unfollowed(given["cls"], scope):
            reason = f"its class `{spelled(given['cls'])}` is not followed"
            self.code.mark(reason, given["cls"], declaration.scope, name)
        arguments = self.arguments.of(*declaration.function) if declaration.function else []
        for argument in arguments if not prefix else ():
            for part in argument.annotation.unfollowed:
                reason = f"the class of {argument.name!r} is not followed"
                self.code.mark(reason, part.node, part.scope, name)

    def _members(self, declaration: Declaration) -> Node | None:
        """Return the members of a slash command but its texts; None if it is not all literal.

        A service gets no options rather than wrong ones.
        """
        if declaration.function is None:
            return None
        function, scope = declaration.function
        members = self._stated_members(function, scope, declaration.given)
        optional_types = not _is_disnake(declaration)
        arguments = [
            (argument, _is_required(argument, optional_types=optional_types))
            for argument in self.arguments.of(function, scope)
        ]
        arguments.sort(key=lambda pair: not pair[1])
        options = [argument.option_of(required=required) for argument, required in arguments]
        if members is None or UNKNOWN in members.values() or None in options:
            return None
        return {**members, "options": options} if options else members

    def _stated_members(
        self, function: Function, scope: Scope, declared: Mapping[str, ast.expr]
    ) -> dict[str, Value] | None:
        """Return the members that decorators and the declaration state; None if others change it.

        `declared` are the arguments of the declaration.
        """
        named = {last_name(callee(each)): each for each in function.decorator_list}
        changing = {*declared, *named.keys() - _KNOWN} & _CHANGING
        if changing or function.name in scope.file.autocompleted:
            return None
        is_nsfw = self.code.value(declared.get("nsfw", ast.Constant(value=False)), scope)
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
        named = {key: self.code.value(value, scope) for key, value in given.items()}
        is_known = len(named) == len(decorator.keywords) and UNKNOWN not in named.values()
        if not (is_known and named.keys() <= _BITS.keys()):
            return UNKNOWN
        return str(sum(1 << _BITS[key] for key, value in named.items() if value))

    def _description(self, declaration: Declaration, *, prefix: bool) -> str:
        description = self._text(declaration, "description")
        docstring = _docstring(declaration)
        if declaration.form in {Form.MENU, Form.SLASH}:
            text = first_paragraph(docstring) if description is None else description
            is_menu = declaration.form is Form.MENU
            return text or (MENU_DESCRIPTIONS[_menu_of(declaration)] if is_menu else "")
        description = inspect.cleandoc(description or "")
        if description and not prefix:
            return description
        help_text = self._text(declaration, "help")
        brief = self._text(declaration, "brief")
        return (_short_help(docstring, help_text) if brief is None else brief) or description

    def _text(self, declaration: Declaration, key: str) -> str | None:
        """Return an argument; None if there is none, or if it cannot be read."""
        written = declaration.given.get(key, ast.Constant(None))
        value = self.code.value(written, declaration.around)
        if value is None or isinstance(value, str):
            return value
        message = f"the {key} of this command is computed at run time"
        self.code.note(message, written, declaration.scope)
        return None

    def _category(self, chain: Chain) -> str | None:
        """Return the cog of a command, or the outermost of its groups."""
        functions = [part.function for part in chain if part.function]  # perhaps a cog's methods
        scopes = [*(part.scope for part in chain), *(scope for _, scope in functions)]
        cogs = map(self.cogs.of, scopes)
        named = (cog.name for cog in cogs if cog.name is not None)
        return next(named, chain[0].name if len(chain) > 1 else None)

    def _traits(self, declaration: Declaration) -> Iterator[Trait]:
        cog = self.cogs.of(declaration.scope)
        yield from of_decorators(declaration.decorators, self.code)
        yield from of_arguments(self._given(declaration), declaration.around, self.code)
        yield from cog.traits
        owners = {node for node, _ in cog.lineage.classes[:1]}
        if owners & self.guild_cogs and declaration.form is not Form.PREFIX:
            yield Trait.GUILD_ONLY

    def _given(self, declaration: Declaration) -> dict[str, ast.expr]:
        """Return the arguments of a declaration, with the ones that its cog gives to all."""
        inherits = declaration.form in {Form.PREFIX, Form.HYBRID}
        shared = self.cogs.of(declaration.scope).attributes if inherits else {}
        return shared | declaration.given

    def _chains(self, declaration: Declaration, depth: int = 0) -> list[Chain]:
        """Return the groups around a declaration and itself, for each instance of its class."""
        if depth > _MOST_GROUPS:
            return []
        cog = self.cogs.of(declaration.scope)
        above = [declaration.parent] if declaration.parent else []
        if not above and cog.lineage.kind is ClassRole.GROUP:
            above = self.groups_of(*cog.lineage.classes[0])
        if not above:
            return [[declaration]]
        chains = (chain for group in above for chain in self._chains(group, depth + 1))
        return [[*chain, declaration] for chain in islice(chains, _MOST_CHAINS)]

    def _slash_path(self, chain: Chain) -> list[str | None]:
        group = self.cogs.of(chain[0].scope).group
        return [*([] if group is None else [group]), *(part.name for part in chain)]

    def _is_slash(self, chain: Chain) -> bool:
        if any(part.form is Form.PREFIX for part in chain):
            return False
        given = filter(None, (part.given.get("with_app_command") for part in chain))
        return not any(self.code.value(value, chain[-1].around) is False for value in given)


def _is_disnake(declaration: Declaration) -> bool:
    return "disnake" in declaration.scope.file.frameworks


def _menu_of(declaration: Declaration) -> str:
    """Return the kind of a menu command, by its decorator or its last parameter."""
    given = parameters(declaration.function[0].args) if declaration.function else ()
    parts = [*(callee(part) for part, _ in declaration.decorators), *list(given)[-1:]]
    return "message" if _OF_MESSAGE.search(" ".join(map(words, parts))) else "user"


def _docstring(declaration: Declaration) -> str:
    function = declaration.function
    docstring = (function and ast.get_docstring(function[0], clean=False)) or ""
    return _LOCALIZATION_KEY.sub("", docstring) if _is_disnake(declaration) else docstring


def first_paragraph(docstring: str) -> str:
    """Return the beginning of a docstring, as the description of a slash command."""
    text = _PARAMETERS.split(inspect.cleandoc(docstring), maxsplit=1)[0]
    first = _PARAGRAPH.split(text.strip(), maxsplit=1)[0]
    return textwrap.shorten(" ".join(first.split())[: 2 * _LONGEST], _LONGEST, placeholder="…")


def _short_help(docstring: str, help_text: str | None) -> str:
    """Return the first line of a prefix command's help, else of its docstring.

    If the docstring has a section on parameters, discord.py joins the lines of each paragraph
    before it.
    """
    if help_text is not None:
        return inspect.cleandoc(help_text).split("\n", 1)[0]
    text, *sections = _PARAMETERS.split(inspect.cleandoc(docstring), maxsplit=1)
    if sections:
        text = re.sub(r"\n+", lambda lines: " " if lines[0] == "\n" else "\n", text.strip())
    return text.split("\n", 1)[0]


def _written(argument: ParameterArgument, *, require_rest: bool) -> str:
    annotation = argument.annotation
    name = "|".join(map(_literal, annotation.literals)) or argument.displayed
    more = "..." if annotation.greedy else ""
    if annotation.attachment:
        name = f"{argument.displayed} (upload {'files' if more else 'a file'})"
    elif argument.optional:
        return f"[{name}={argument.default}]{more}" if argument.default else f"[{name}]"
    elif argument.rest:
        return f"<{name}...>" if require_rest else f"[{name}...]"
    return f"[{name}]{more}" if annotation.greedy or annotation.optional else f"<{name}>"


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _slash_command(
    path: str, arguments: Iterable[ParameterArgument], *, optional_types: bool
) -> str:
    """Return the syntax of a slash command, its required arguments first.

    `optional_types` is whether `Optional[...]` makes an argument optional.
    """
    given = []
    for argument in (argument for argument in arguments if not argument.keywords):
        required = _is_required(argument, optional_types=optional_types)
        name, choices, rest = argument.option, argument.choices, argument.rest
        given.append(Parameter(name=name, required=required, choices=choices, rest=rest))
    return slash_syntax(path, sorted(given, key=lambda parameter: not parameter.required))


def _is_required(argument: ParameterArgument, *, optional_types: bool) -> bool:
    if argument.required is not None:
        return argument.required
    is_optional = optional_types and argument.annotation.optional
    return not (argument.optional or argument.rest or is_optional)
