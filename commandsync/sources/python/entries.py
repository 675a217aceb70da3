"""Declared commands as entries: their full names, how they are called, and what they are for."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain as chained
from itertools import islice

from commandsync.sources.entry import NO_DESCRIPTION, SourceEntry, Trait, menu_description
from commandsync.sources.python.cog import Cogs
from commandsync.sources.python.constant import Code
from commandsync.sources.python.declarations import Declaration, Form
from commandsync.sources.python.inventory import Inventory
from commandsync.sources.python.lineage import Kind
from commandsync.sources.python.parameter import Arguments
from commandsync.sources.python.scope import callee, last_name, parameters, words
from commandsync.sources.python.signature import signature, slash_command
from commandsync.sources.python.trait import of_arguments, of_decorators
from commandsync.sources.syntax import literal, prefix_syntax

Chain = list[Declaration]

_LOCALIZATION_KEY = re.compile(r"\{\{[^{}\n]{1,100}\}\}")  # which disnake takes out
_PARAMETERS = re.compile(r"Parameters?\n---+\n", re.IGNORECASE)
_OF_MESSAGE = re.compile("message_command|Message")
_PARAGRAPH = re.compile(r"\n\s*\n")
_LONGEST = 100  # characters, of the description of a slash command
_MOST_GROUPS = 10  # in each other
_MOST_CHAINS = 25


class Entries:
    """Makes the entries of what all files declare."""

    def __init__(self, inventory: Inventory, cogs: Cogs, code: Code) -> None:
        self.inventory = inventory
        self.cogs = cogs
        self.code = code
        self.arguments = Arguments(code)
        # Slash commands that others are declared in cannot be called.
        self._with_sub_commands = {declaration.parent for declaration in inventory.declared}

    def of(self, declaration: Declaration) -> Iterator[SourceEntry]:
        """Yield what users can call of a declaration; a group of slash commands they cannot."""
        is_own = declaration.parent is None
        if not (is_own and self.cogs.of(declaration.scope).overrides(declaration.node)):
            for chain in self._chains(declaration):
                yield from self._callable(chain)

    def _callable(self, chain: Chain) -> Iterator[SourceEntry]:
        declaration = chain[-1]
        if declaration.form is Form.MENU:
            yield from self._entry(chain, [declaration.name])
        elif not self._is_slash(chain):
            yield from self._entry(chain, [part.name for part in chain], prefix=True)
        elif declaration.form is Form.HYBRID and declaration.is_group:
            yield from self._group_itself(chain)
        elif not declaration.is_group and declaration not in self._with_sub_commands:
            yield from self._entry(chain, self._slash_path(chain))

    def _group_itself(self, chain: Chain) -> Iterator[SourceEntry]:
        """Yield the command that a hybrid group is: by its prefix, or as its fallback."""
        given, scope = chain[-1].given, chain[-1].scope
        calls = (part for part in chain[-1].decorators if isinstance(part, ast.Call) and part.args)
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
            whose = "a group of this command" if path[-1] else "this command"
            given = {} if path[-1] else declaration.given
            message = f"the name of {whose} is computed at run time"
            self.code.note(message, given.get("name", declaration.node), declaration.scope)
            return
        if prefix:
            declaration = replace(declaration, given=self._given(declaration))
        name = " ".join(map(str, path))
        description = self._description(declaration, prefix=prefix)
        yield SourceEntry(
            name=name,
            description=description if description.strip() else NO_DESCRIPTION,
            syntax=self._syntax(declaration, name, prefix=prefix),
            category=self._category(chain),
            key=_key(declaration),
            place=declaration.scope.file.place(declaration.node),
            traits=frozenset(trait for part in chain for trait in self._traits(part)),
        )

    def _syntax(self, declaration: Declaration, name: str, *, prefix: bool) -> str:
        if declaration.form is Form.MENU:
            return literal(name)
        if declaration.function is None:
            message = "the function of this command is computed at run time"
            self.code.note(message, declaration.node, declaration.scope)
        arguments = self.arguments.read(*declaration.function) if declaration.function else []
        if not prefix:
            flags = [argument.annotation.flags for argument in arguments]
            plain = (argument for argument in arguments if argument.annotation.flags is None)
            every = chained(plain, *map(self.arguments.flags, filter(None, flags)))
            return slash_command(name, every, optional_types=not _is_disnake(declaration))
        usage = self._text(declaration, "usage")
        if usage is not None:
            return prefix_syntax(name, usage)
        for argument in arguments:
            for part in argument.unread:
                message = f"a value of {argument.name!r} is computed at run time"
                self.code.note(message, part.node, part.scope)
        required = declaration.given.get("require_var_positional", ast.Constant(value=False))
        require_rest = self.code.value(required, declaration.scope) is True
        return prefix_syntax(name, signature(arguments, require_rest=require_rest))

    def _description(self, declaration: Declaration, *, prefix: bool) -> str:
        description = self._text(declaration, "description")
        docstring = _docstring(declaration)
        if declaration.form in {Form.MENU, Form.SLASH}:
            text = first_paragraph(docstring) if description is None else description
            is_menu = declaration.form is Form.MENU
            return text or (menu_description(_menu_of(declaration)) if is_menu else "")
        description = inspect.cleandoc(description or "")
        if description and not prefix:
            return description
        help_text = self._text(declaration, "help")
        brief = self._text(declaration, "brief")
        return (_short_help(docstring, help_text) if brief is None else brief) or description

    def _text(self, declaration: Declaration, key: str) -> str | None:
        """Return an argument; None if there is none, or if it cannot be read."""
        written = declaration.given.get(key, ast.Constant(None))
        value = self.code.value(written, declaration.scope)
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
        cog, scope = self.cogs.of(declaration.scope), declaration.scope
        yield from of_decorators(declaration.decorators, scope, self.code)
        yield from of_arguments(self._given(declaration), scope, self.code)
        yield from cog.traits
        owners = {node for node, _ in cog.lineage.classes[:1]}
        if owners & self.inventory.guild_cogs and declaration.form is not Form.PREFIX:
            yield Trait.GUILD_ONLY

    def _given(self, declaration: Declaration) -> dict[str, ast.expr]:
        """Return the arguments of a declaration, with those that its cog gives to all."""
        inherits = declaration.form in {Form.PREFIX, Form.HYBRID}
        shared = self.cogs.of(declaration.scope).attributes if inherits else {}
        return shared | declaration.given

    def _chains(self, declaration: Declaration, depth: int = 0) -> list[Chain]:
        """Return the groups around a declaration and itself, for each instance of its class."""
        if depth > _MOST_GROUPS:
            return []
        cog = self.cogs.of(declaration.scope)
        above = [declaration.parent] if declaration.parent else []
        if not above and cog.lineage.kind is Kind.GROUP:
            above = self.inventory.groups_of(*cog.lineage.classes[0])
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
        return not any(self.code.value(value, chain[-1].scope) is False for value in given)


def _is_disnake(declaration: Declaration) -> bool:
    return "disnake" in declaration.scope.file.frameworks


def _key(declaration: Declaration) -> str | None:
    """Return the names of a command's class and function; None for what a call declares."""
    function, owner = getattr(declaration.node, "name", None), declaration.scope.node
    inside = f"{owner.name}." if isinstance(owner, ast.ClassDef) else ""
    return f"python:{inside}{function}" if function else None


def _menu_of(declaration: Declaration) -> str:
    """Return whose menu a command is in: its decorator or its last parameter says it."""
    given = parameters(declaration.function[0].args) if declaration.function else ()
    said = [*map(callee, declaration.decorators), *list(given)[-1:]]
    return "message" if _OF_MESSAGE.search(" ".join(map(words, said))) else "user"


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
