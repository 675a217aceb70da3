"""Declared commands as entries: their full names, how they are called, and what they are for."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from commandsync.diagnostics import Notice
from commandsync.sources.entry import NO_DESCRIPTION, SourceEntry, Trait, menu_description
from commandsync.sources.python.declaration import Form
from commandsync.sources.python.description import (
    of_prefix_command,
    of_slash_command,
    without_keys,
)
from commandsync.sources.python.lineage import Kind
from commandsync.sources.python.signature import prefix_syntax, signature, slash_command
from commandsync.sources.syntax import literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from commandsync.sources.python.cog import Cog, Cogs
    from commandsync.sources.python.constant import Constants
    from commandsync.sources.python.declaration import Declaration
    from commandsync.sources.python.inventory import Inventory
    from commandsync.sources.python.parameter import Argument, Arguments
    from commandsync.sources.python.trait import Traits

    Chain = list[Declaration]

_MOST_GROUPS = 10  # in each other
_MOST_CHAINS = 25
_BY_HAND = "write it as a constant in the code, or the command in the manifest"


@dataclass(kw_only=True)
class Entries:
    """Makes the entries of declarations.

    Attributes:
        inventory: What all files declare.
        cogs: The classes that commands are declared in.
        arguments: What reads the parameters of functions.
        constants: The values of expressions.
        traits: What reads decorators.
        notes: What could not be read so far.
    """

    inventory: Inventory
    cogs: Cogs
    arguments: Arguments
    constants: Constants
    traits: Traits
    notes: list[Notice] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Find the slash commands that others are declared in: they cannot be called."""
        parents = (declaration.parent for declaration in self.inventory.declared)
        self._with_sub_commands = {parent for parent in parents if parent is not None}

    def of(self, declaration: Declaration) -> Iterator[SourceEntry]:
        """Yield what users can call of a declaration; a group of slash commands they cannot."""
        cog = self._cog(declaration) if declaration.parent is None else None
        if cog is None or not self.cogs.is_overridden(declaration.node, cog):
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
        fallback = self._mapped(chain[-1]) or given.get("fallback")
        if fallback is None or self.constants.value(fallback, scope) is None:
            yield from self._entry(chain, [part.name for part in chain], prefix=True)
        else:
            name = self.constants.text(fallback, scope)
            yield from self._entry(chain, [*self._slash_path(chain), name])

    def _mapped(self, declaration: Declaration) -> ast.expr | None:
        """Return the name in `@map_to("name")`, which is what py-cord calls a fallback."""
        for decorator in declaration.decorators:
            match decorator:
                case ast.Call(func=ast.Attribute(attr="map_to"), args=[name, *_]):
                    return name
                case _:
                    pass
        return None

    def _entry(
        self, chain: Chain, path: list[str | None], *, prefix: bool = False
    ) -> Iterator[SourceEntry]:
        """Yield the entry of a command, unless its name cannot be read."""
        declaration = chain[-1]
        if not all(path):
            own = declaration.given.get("name", declaration.node) if not path[-1] else None
            whose = "a group of this command" if own is None else "this command"
            self._note(declaration, f"the name of {whose} is computed at run time", own)
            return
        given = self._given(declaration) if prefix else declaration.given
        name = " ".join(map(str, path))
        description = self._description(declaration, given, prefix=prefix)
        yield SourceEntry(
            name=name,
            description=description if description.strip() else NO_DESCRIPTION,
            syntax=self._syntax(declaration, given, name, prefix=prefix),
            category=self._category(chain),
            key=_key(declaration),
            place=declaration.scope.file.place(declaration.node),
            traits=frozenset(trait for part in chain for trait in self._traits(part)),
        )

    def _syntax(
        self, declaration: Declaration, given: Mapping[str, ast.expr], name: str, *, prefix: bool
    ) -> str:
        if declaration.form is Form.MENU:
            return literal(name)
        arguments = self._arguments(declaration)
        if not prefix:
            optional_types = not _is_disnake(declaration)
            return slash_command(name, self._flattened(arguments), optional_types=optional_types)
        usage = self._text(declaration, given, "usage")
        if usage is not None:
            return prefix_syntax(name, usage)
        for argument in arguments:
            for part in argument.unread:
                message = f"a value of {argument.name!r} is computed at run time"
                self.notes.append(Notice(message, _BY_HAND, part.scope.file.place(part.node)))
        required = given.get("require_var_positional")
        required_rest = (
            required is not None and self.constants.value(required, declaration.scope) is True
        )
        return prefix_syntax(name, signature(arguments, require_rest=required_rest))

    def _arguments(self, declaration: Declaration) -> list[Argument]:
        if declaration.function is None:
            self._note(declaration, "the function of this command is computed at run time")
            return []
        return self.arguments.read(*declaration.function)

    def _flattened(self, arguments: list[Argument]) -> Iterator[Argument]:
        """Yield the arguments of a slash command, in which each flag is one of them."""
        yield from (argument for argument in arguments if argument.annotation.flags is None)
        for argument in arguments:
            if argument.annotation.flags is not None:
                yield from self.arguments.flags(argument.annotation.flags)

    def _description(
        self, declaration: Declaration, given: Mapping[str, ast.expr], *, prefix: bool
    ) -> str:
        description = self._text(declaration, given, "description")
        docstring = _docstring(declaration)
        if declaration.form is Form.MENU:
            text = of_slash_command(docstring=docstring, description=description)
            return text or menu_description(declaration.menu)
        if declaration.form is Form.SLASH:
            return of_slash_command(docstring=docstring, description=description)
        if description and not prefix:
            return inspect.cleandoc(description)
        return of_prefix_command(
            brief=self._text(declaration, given, "brief"),
            help_text=self._text(declaration, given, "help"),
            docstring=docstring,
            description=description,
        )

    def _text(
        self, declaration: Declaration, given: Mapping[str, ast.expr], key: str
    ) -> str | None:
        """Return an argument; None if there is none, or if it cannot be read."""
        if key not in given:
            return None
        value = self.constants.value(given[key], declaration.scope)
        if value is None or isinstance(value, str):
            return value
        self._note(declaration, f"the {key} of this command is computed at run time", given[key])
        return None

    def _category(self, chain: Chain) -> str | None:
        """Return the cog of a command, or the outermost of its groups."""
        cogs = [*map(self._cog, chain), *map(self._callback_cog, chain)]
        named = (cog.name for cog in cogs if cog is not None and cog.name is not None)
        return next(named, chain[0].name if len(chain) > 1 else None)

    def _traits(self, declaration: Declaration) -> Iterator[Trait]:
        cog, scope = self._cog(declaration), declaration.scope
        yield from self.traits.of_decorators(declaration.decorators, scope)
        yield from self.traits.of_arguments(self._given(declaration), scope)
        yield from cog.traits if cog else ()
        if cog and cog.node in self.inventory.guild_cogs and declaration.form is not Form.PREFIX:
            yield Trait.GUILD_ONLY

    def _given(self, declaration: Declaration) -> Mapping[str, ast.expr]:
        """Return the arguments of a declaration, with those that its cog gives to all."""
        cog = self._cog(declaration)
        inherits = cog and declaration.form in {Form.PREFIX, Form.HYBRID}
        return cog.attributes | declaration.given if cog and inherits else declaration.given

    def _cog(self, declaration: Declaration) -> Cog | None:
        owner, around = declaration.owner, declaration.scope.parent
        return self.cogs.of(owner, around) if owner and around else None

    def _callback_cog(self, declaration: Declaration) -> Cog | None:
        """Return the cog whose method a call makes a command of."""
        if declaration.function is None:
            return None
        inside = declaration.function[1]
        if not isinstance(inside.node, ast.ClassDef) or inside.parent is None:
            return None
        return self.cogs.of(inside.node, inside.parent)

    def _chains(self, declaration: Declaration, depth: int = 0) -> list[Chain]:
        """Return the groups around a declaration, outermost first, and itself.

        There are several of a command in a class of slash commands with several instances.
        """
        if depth > _MOST_GROUPS:
            return []
        cog = self._cog(declaration)
        above = [declaration.parent] if declaration.parent else []
        if not above and cog and cog.lineage.kind is Kind.GROUP:
            above = self.inventory.instances.get(cog.lineage.classes[0][0], [])
        if not above:
            return [[declaration]]
        chains = (chain for group in above for chain in self._chains(group, depth + 1))
        return [[*chain, declaration] for chain in islice(chains, _MOST_CHAINS)]

    def _slash_path(self, chain: Chain) -> list[str | None]:
        cog = self._cog(chain[0])
        names = [part.name for part in chain]
        return names if cog is None or cog.group is None else [cog.group, *names]

    def _is_slash(self, chain: Chain) -> bool:
        if any(part.form is Form.PREFIX for part in chain):
            return False
        without = [
            part.given["with_app_command"] for part in chain if "with_app_command" in part.given
        ]
        return not any(self.constants.value(value, chain[-1].scope) is False for value in without)

    def _note(self, declaration: Declaration, message: str, node: ast.AST | None = None) -> None:
        file = declaration.scope.file
        self.notes.append(Notice(message, _BY_HAND, file.place(node or declaration.node)))


def _is_disnake(declaration: Declaration) -> bool:
    return "disnake" in declaration.scope.file.frameworks


def _key(declaration: Declaration) -> str | None:
    """Return the names of a command's class and function; None for what a call declares."""
    function = getattr(declaration.node, "name", None)
    if function is None:
        return None
    return (
        f"python:{declaration.owner.name}.{function}" if declaration.owner else f"python:{function}"
    )


def _docstring(declaration: Declaration) -> str:
    if declaration.function is None:
        return ""
    docstring = ast.get_docstring(declaration.function[0], clean=False) or ""
    return without_keys(docstring) if _is_disnake(declaration) else docstring
